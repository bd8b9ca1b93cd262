// Recurrent.h: activation functions and the description of a recurrent layer, shared by RNN, GRU and LSTM. Included by Recurrent.cpp.
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

}  // namespace onnxc
