// MsMisc.cpp: com.microsoft's Unique, Inverse, BifurcationDetector and NGramRepeatBlock.
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

// Values in order of first appearance, found through a hash table. With `a->out[0].data` null only counts them.
struct UniqueValues {
  int64_t *slot = nullptr, *first = nullptr, mask = 0, count = 0;
  int32_t prepare(const Args *a) {
    int64_t n = onnxc_count(a->in[0]);
    for (mask = 1; mask < 2 * n + 2;)
      mask *= 2;
    slot = heap<int64_t>(a, mask--), first = heap<int64_t>(a, n);
    return slot && first ? ONNXC_K_OK : ONNXC_K_MEMORY;
  }
  int64_t number(const Args *a, int64_t i) {
    double v = loadF64(a->in[0], i);
    int64_t s = int64_t(mix(v == 0 ? 0 : bitcast<uint64_t>(v))) & mask;
    for (; slot[s]; s = (s + 1) & mask)
      if (loadF64(a->in[0], first[slot[s] - 1]) == v)
        return slot[s] - 1;
    first[count] = i;
    slot[s] = count + 1;
    return count++;
  }
};

int32_t unique(const Args *a, bool size) {
  UniqueValues values;
  ONNXC_TRY(values.prepare(a));
  int64_t n = onnxc_count(a->in[0]);
  for (int64_t i = 0; !size && i < onnxc_count(a->out[2]); ++i)
    out<int64_t>(a, 2)[i] = 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t before = values.count, k = values.number(a, i);
    if (size)
      continue;
    if (k == before)
      storeF64(a->out[0], k, loadF64(a->in[0], i));
    out<int64_t>(a, 1)[i] = k;
    ++out<int64_t>(a, 2)[k];
  }
  if (size)
    a->out[0].dims[0] = a->out[2].dims[0] = values.count, a->out[1].dims[0] = n;
  return ONNXC_K_OK;
}

// Gauss-Jordan elimination with the greatest pivot of each column; a singular matrix gives infinities or NaN.
int32_t inverse(const Args *a) {
  const Tensor &x = a->in[0];
  if (x.rank < 2 || x.dims[x.rank - 1] != x.dims[x.rank - 2])
    return ONNXC_K_SHAPE;
  int64_t n = x.dims[x.rank - 1], w = 2 * n, matrices = product(x.dims, 0, x.rank - 2);
  double *m = heap<double>(a, n * w);
  if (!m)
    return ONNXC_K_MEMORY;
  for (int64_t b = 0; b < matrices; ++b) {
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c < n; ++c)
        m[r * w + c] = loadF64(x, (b * n + r) * n + c), m[r * w + n + c] = r == c;
    for (int64_t k = 0; k < n; ++k) {
      int64_t pivot = k;
      for (int64_t r = k + 1; r < n; ++r)
        if (fabs(m[r * w + k]) > fabs(m[pivot * w + k]))
          pivot = r;
      for (int64_t c = 0; pivot != k && c < w; ++c) {
        double t = m[k * w + c];
        m[k * w + c] = m[pivot * w + c], m[pivot * w + c] = t;
      }
      double *__restrict from = m + k * w, d = from[k];
      for (int64_t c = k; c < w; ++c)  // the columns before are done
        from[c] /= d;
      for (int64_t r = 0; r < n; ++r) {
        double *__restrict row = m + r * w, f = row[k];
        if (r == k || f == 0)
          continue;
        for (int64_t c = k; c < w; ++c)
          row[c] -= f * from[c];
      }
    }
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c < n; ++c)
        storeF64(a->out[0], (b * n + r) * n + c, m[r * w + n + c]);
  }
  return ONNXC_K_OK;
}

