// Einsum.cpp: any equation over any number of operands. Labels become loop dims, each operand a stride per label; operands are contracted
// pairwise from the left so that a chain costs the sum of its products, not their product.
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

constexpr int kLetters = 52, kLabels = kLetters + kMaxRank;  // letters, then the ellipsis dims

static int labelOf(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1; }

// The labels of one term; `ellipsis` dims of it take the last ellipsis labels.
struct Term {
  int label[kMaxRank];
  int32_t rank;
};

static int32_t readTerm(const char *text, int64_t n, int64_t ellipsisDims, Term &t) {
  t.rank = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (text[i] == ' ')
      continue;
    if (text[i] == '.') {
      ONNXC_CHECK(i + 2 < n && text[i + 1] == '.' && text[i + 2] == '.' && ellipsisDims >= 0, ONNXC_K_SHAPE);
      for (int64_t k = 0; k < ellipsisDims; ++k) {
        ONNXC_CHECK(t.rank < kMaxRank, ONNXC_K_SHAPE);
        t.label[t.rank++] = int(kLabels - ellipsisDims + k);
      }
      i += 2;
      continue;
    }
    int label = labelOf(text[i]);
    ONNXC_CHECK(label >= 0 && t.rank < kMaxRank, ONNXC_K_VALUE);
    t.label[t.rank++] = label;
  }
  return 0;
}

static int64_t countLetters(const char *text, int64_t n) {
  int64_t letters = 0;
  for (int64_t i = 0; i < n; ++i)
    letters += labelOf(text[i]) >= 0;
  return letters;
}

// Σ over the labels of x and y that `keep` does not hold. A null y is 1. Dims by label in `size`.
template <class A>
struct Partial {
  A *data;
  Term term;
};

static void labelStrides(const Term &t, const int64_t *dims, const int *order, int n, int64_t *strides) {
  for (int i = 0; i < n; ++i)
    strides[i] = 0;
  int64_t stride = 1;
  for (int32_t k = t.rank; k-- > 0;) {
    for (int i = 0; i < n; ++i)
      if (order[i] == t.label[k] && dims[k] != 1)
        strides[i] += stride;
    stride *= dims[k];
  }
}

template <class A>
static A productOf(A x, A y) {
  if constexpr (A(1) / A(2) != A(0))
    return x * y;
  else
    return A(uint64_t(x) * uint64_t(y));
}

template <class A>
static int32_t contractPair(const Partial<A> &x, const int64_t *xDims, const Partial<A> &y, const int64_t *yDims, const int64_t *size,
                            Partial<A> &out, const onnxc_args *a) {
  int order[2 * kMaxRank], n = 0;
  bool seen[kLabels] = {};
  for (int32_t i = 0; i < out.term.rank; ++i)
    order[n++] = out.term.label[i], seen[out.term.label[i]] = true;
  int kept = n;
  const Term *terms[2] = {&x.term, &y.term};
  for (const Term *t : terms)
    for (int32_t i = 0; i < t->rank; ++i)
      if (!seen[t->label[i]]) {
        ONNXC_CHECK(n < kMaxRank, ONNXC_K_SHAPE);
        seen[t->label[i]] = true;
        order[n++] = t->label[i];
      }
  ONNXC_CHECK(n <= kMaxRank, ONNXC_K_SHAPE);
  int64_t dims[kMaxRank], xs[kMaxRank], ys[kMaxRank], os[kMaxRank];
  for (int i = 0; i < n; ++i)
    dims[i] = size[order[i]];
  labelStrides(x.term, xDims, order, n, xs);
  labelStrides(y.term, yDims, order, n, ys);
  int64_t total = product(dims, 0, kept);
  out.data = heap<A>(a, total);
  ONNXC_CHECK(out.data, ONNXC_K_MEMORY);
  contiguous(dims, kept, os);
  for (int i = kept; i < n; ++i)
    os[i] = 0;
  Odometer<3> o;
  o.init(dims, n);
  o.strides[0] = xs;
  o.strides[1] = ys;
  o.strides[2] = os;
  for (; o.more(); o.next()) {
    A &to = out.data[o.offset[2]];
    A term = productOf(x.data[o.offset[0]], y.data[o.offset[1]]);
    to = A(1) / A(2) != A(0) ? to + term : A(uint64_t(to) + uint64_t(term));
  }
  return 0;
}

struct Equation {
  Term terms[kMaxRank], out;
  int64_t size[kLabels];
  int count;
};

