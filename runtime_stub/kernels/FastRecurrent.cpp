// FastRecurrent.cpp: RNN, GRU and LSTM of f32. The input products of all steps are one matrix product, or those of a step are made with it
// where a batch meets weights that are near; the recurrent weights are packed into panels of columns, which each step streams: by
// passes/layout where they are constant, which gives the input weights the same panels, else once a run. A run of few steps reads unpacked
// weights as they are. Oracle: Recurrent.cpp.
#include "runtime_stub/kernels/BytePanels.h"
#include "runtime_stub/kernels/Math.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Recurrent.h"
#include "runtime_stub/kernels/RecurrentPanels.h"

namespace onnxc {
namespace {

void activate(const Activation &f, double clip, float *v, int64_t n) {
  float limit = float(clip);
  for (int64_t i = 0; clip != __builtin_inf() && i < n; ++i)
    v[i] = v[i] < -limit ? -limit : v[i] > limit ? limit : v[i];
  if (f.kind == Activation::Sigmoid)
    for (int64_t i = 0; i < n; ++i)
      v[i] = sigmoidF32(v[i]);
  else if (f.kind == Activation::Tanh)
    for (int64_t i = 0; i < n; ++i)
      v[i] = tanhF32(v[i]);
  else if (f.kind == Activation::Relu)
    for (int64_t i = 0; i < n; ++i)
      v[i] = v[i] > 0 ? v[i] : 0;
  else
    for (int64_t i = 0; i < n; ++i)
      v[i] = float(f(v[i]));
}

constexpr int64_t kLeastRows = 8;  // of a batch whose rows go in groups
constexpr int64_t kSpread = 3;     // places of a pointer, so that groups of four rows or more write to no line of the cache of another

// One direction of a layer while it runs.
struct Pass {
  const Layer *l;
  const Args *threads;  // null: they run the other direction, or other rows
  int64_t first, end;   // rows of the batch
  const Activation *f;
  const float *peephole, *lateBias;  // null: none; lateBias: the recurrent bias of GRU's last gate, where the reset multiplies it
  Panels all, last;                  // GRU: the first two gates, the last gate
  const BytePanels *bytes;           // of a quantised LSTM, whose products see the state as `rounded`
  ByteRows rounded;
  bool flag, backward;  // backward: every other step goes so through the panels, which meets those that caches still hold
  int64_t n, count;     // hidden units; rows active at this step
  float **gates, **h, **c, **tmp;
  float *xw;     // input products of all steps, [steps, batch, gates * hidden], or of one
  float *state;  // h, c, tmp of each row, in lines of their own
  // Where a step makes its own input products: the weights, the biases, and the inputs of the active rows.
  Panels input;
  const float *bias;  // null: they are made
  const float **x;

  bool start(const Args *a, const Layer &layer, int64_t gateCount, bool flag, bool byStep = false) {
    l = &layer, n = layer.hidden, end = layer.batch, this->flag = flag;
    xw = heap<float>(a, (byStep ? 1 : layer.steps) * layer.batch * gateCount * n), state = heap<float>(a, layer.batch * stateSize());
    const int64_t places = (kSpread * layer.batch + 7) / 8 * 8;
    gates = heap<float *>(a, 4 * places);
    if (!xw || !state || !gates)
      return false;
    h = gates + places, c = h + places, tmp = c + places;
    return true;
  }
  int64_t stateSize() const { return (3 * n + 15) / 16 * 16; }

