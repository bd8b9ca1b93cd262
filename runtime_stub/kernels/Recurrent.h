// Recurrent.h: activation functions and the description of a recurrent layer, shared by RNN, GRU and LSTM. Included by Recurrent.cpp and
// FastRecurrent.cpp.
#pragma once
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

struct Activation {
  enum Kind { Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus } kind;
  double alpha, beta;
  double operator()(double x) const {
    switch (kind) {
    case Relu:
      return x > 0 ? x : 0;
    case Tanh:
      return tanh(x);
    case Sigmoid:
      return 1 / (1 + exp(-x));
    case Affine:
      return alpha * x + beta;
    case LeakyRelu:
      return x >= 0 ? x : alpha * x;
    case ThresholdedRelu:
      return x >= alpha ? x : 0;
    case ScaledTanh:
      return alpha * tanh(beta * x);
    case HardSigmoid:
      return fromRange(alpha * x + beta);
    case Elu:
      return x >= 0 ? x : alpha * (exp(x) - 1);
    case Softsign:
      return x / (1 + fabs(x));
    case Softplus:
      return x > 0 ? x + log(1 + exp(-x)) : log(1 + exp(x));
    }
    return x;
  }
  static double fromRange(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
};

struct ActivationRow {
  const char *name;
  Activation::Kind kind;
  bool alpha, beta;
  double defaultAlpha, defaultBeta;
};

inline bool findActivation(Str name, ActivationRow &found) {
  const ActivationRow rows[] = {{"relu", Activation::Relu, false, false, 0, 0},
                                {"tanh", Activation::Tanh, false, false, 0, 0},
                                {"sigmoid", Activation::Sigmoid, false, false, 0, 0},
                                {"affine", Activation::Affine, true, true, 1, 0},
                                {"leakyrelu", Activation::LeakyRelu, true, false, 0.01f, 0},
                                {"thresholdedrelu", Activation::ThresholdedRelu, true, false, 1, 0},
                                {"scaledtanh", Activation::ScaledTanh, true, true, 1, 1},
                                {"hardsigmoid", Activation::HardSigmoid, true, true, 0.2f, 0.5},
                                {"elu", Activation::Elu, true, false, 1, 0},
                                {"softsign", Activation::Softsign, false, false, 0, 0},
                                {"softplus", Activation::Softplus, false, false, 0, 0}};
  for (const ActivationRow &row : rows)
    if (isNoCase(name, row.name))
      return found = row, true;
  return false;
}

// One activation per gate kind and direction; `names` absent means `defaults`, one word each. alpha and beta are consumed in order.
inline bool readActivations(const Attr &names, const Attr &alphas, const Attr &betas, const char *const *defaults, int perDirection,
                            int64_t directions, Activation *result) {
  int64_t count = perDirection * directions, alpha = 0, beta = 0;
  bool listed = given(names) && names.n > 0;
  if (listed && names.n < count)
    return false;
  for (int64_t i = 0; i < count; ++i) {
    const char *word = defaults[i % perDirection];
    ActivationRow row;
    if (!findActivation(listed ? strings(names)[i] : Str{word, lengthOf(word)}, row))
      return false;
    result[i] = {row.kind, row.defaultAlpha, row.defaultBeta};
    if (row.alpha && alpha < alphas.n)
      result[i].alpha = floats(alphas)[alpha++];
    if (row.beta && beta < betas.n)
      result[i].beta = floats(betas)[beta++];
  }
  return true;
}

struct Layer {
  int64_t steps, batch, inputs, hidden, directions, layout;
  bool forwardFirst;       // direction 0 runs forward
  double clip;             // infinity: none
  const int32_t *lengths;  // valid steps per batch row, or null
  Activation f[6];         // per direction: as many as the cell has

