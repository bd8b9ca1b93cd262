// MlTree.h: how scores of trees become results, shared by MlTree.cpp and FastTree.cpp.
#pragma once
#include "runtime_stub/kernels/MlScore.h"

namespace onnxc {

enum class Fold { Average, Sum, Min, Max };
inline Fold readFold(Str word) {
  return is(word, "AVERAGE") ? Fold::Average : is(word, "MIN") ? Fold::Min : is(word, "MAX") ? Fold::Max : Fold::Sum;
}
template <class T>
ONNXC_INLINE void foldIn(Fold fold, T v, T &score, bool &hit) {
  if (!hit)
    score = v;
  else if (fold == Fold::Min)
    score = v < score ? v : score;
  else if (fold == Fold::Max)
    score = v > score ? v : score;
  else
    score += v;
  hit = true;
}

struct Reals {  // a list of floats, or a tensor that replaces it
  const Attr &list, &tensor;
  int64_t count() const { return tensor.n > 0 ? onnxc_count(*static_cast<const Tensor *>(tensor.p)) : list.n < 0 ? 0 : list.n; }
  double operator[](int64_t i) const { return tensor.n > 0 ? loadF64(*static_cast<const Tensor *>(tensor.p), i) : double(floats(list)[i]); }
};

// Two labels but weights for one class only: a binary decision by threshold.
struct Binary {
  bool single = true, positive = true;
};

struct Decision {
  int64_t label, scores;
  Second second;
};

inline Decision decide(double *score, bool *hit, int64_t classes, const Reals &base, const Binary &binary) {
  if (classes > 2) {
    // Classes that no leaf and no base value speaks for are none to choose from, whatever their score of 0.
    int64_t best = -1, offsets = base.count() < classes ? base.count() : classes;
    for (int64_t k = 0; k < offsets; ++k)
      score[k] += base[k];
    for (int64_t k = 0; k < classes; ++k)
      if ((hit[k] || k < offsets) && (best < 0 || score[k] > score[best]))
        best = k;
    return {best < 0 ? 0 : best, classes, Second::None};
  }
  for (int64_t k = 0; k < classes && k < base.count(); ++k)
    if (hit[k] || base.count() == 1)
      score[k] += base[k];
  bool two = classes == 2 && hit[1];
  double s = two ? score[1] : score[0];
  if (!binary.single)
    return {two ? int64_t(score[1] > score[0]) : int64_t(classes == 2 && s > 0), two ? 2 : 1, Second::Negate};
  return {int64_t(s > (binary.positive ? 0.5 : 0)), two ? 2 : 1, binary.positive ? Second::Complement : Second::Negate};
}

}  // namespace onnxc