  // body(begin, end) by threads, whose results depend on no cut.
  template <class Body>
  int32_t each(int64_t extent, int64_t work, const Body &body) const {
    return threads ? parallelFor(threads, extent, grainOf(work), body) : body(0, extent);
  }
  // Operations of a panel, twice what they are: threads that still watch after the step before pay for less work than those that wake.
  int64_t panelWork(int64_t inner) const { return count * kWide * inner / 4; }
  // to[i] += R x[i] of the active rows.
  int32_t addProducts(const Panels &panels, const float *const *x, float *const *to) const {
    const Panels *r = &panels;
    return each(panelsOf(r->rows), panelWork(r->hidden),
                [=](int64_t begin, int64_t end) -> int32_t { return addPanels(*r, begin, end, x, to, count, backward), ONNXC_K_OK; });
  }
  // body(b) for the active rows; `work`: operations for each hidden unit.
  template <class Body>
  int32_t eachRow(int64_t work, const Body &body) const {
    return each(count, work * n, [&](int64_t begin, int64_t end) -> int32_t {
      for (int64_t b = begin; b < end; ++b)
        body(b);
      return ONNXC_K_OK;
    });
  }
};

struct RnnCell {
  static constexpr int gates = 1;
  static constexpr bool quantised = false;
  static int32_t step(const Pass &p) {
    ONNXC_TRY(p.addProducts(p.all, p.h, p.gates));
    return p.eachRow(2, [&](int64_t b) {
      activate(p.f[0], p.l->clip, p.gates[b], p.n);
      memcpy(p.h[b], p.gates[b], size_t(p.n) * sizeof(float));
    });
  }
};

struct GruCell {
  static constexpr int gates = 3;
  static constexpr bool quantised = false;
  // Where the reset multiplies the last gate's product, that product is of the same state as the others.
  static int32_t allProducts(const Pass &p) {
    for (int64_t b = 0; b < p.count; ++b)
      for (int64_t j = 0; j < p.n; ++j)
        p.tmp[b][j] = p.lateBias ? p.lateBias[j] : 0;
    const Pass *pass = &p;
    int64_t first = panelsOf(p.all.rows);
    return p.each(first + panelsOf(p.n), p.panelWork(p.n), [=](int64_t begin, int64_t end) -> int32_t {
      addPanels(pass->all, begin, minOf(end, first), pass->h, pass->gates, pass->count, pass->backward);
      addPanels(pass->last, maxOf(begin, first) - first, end - first, pass->h, pass->tmp, pass->count, pass->backward);
      return ONNXC_K_OK;
    });
  }
  static int32_t step(const Pass &p) {
    int64_t n = p.n;
    double clip = p.l->clip;
    ONNXC_TRY(p.flag ? allProducts(p) : p.addProducts(p.all, p.h, p.gates));
    ONNXC_TRY(p.eachRow(4, [&](int64_t b) {
      float *g = p.gates[b], *r = g + n, *fresh = r + n, *t = p.tmp[b];
      activate(p.f[0], clip, g, 2 * n);
      for (int64_t j = 0; p.flag && j < n; ++j)
        fresh[j] += r[j] * t[j];
      for (int64_t j = 0; !p.flag && j < n; ++j)
        t[j] = r[j] * p.h[b][j];
      p.gates[b] = fresh;
    }));
    if (!p.flag)
      ONNXC_TRY(p.addProducts(p.last, p.tmp, p.gates));
    return p.eachRow(4, [&](int64_t b) {
      float *fresh = p.gates[b], *z = fresh - 2 * n, *h = p.h[b];
      activate(p.f[1], clip, fresh, n);
      for (int64_t j = 0; j < n; ++j)
        h[j] = (1 - z[j]) * fresh[j] + z[j] * h[j];
    });
  }
};

// `Quantised`: another cell, so that a plain one has no code for products of bytes.
template <bool Quantised>
struct LstmCell {
  static constexpr int gates = 4;
  static constexpr bool quantised = Quantised;
  static void peep(const Pass &p, int64_t which, float *to, const float *c) {
    for (int64_t j = 0; p.peephole && j < p.n; ++j)
      to[j] += p.peephole[which * p.n + j] * c[j];
  }
  static void finish(const Pass &p, int64_t b) {
    int64_t n = p.n;
    double clip = p.l->clip;
    float *i = p.gates[b], *o = i + n, *f = o + n, *fresh = f + n, *c = p.c[b], *h = p.h[b], *s = p.tmp[b];
    peep(p, 0, i, c);
    peep(p, 2, f, c);
    activate(p.f[0], clip, i, n);
    for (int64_t j = 0; p.flag && j < n; ++j)
      f[j] = 1 - i[j];
    if (!p.flag)
      activate(p.f[0], clip, f, n);
    activate(p.f[1], clip, fresh, n);
    for (int64_t j = 0; j < n; ++j)
      s[j] = c[j] = f[j] * c[j] + i[j] * fresh[j];
    peep(p, 1, o, c);
    activate(p.f[0], clip, o, n);
    activate(p.f[2], __builtin_inf(), s, n);
    for (int64_t j = 0; j < n; ++j)
      h[j] = o[j] * s[j];
  }
  static int32_t step(const Pass &p) {
    if constexpr (quantised)
      p.bytes->addProducts(p.rounded, p.gates, p.count, p.backward);
    else
      ONNXC_TRY(p.addProducts(p.all, p.h, p.gates));
    return p.eachRow(8, [&](int64_t b) { finish(p, b); });
  }
};

bool isFew(const Layer &l) { return l.steps * l.batch <= kFew; }

// The biases of `count` rows of gates at `to`; the last gate's recurrent one is left out where `late`.
void setBiases(const Args *a, const Layer &l, int64_t d, int64_t rows, bool late, float *to, int64_t count) {
  const float *b = hasIn(a, B) ? in<float>(a, B) + d * 2 * rows : nullptr;
  for (int64_t i = 0; i < count; ++i, to += rows)
    for (int64_t j = 0; j < rows; ++j)
      to[j] = !b ? 0 : late && j >= rows - l.hidden ? b[j] : b[j] + b[rows + j];
}

// to += x W^T by rows: of panels side by side, or of few products with the operand as it is.
int32_t addInputRows(const Args *a, const Layer &l, const Panels &w, float *to) {
  const float *x = in<float>(a, X);
  int64_t count = l.steps * l.batch;
  const float **from = heap<const float *>(a, count);
  float **rows = heap<float *>(a, count);
  if (!from || !rows)
    return ONNXC_K_MEMORY;
  for (int64_t t = 0; t < l.steps; ++t)
    for (int64_t b = 0; b < l.batch; ++b)
      from[t * l.batch + b] = x + l.inputRow(t, b), rows[t * l.batch + b] = to + (t * l.batch + b) * w.rows;
  const Panels *matrix = &w;
  return parallelFor(a, panelsOf(w.rows), grainOf(count * kWide * l.inputs / 8), [=](int64_t begin, int64_t end) -> int32_t {
    return addPanels(*matrix, begin, end, from, rows, count, false), ONNXC_K_OK;
  });
}

// x W^T + biases of all steps, [steps, batch, rows].
int32_t inputProducts(const Args *a, const Layer &l, int64_t d, int64_t rows, bool late, bool packed, float *to) {
  const float *x = in<float>(a, X), *w = in<float>(a, W) + d * (packed ? padded(rows) : rows) * l.inputs;
  setBiases(a, l, d, rows, late, to, l.steps * l.batch);
  if (packed || isFew(l))
    return addInputRows(a, l, {w, packed ? nullptr : w, rows, l.inputs}, to);
  int64_t outer = l.layout ? l.batch : 1, inner = l.layout ? l.steps : l.steps * l.batch, stride = rows * (l.layout ? l.batch : 1);
  for (int64_t o = 0; o < outer; ++o) {
    const float *from = x + o * inner * l.inputs;
    ONNXC_TRY(product(
        a, inner, rows, l.inputs, to + o * rows, stride, static_cast<const float *>(nullptr),
        [&](float *p, int64_t row, int64_t k, int64_t width, int64_t depth) {
          packPanel(p, from, inner, row, l.inputs, k, 1, width, depth);
        },
        [&](float *p, int64_t col, int64_t k, int64_t width, int64_t depth) { packPanel(p, w, rows, col, l.inputs, k, 1, width, depth); }));
  }
  return ONNXC_K_OK;
}

// Whether steps make their input products: a batch that fills the kernel's registers, of panels that stay in a cache with the recurrent
// ones.
bool isByStep(const Layer &l, int64_t rows, bool packed) {
  const int64_t batch = onnxc_vector_bits >= 512 ? 12 : 32;  // narrower tiles read the panels more often
  return packed && l.batch >= batch && l.steps > 1 && padded(rows) * (l.inputs + l.hidden) * int64_t(sizeof(float)) <= kNear;
}
int32_t startByStep(const Args *a, Pass &p, int64_t d, int64_t rows, bool late) {
  const Layer &l = *p.l;
  float *bias = heap<float>(a, rows);
  p.x = heap<const float *>(a, kSpread * l.batch);
  if (!bias || !p.x)
    return ONNXC_K_MEMORY;
  setBiases(a, l, d, rows, late, bias, 1);
  p.input = {in<float>(a, W) + d * padded(rows) * l.inputs, nullptr, rows, l.inputs};
  p.bias = bias;
  return ONNXC_K_OK;
}

// Row b of the states' start.
void startRow(float *to, const Args *a, int which, int64_t row, int64_t n) {
  if (hasIn(a, which))
    memcpy(to, in<float>(a, which) + row, size_t(n) * sizeof(float));
  else
    memset(to, 0, size_t(n) * sizeof(float));
}

// The range is that of the states that all rows got in the step before.
void roundStates(Pass &p, const float *state, int64_t step) {
  EightBits range;
  for (int64_t b = 0; b < p.l->batch; ++b)
    if (!p.l->lengths || step <= p.l->lengths[b])
      widenRange(state + b * p.stateSize(), p.n, range.low, range.high);
  p.rounded.range(range.low, range.high);
  for (int64_t b = 0; b < p.count; ++b)
    p.rounded.set(b, p.h[b], p.n);
}

// All steps of one direction for the rows of a pass.
template <class Cell>
int32_t runSteps(const Args *a, Pass &p, int64_t d) {
  const Layer &l = *p.l;
  float *const xw = p.xw, *const state = p.state;
  int64_t n = l.hidden;
  float *y = hasOut(a, 0) ? out<float>(a, 0) : nullptr;
  bool forward = l.forwardFirst && d == 0;
  for (int64_t b = p.first; b < p.end; ++b) {
    startRow(state + b * p.stateSize(), a, InitialH, l.stateRow(d, b), n);
    if (Cell::gates == 4)
      startRow(state + b * p.stateSize() + n, a, InitialC, l.stateRow(d, b), n);
    for (int64_t t = l.lengths ? l.lengths[b] : l.steps; y && t < l.steps; ++t)
      memset(y + l.outputRow(t, d, b), 0, size_t(n) * sizeof(float));
  }
  for (int64_t s = 0; s < l.steps; ++s) {
    p.count = 0, p.backward = s & 1;
    for (int64_t b = p.first; b < p.end; ++b) {
      int64_t length = l.lengths ? l.lengths[b] : l.steps, t = forward ? s : length - 1 - s;
      if (s >= length)
        continue;
      p.gates[p.count] = xw + ((p.bias ? 0 : t * l.batch) + b) * Cell::gates * n;
      if (p.bias)
        p.x[p.count] = in<float>(a, X) + l.inputRow(t, b);
      p.h[p.count] = state + b * p.stateSize(), p.c[p.count] = p.h[p.count] + n, p.tmp[p.count] = p.c[p.count] + n;
      ++p.count;
    }
    if constexpr (Cell::quantised)
      roundStates(p, state, s);
    for (int64_t i = 0; p.bias && i < p.count; ++i)
      memcpy(p.gates[i], p.bias, size_t(Cell::gates * n) * sizeof(float));
    if (p.bias)
      ONNXC_TRY(p.addProducts(p.input, p.x, p.gates));
    ONNXC_TRY(Cell::step(p));
    for (int64_t b = p.first; y && b < p.end; ++b) {
      int64_t length = l.lengths ? l.lengths[b] : l.steps;
      if (s < length)
        memcpy(y + l.outputRow(forward ? s : length - 1 - s, d, b), state + b * p.stateSize(), size_t(n) * sizeof(float));
    }
  }
  for (int which = 1; which <= 2; ++which)
    for (int64_t b = p.first; hasOut(a, which) && b < p.end; ++b)
      memcpy(out<float>(a, which) + l.stateRow(d, b), state + b * p.stateSize() + (which - 1) * n, size_t(n) * sizeof(float));
  return ONNXC_K_OK;
}

// Rows whose steps read weights that a cache holds go their way without waiting for others; a quantised state has one range for all.
template <class Cell>
bool isByRows(const Layer &l) {
  return !Cell::quantised && l.batch >= kLeastRows &&
         padded(Cell::gates * l.hidden) * (l.inputs + l.hidden) * int64_t(sizeof(float)) <= kNear;
}

// Directions and groups of rows, side by side; or one direction, whose steps use the threads.
template <class Cell>
int32_t runDirections(const Args *a, Pass *passes) {
  const Layer &l = *passes->l;
  bool byRows = isByRows<Cell>(l);
  if (l.directions == 1 && !byRows) {
    passes->threads = a;
    return runSteps<Cell>(a, *passes, 0);
  }
  if (l.batch == 0)
    return ONNXC_K_OK;
  int64_t most = byRows ? groupsOf(l.batch) : 1, each = (l.batch + most - 1) / most, groups = (l.batch + each - 1) / each;
  int64_t work = l.steps * each * Cell::gates * l.hidden * l.hidden / 8;
  return parallelFor(a, l.directions * groups, grainOf(work), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t d = begin / groups; d * groups < end; ++d) {
      Pass p = passes[d];
      p.first = maxOf<int64_t>(begin - d * groups, 0) * each, p.end = minOf(minOf(end - d * groups, groups) * each, p.end);
      const int64_t at = kSpread * p.first;
      p.gates += at, p.h += at, p.c += at, p.tmp += at, p.x += p.bias ? at : 0;
      ONNXC_TRY(runSteps<Cell>(a, p, d));
    }
    return ONNXC_K_OK;
  });
}

