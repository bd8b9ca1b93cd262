// Training.cpp: the optimizers of ai.onnx.preview.training. Operands: rate, update count, then all tensors X, all gradients G, all states.
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

// The k-th of `groups` operand groups, tensor i of `n`; results have no gradient group.
struct Groups {
  const Args *a;
  int64_t n;
  const Tensor &in(int64_t group, int64_t i) const { return a->in[2 + group * n + i]; }
  Tensor &out(int64_t group, int64_t i) const { return a->out[group * n + i]; }
};

template <class F>
int32_t update(const Args *a, int64_t groups, F step) {
  if (a->n_in < 2 || (a->n_in - 2) % groups || a->n_out != (a->n_in - 2) / groups * (groups - 1))
    return ONNXC_K_SHAPE;
  Groups g{a, (a->n_in - 2) / groups};
  for (int64_t i = 0; i < g.n; ++i) {
    int64_t count = onnxc_count(g.in(0, i));
    for (int64_t k = 1; k < groups; ++k)
      if (onnxc_count(g.in(k, i)) != count)
        return ONNXC_K_SHAPE;
    for (int64_t e = 0; e < count; ++e)
      step(g, i, e);
  }
  return ONNXC_K_OK;
}

int32_t adagrad(const Args *a) {
  enum { Decay, Epsilon, Norm };
  double rate = loadF64(a->in[0], 0) / (1 + double(loadI64(a->in[1], 0)) * a->attr[Decay].f);
  return update(a, 3, [&](const Groups &g, int64_t i, int64_t e) {
    double x = loadF64(g.in(0, i), e), grad = a->attr[Norm].f * x + loadF64(g.in(1, i), e), h = loadF64(g.in(2, i), e) + grad * grad;
    storeF64(g.out(0, i), e, x - rate * grad / (sqrt(h) + a->attr[Epsilon].f));
    storeF64(g.out(1, i), e, h);
  });
}

int32_t adam(const Args *a) {
  enum { Alpha, Beta, Epsilon, Norm, NormPost };
  double alpha = a->attr[Alpha].f, beta = a->attr[Beta].f, rate = loadF64(a->in[0], 0), steps = double(loadI64(a->in[1], 0));
  if (steps > 0)
    rate *= sqrt(1 - pow(beta, steps)) / (1 - pow(alpha, steps));
  return update(a, 4, [&](const Groups &g, int64_t i, int64_t e) {
    double x = loadF64(g.in(0, i), e), grad = a->attr[Norm].f * x + loadF64(g.in(1, i), e);
    double v = alpha * loadF64(g.in(2, i), e) + (1 - alpha) * grad, h = beta * loadF64(g.in(3, i), e) + (1 - beta) * grad * grad;
    storeF64(g.out(0, i), e, (1 - a->attr[NormPost].f) * (x - rate * v / (sqrt(h) + a->attr[Epsilon].f)));
    storeF64(g.out(1, i), e, v);
    storeF64(g.out(2, i), e, h);
  });
}

int32_t momentum(const Args *a) {
  enum { Alpha, Beta, Mode, Norm };
  double alpha = a->attr[Alpha].f, rate = loadF64(a->in[0], 0), beta = loadI64(a->in[1], 0) > 0 ? a->attr[Beta].f : 1;
  bool nesterov = is(text(a->attr[Mode]), "nesterov");
  return update(a, 3, [&](const Groups &g, int64_t i, int64_t e) {
    double x = loadF64(g.in(0, i), e), grad = a->attr[Norm].f * x + loadF64(g.in(1, i), e),
           v = alpha * loadF64(g.in(2, i), e) + beta * grad;
    storeF64(g.out(0, i), e, x - rate * (nesterov ? grad + alpha * v : v));
    storeF64(g.out(1, i), e, v);
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_Adagrad(const onnxc_args *a) { return onnxc::adagrad(a); }
extern "C" int32_t onnxc_k_Adam(const onnxc_args *a) { return onnxc::adam(a); }
extern "C" int32_t onnxc_k_Momentum(const onnxc_args *a) { return onnxc::momentum(a); }