int32_t ngramRepeatBlock(const Args *a) {
  if (a->in[0].rank != 2 || a->in[1].rank != 2)
    return ONNXC_K_SHAPE;
  int64_t batch = a->in[0].dims[0], length = a->in[0].dims[1], vocabulary = a->in[1].dims[1], n = a->attr[0].i;
  const int64_t *ids = in<int64_t>(a, 0);
  if (n < 1)
    return ONNXC_K_VALUE;
  if (a->in[1].dims[0] != batch)
    return ONNXC_K_SHAPE;
  memmove(a->out[0].data, a->in[1].data, size_t(batch * vocabulary) * sizeof(float));
  for (int64_t b = 0; b < batch; ++b, ids += length)
    for (int64_t i = 0; i + n <= length; ++i) {
      bool same = true;
      for (int64_t k = 0; same && k < n - 1; ++k)
        same = ids[i + k] == ids[length - n + 1 + k];
      int64_t token = ids[i + n - 1];
      if (!same)
        continue;
      if (token < 0 || token >= vocabulary)
        return ONNXC_K_INDEX;
      out<float>(a, 0)[b * vocabulary + token] = -__builtin_inff();
    }
  return ONNXC_K_OK;
}

// ---- BifurcationDetector
enum { Source, Current, Previous, Predicted };

// How many predicted tokens are accepted: those that agree with the source, and one more.
int32_t accepted(const Args *a, int64_t &count) {
  count = 0;
  if (!hasIn(a, Predicted))
    return ONNXC_K_OK;
  int64_t start = loadI64(a->in[Previous], 0), rest = onnxc_count(a->in[Source]) - start;
  if (start < 0 || rest < 0 || onnxc_count(a->in[Predicted]) != rest + 1)
    return ONNXC_K_SHAPE;
  while (count < rest && in<int64_t>(a, Predicted)[count] == in<int64_t>(a, Source)[start + count])
    ++count;
  ++count;
  return ONNXC_K_OK;
}

int64_t search(const int64_t *text, int64_t from, int64_t size, const int64_t *gram, int64_t n) {
  for (int64_t i = from; i + n <= size; ++i) {
    int64_t k = 0;
    while (k < n && text[i + k] == gram[k])
      ++k;
    if (k == n)
      return i;
  }
  return -1;
}

int32_t bifurcationSizes(const Args *a) {
  int64_t count;
  ONNXC_TRY(accepted(a, count));
  a->out[0].dims[0] = onnxc_count(a->in[Current]) + count;
  return ONNXC_K_OK;
}

int32_t bifurcation(const Args *a) {
  int64_t count, current = onnxc_count(a->in[Current]), size = onnxc_count(a->in[Source]), *tokens = out<int64_t>(a, 0), found = -1;
  ONNXC_TRY(accepted(a, count));
  for (int64_t i = 0; i < current; ++i)
    tokens[i] = in<int64_t>(a, Current)[i];
  for (int64_t i = 0; i < count; ++i)
    tokens[current + i] = in<int64_t>(a, Predicted)[i];
  int64_t total = current + count;
  for (int64_t n = a->attr[1].i; n >= 1 && n <= a->attr[0].i && n <= total; ++n) {
    int64_t at = search(in<int64_t>(a, Source), 0, size, tokens + total - n, n);
    if (at < 0)
      break;
    found = at + n;
    if (found >= size || search(in<int64_t>(a, Source), at + 1, size, tokens + total - n, n) < 0)
      break;
    found = -1;
  }
  *out<int64_t>(a, 1) = found;
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_s_MsUnique(const onnxc_args *a) { return unique(a, true); }
extern "C" int32_t onnxc_k_MsUnique(const onnxc_args *a) { return unique(a, false); }
extern "C" int32_t onnxc_k_MsInverse(const onnxc_args *a) { return inverse(a); }
extern "C" int32_t onnxc_k_MsNGramRepeatBlock(const onnxc_args *a) { return ngramRepeatBlock(a); }
extern "C" int32_t onnxc_s_MsBifurcationDetector(const onnxc_args *a) { return bifurcationSizes(a); }
extern "C" int32_t onnxc_k_MsBifurcationDetector(const onnxc_args *a) { return bifurcation(a); }