// Reads "terms -> result" against the operand shapes.
static int32_t readEquation(const onnxc_args *a, Equation &e) {  // attributes: equation
  const char *text = static_cast<const char *>(a->attr[0].p);
  int64_t n = a->attr[0].n, arrow = n, at = 0, ellipsis = 0, uses[kLabels] = {};
  for (int64_t i = 0; i + 1 < n; ++i)
    if (text[i] == '-' && text[i + 1] == '>')
      arrow = i;
  ONNXC_CHECK(n > 0 && a->n_in <= kMaxRank, ONNXC_K_VALUE);
  for (int64_t &s : e.size)
    s = -1;
  for (e.count = 0; at <= arrow && e.count < a->n_in; ++e.count) {
    int64_t end = at;
    while (end < arrow && text[end] != ',')
      ++end;
    const onnxc_tensor &in = a->in[e.count];
    int64_t own = in.rank - countLetters(text + at, end - at);
    ONNXC_TRY(readTerm(text + at, end - at, own, e.terms[e.count]));
    const Term &t = e.terms[e.count];
    ONNXC_CHECK(t.rank == in.rank, ONNXC_K_SHAPE);
    if (own > ellipsis)
      ellipsis = own;
    for (int32_t k = 0; k < t.rank; ++k) {
      int64_t &s = e.size[t.label[k]];
      ONNXC_CHECK(s < 0 || s == 1 || in.dims[k] == 1 || s == in.dims[k], ONNXC_K_SHAPE);
      if (s < 0 || s == 1)
        s = in.dims[k];
      ++uses[t.label[k]];
    }
    at = end + 1;
  }
  ONNXC_CHECK(e.count == a->n_in, ONNXC_K_SHAPE);
  if (arrow < n)
    return readTerm(text + arrow + 2, n - arrow - 2, ellipsis, e.out);
  e.out.rank = 0;
  for (int64_t k = 0; k < ellipsis; ++k)
    e.out.label[e.out.rank++] = int(kLabels - ellipsis + k);
  for (int l = 0; l < kLetters; ++l)
    if (uses[l] == 1 && e.out.rank < kMaxRank)
      e.out.label[e.out.rank++] = l;
  return 0;
}

// Labels of `x` and `y` still needed: by the result or a later operand.
static Term neededLabels(const Equation &e, const Term &x, const Term &y, int next) {
  Term t;
  t.rank = 0;
  bool last = next >= e.count, done[kLabels] = {};
  if (last)
    return e.out;
  const Term *sources[2] = {&x, &y};
  for (const Term *s : sources)
    for (int32_t i = 0; i < s->rank; ++i) {
      int l = s->label[i];
      bool needed = false;
      for (int32_t k = 0; k < e.out.rank; ++k)
        needed |= e.out.label[k] == l;
      for (int m = next; m < e.count; ++m)
        for (int32_t k = 0; k < e.terms[m].rank; ++k)
          needed |= e.terms[m].label[k] == l;
      if (needed && !done[l] && t.rank < kMaxRank)
        t.label[t.rank++] = l;
      done[l] = true;
    }
  return t;
}

template <class T>
static int32_t loadPartial(const onnxc_args *a, const onnxc_tensor &t, const Term &term, Partial<Acc<T>> &p) {
  int64_t n = onnxc_count(t);
  p = {heap<Acc<T>>(a, n), term};
  ONNXC_CHECK(p.data, ONNXC_K_MEMORY);
  for (int64_t i = 0; i < n; ++i)
    p.data[i] = toAcc(data<T>(t)[i]);
  return 0;
}

template <class T>
static int32_t einsum(const onnxc_args *a) {
  using A = Acc<T>;
  Equation e;
  ONNXC_TRY(readEquation(a, e));
  A one = A(1);
  Partial<A> left = {&one, {{}, 0}};
  int64_t leftDims[kMaxRank];
  for (int i = 0; i < e.count; ++i) {
    Partial<A> right, out;
    ONNXC_TRY(loadPartial<T>(a, a->in[i], e.terms[i], right));
    out.term = neededLabels(e, left.term, e.terms[i], i + 1);
    for (int32_t k = 0; k < out.term.rank; ++k)
      ONNXC_CHECK(e.size[out.term.label[k]] >= 0, ONNXC_K_SHAPE);
    ONNXC_TRY(contractPair(left, leftDims, right, a->in[i].dims, e.size, out, a));
    left = out;
    for (int32_t k = 0; k < left.term.rank; ++k)
      leftDims[k] = e.size[left.term.label[k]];
  }
  int64_t n = onnxc_count(a->out[0]);
  ONNXC_CHECK(n == product(leftDims, 0, left.term.rank), ONNXC_K_SHAPE);
  for (int64_t i = 0; i < n; ++i)
    mutableData<T>(a->out[0])[i] = fromAcc<T>(left.data[i]);
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Einsum_##S(const onnxc_args *a) { return onnxc::einsum<T>(a); }
ONNXC_NUMERIC(X)
#undef X