// readLayer of W and R in panels, whose types say how many rows they are padded to.
int32_t readPacked(const Args *a, int gates, const char *const *defaults, int activations, Layer &l) {
  const Tensor &w = a->in[W], &r = a->in[R];
  if (w.rank != 3 || r.rank != 3)
    return ONNXC_K_SHAPE;
  int64_t n = r.dims[2], rows = gates * n;
  if (w.dims[1] != padded(rows) || r.dims[1] != (gates == 3 ? padded(2 * n) + padded(n) : padded(rows)))
    return ONNXC_K_SHAPE;
  Tensor operands[8];
  for (int64_t i = 0; i < a->n_in; ++i)
    operands[i] = a->in[i];
  int64_t input[] = {w.dims[0], rows, w.dims[2]}, recurrent[] = {r.dims[0], rows, n};
  operands[W].dims = input, operands[R].dims = recurrent;
  Args plain = *a;
  plain.in = operands;
  return readLayer(&plain, gates, defaults, activations, l);
}

template <class Cell>
int32_t run(const Args *a, const char *const *defaults, int activations, bool flag) {
  constexpr bool gru = Cell::gates == 3, lstm = Cell::gates == 4;
  bool packed = a->attr[Cell::gates == 1 ? Extra : Extra + 1].i != 0;  // passes/layout made panels of W and R
  Layer l;
  ONNXC_TRY((packed ? readPacked : readLayer)(a, Cell::gates, defaults, activations, l));
  if (lstm)
    ONNXC_TRY(readLstm(a, l));
  int64_t n = l.hidden, rows = Cell::gates * n, stride = packed ? a->in[R].dims[1] : rows, rest = packed ? padded(2 * n) : 2 * n;
  bool byStep = isByStep(l, rows, packed);
  Pass passes[2] = {};
  for (int64_t d = 0; d < l.directions; ++d) {
    Pass &p = passes[d];
    const float *r = in<float>(a, R) + d * stride * n;
    p.f = l.f + d * activations;
    p.peephole = lstm && hasIn(a, Peephole) ? in<float>(a, Peephole) + d * 3 * n : nullptr;
    p.lateBias = gru && flag && hasIn(a, B) ? in<float>(a, B) + d * 2 * rows + rows + 2 * n : nullptr;
    if (!p.start(a, l, Cell::gates, flag, byStep) || !p.all.pack(a, r, gru ? 2 * n : rows, n, isFew(l), packed) ||
        (gru && !p.last.pack(a, r + rest * n, n, n, isFew(l), packed)))
      return ONNXC_K_MEMORY;
    bool late = gru && flag;
    ONNXC_TRY(byStep ? startByStep(a, p, d, rows, late) : inputProducts(a, l, d, rows, late, packed, p.xw));
  }
  return runDirections<Cell>(a, passes);
}