  double clipped(double x) const { return x < -clip ? -clip : x > clip ? clip : x; }
  int64_t inputRow(int64_t t, int64_t b) const { return (layout ? b * steps + t : t * batch + b) * inputs; }
  int64_t outputRow(int64_t t, int64_t d, int64_t b) const {
    return (layout ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) * hidden;
  }
  int64_t stateRow(int64_t d, int64_t b) const { return (layout ? b * directions + d : d * batch + b) * hidden; }
};

// Operand and attribute positions are equal in the three rows up to `layout`.
enum { X, W, R, B, Lengths, InitialH, InitialC, Peephole };
enum { Alpha, Beta, Names, Clip, Direction, HiddenSize, BatchFirst, Extra };

inline int32_t readLayer(const Args *a, int gates, const char *const *defaults, int activations, Layer &l) {
  const Tensor &x = a->in[X], &w = a->in[W], &r = a->in[R];
  if (x.rank != 3 || w.rank != 3 || r.rank != 3)
    return ONNXC_K_SHAPE;
  l.layout = a->attr[BatchFirst].i;
  l.steps = x.dims[l.layout ? 1 : 0];
  l.batch = x.dims[l.layout ? 0 : 1];
  l.inputs = x.dims[2];
  l.hidden = r.dims[2];
  l.directions = w.dims[0];
  Str direction = text(a->attr[Direction]);
  l.forwardFirst = !is(direction, "reverse");
  l.clip = given(a->attr[Clip]) && a->attr[Clip].f > 0 ? a->attr[Clip].f : __builtin_inf();
  if (w.dims[1] != gates * l.hidden || w.dims[2] != l.inputs)
    return ONNXC_K_SHAPE;
  if (l.directions != (is(direction, "bidirectional") ? 2 : 1) || r.dims[0] != l.directions || r.dims[1] != gates * l.hidden)
    return ONNXC_K_SHAPE;
  if (hasIn(a, B) && onnxc_count(a->in[B]) != 2 * gates * l.hidden * l.directions)
    return ONNXC_K_SHAPE;
  int64_t states = l.directions * l.batch * l.hidden;
  if (hasIn(a, InitialH) && onnxc_count(a->in[InitialH]) != states)
    return ONNXC_K_SHAPE;
  l.lengths = hasIn(a, Lengths) ? in<int32_t>(a, Lengths) : nullptr;
  if (l.lengths && onnxc_count(a->in[Lengths]) != l.batch)
    return ONNXC_K_SHAPE;
  for (int64_t b = 0; l.lengths && b < l.batch; ++b)
    if (l.lengths[b] < 0 || l.lengths[b] > l.steps)
      return ONNXC_K_SIZE;
  return readActivations(a->attr[Names], a->attr[Alpha], a->attr[Beta], defaults, activations, l.directions, l.f) ? ONNXC_K_OK
                                                                                                                  : ONNXC_K_VALUE;
}

// Operands that only LSTM has.
inline int32_t readLstm(const Args *a, const Layer &l) {
  if (hasIn(a, InitialC) && onnxc_count(a->in[InitialC]) != l.directions * l.batch * l.hidden)
    return ONNXC_K_SHAPE;
  return hasIn(a, Peephole) && onnxc_count(a->in[Peephole]) != 3 * l.directions * l.hidden ? ONNXC_K_SHAPE : ONNXC_K_OK;
}

// Steps that some batch row has; lengths out of range are found by readLayer.
inline int64_t longest(const Args *a) {
  int64_t steps = a->in[X].dims[0], most = hasIn(a, Lengths) ? 0 : steps;
  for (int64_t i = 0; hasIn(a, Lengths) && i < onnxc_count(a->in[Lengths]); ++i)
    most = in<int32_t>(a, Lengths)[i] > most ? in<int32_t>(a, Lengths)[i] : most;
  return most < steps ? most : steps;
}

// What DynamicQuantizeLinear and its inverse make of values: 8 bits over the range of all that were seen.
struct EightBits {
  float low = 0, high = 0;
  template <class T>
  void see(const T *x, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      low = float(x[i]) < low ? float(x[i]) : low, high = float(x[i]) > high ? float(x[i]) : high;
  }
  template <class From, class To>
  void round(const From *from, int64_t n, To *to) const {
    float scale = (high - low) / 255, zero = scale > 0 ? __builtin_rintf(-low / scale) : 0;
    for (int64_t i = 0; i < n; ++i) {
      float q = scale > 0 ? __builtin_rintf(float(from[i]) / scale) + zero : 0;
      to[i] = To(((q < 0 ? 0 : q > 255 ? 255 : q) - zero) * scale);
    }
  }
};

}  // namespace onnxc
