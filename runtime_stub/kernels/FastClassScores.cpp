// FastClassScores.cpp: packed.ClassScores: the labels of the classes with the greatest scores, and the transformed scores, sixteen rows
// side by side. Oracle: MlLinear.cpp, with the scores in f64.
#include "runtime_stub/kernels/FastExp.h"
#include "runtime_stub/kernels/MlScore.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {
namespace {

ONNXC_INLINE v16 blend(i32x16 condition, v16 yes, v16 no) { return condition ? yes : no; }

// The scores of sixteen rows, a class after the other; there is room for a second score of one class.
struct ClassScores {
  using V = v16;
  v16 *score;
  double *row;
  int64_t classes;
  Post post;
  Second second;

  static int64_t bytes(int64_t classes) { return (classes + 2) * int64_t(sizeof(v16) + sizeof(double)); }

  void load(const float *from, int64_t n) {
    for (int64_t t = 0; t < classes; ++t) {
      v16 v = 0;
      if (n == kLanes)
        unroll<0, kLanes>([&](auto i) { v[i.value] = from[i.value * classes + t]; });
      for (int64_t i = 0; n < kLanes && i < n; ++i)
        v[i] = from[i * classes + t];
      score[t] = v;
    }
  }
  // The class of the greatest score, the first of several; of one score, whether it is positive.
  i32x16 best() const {
    v16 top = score[0];
    i32x16 best = classes == 1 ? (top > 0) & 1 : i32x16(0);
    for (int64_t t = 1; t < classes; ++t) {
      i32x16 above = score[t] > top;
      best = above ? i32x16(int32_t(t)) : best;
      top = blend(above, score[t], top);
    }
    return best;
  }
  int64_t finish(int64_t n) {
    return finishScores(*this, classes, n, post, second, [](v16 v) { return expNegative(v); });
  }
  void store(float *to, int64_t n, int64_t given, int64_t width) const {
    for (int64_t t = 0; t < width; ++t) {
      const v16 v = t < given ? score[t] : v16(0);
      for (int64_t i = 0; i < n; ++i)
        to[i * width + t] = v[i];
    }
  }
};

int32_t classScores(const Args *a) {
  enum { IntLabels, StringLabels, PostTransform, Columns };
  constexpr int64_t rowWork = 4, classWork = 3;
  const Tensor &x = a->in[0];
  const Labels labels{a->attr[IntLabels], a->attr[StringLabels]};
  const int64_t rows = x.dims[0], classes = x.dims[1], width = a->attr[Columns].i, blocks = (rows + kLanes - 1) / kLanes;
  Post post;
  if (!readPost(text(a->attr[PostTransform]), post))
    return ONNXC_K_VALUE;
  const Second second = classes == 1 && labels.count() == 2 ? Second::Complement : Second::None;
  const float *from = in<float>(a, 0);
  float *to = out<float>(a, 1);
  const int64_t grain = grainOf(minOf(rows, kLanes) * (rowWork + classWork * classes));
  return parallelScratchFor(a, blocks, grain, ClassScores::bytes(classes), [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
    v16 *score = static_cast<v16 *>(scratch);
    ClassScores scores{score, reinterpret_cast<double *>(score + classes + 2), classes, post, second};
    for (int64_t r = begin * kLanes; r < minOf(rows, end * kLanes); r += kLanes) {
      const int64_t n = minOf(kLanes, rows - r);
      scores.load(from + r * classes, n);
      const i32x16 best = scores.best();
      for (int64_t i = 0; i < n; ++i)
        labels.give(a, r + i, best[i]);
      scores.store(to + r * width, n, scores.finish(n), width);
    }
    return ONNXC_K_OK;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastClassScores(const onnxc_args *a) { return onnxc::classScores(a); }