// Scales and zero points of w, one a direction or one a column of a direction.
bool hasScales(const Args *a, int64_t w, int64_t scale) {
  int64_t d = a->in[w].dims[0], n = onnxc_count(a->in[scale]);
  return (n == d || n == d * a->in[w].dims[2]) && onnxc_count(a->in[scale + 1]) == n && a->in[scale].dtype == ONNXC_F32;
}

// What one direction of a quantised LSTM starts from: weights [directions, depth, 4 * hidden] of 8 bits, inputs already so.
int32_t startQuantised(const Args *a, Pass &p, BytePanels &r, int64_t d, const ByteRows &x) {
  enum { WScale = 8, RScale = 10 };
  const Layer &l = *p.l;
  bool packed = a->attr[Extra + 1].i != 0;
  int64_t rows = 4 * l.hidden, all = l.steps * l.batch;
  BytePanels w;
  float **to = heap<float *>(a, all);
  if (!to || !w.start(a, a->in[W], d, a->in[WScale], a->in[WScale + 1], packed) ||
      !r.start(a, a->in[R], d, a->in[RScale], a->in[RScale + 1], packed))
    return ONNXC_K_MEMORY;
  setBiases(a, l, d, rows, false, p.xw, all);
  for (int64_t i = 0; i < all; ++i)
    to[i] = p.xw + i * rows;
  w.addProducts(x, to, all, false);
  p.f = l.f + d * 3, p.bytes = &r;
  p.peephole = hasIn(a, Peephole) ? in<float>(a, Peephole) + d * 3 * p.n : nullptr;
  return ONNXC_K_OK;
}

int32_t quantisedLstm(const Args *a) {
  const Tensor &w = a->in[W], &r = a->in[R];
  if (w.rank != 3 || r.rank != 3 || a->attr[BatchFirst].i != 0 || !hasScales(a, W, 8) || !hasScales(a, R, 10))
    return ONNXC_K_SHAPE;
  Tensor operands[8];
  for (int64_t i = 0; i < 8; ++i)
    operands[i] = a->in[i];
  int64_t recurrent[] = {r.dims[0], r.dims[2], r.dims[1]}, input[] = {w.dims[0], w.dims[2], w.dims[1]};
  operands[R].dims = recurrent, operands[W].dims = input;
  Args plain = *a;
  plain.in = operands, plain.n_in = 8;
  const char *defaults[] = {"Sigmoid", "Tanh", "Tanh"};
  Layer l;
  ONNXC_TRY(readLayer(&plain, 4, defaults, 3, l));
  ONNXC_TRY(readLstm(&plain, l));
  int64_t all = l.steps * l.batch;
  ByteRows x;
  if (!x.start(a, all, l.inputs))
    return ONNXC_K_MEMORY;
  EightBits range;
  widenRange(in<float>(a, X), longest(a) * l.batch * l.inputs, range.low, range.high);
  x.range(range.low, range.high);
  for (int64_t i = 0; i < all; ++i)
    x.set(i, in<float>(a, X) + i * l.inputs, l.inputs);
  Pass passes[2] = {};
  BytePanels recurrentWeights[2];
  for (int64_t d = 0; d < l.directions; ++d) {
    Pass &p = passes[d];
    if (!p.start(a, l, LstmCell<true>::gates, a->attr[Extra].i != 0) || !p.rounded.start(a, l.batch, l.hidden))
      return ONNXC_K_MEMORY;
    ONNXC_TRY(startQuantised(a, p, recurrentWeights[d], d, x));
  }
  return runDirections<LstmCell<true>>(a, passes);
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMsDynamicQuantizeLSTM(const onnxc_args *a) { return onnxc::quantisedLstm(a); }
extern "C" int32_t onnxc_k_FastRNN(const onnxc_args *a) {
  const char *defaults[] = {"Tanh"};
  return onnxc::run<onnxc::RnnCell>(a, defaults, 1, false);
}
extern "C" int32_t onnxc_k_FastGRU(const onnxc_args *a) {
  const char *defaults[] = {"Sigmoid", "Tanh"};
  return onnxc::run<onnxc::GruCell>(a, defaults, 2, a->attr[onnxc::Extra].i != 0);
}
extern "C" int32_t onnxc_k_FastLSTM(const onnxc_args *a) {
  const char *defaults[] = {"Sigmoid", "Tanh", "Tanh"};
  return onnxc::run<onnxc::LstmCell<false>>(a, defaults, 3, a->attr[onnxc::Extra].i != 0);
}
