// Value.cpp: see Value.h.
#include "compiler/commands/Value.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <tuple>

namespace onnxc {

int64_t Value::count() const {
  int64_t n = 1;
  for (int64_t d : dims)
    n *= d;
  return n;
}

bool Value::operator==(const Value &other) const {
  auto parts = [](const Value &v) { return std::tie(v.kind, v.dtype, v.dims, v.bytes, v.strings, v.absent, v.items); };
  return parts(*this) == parts(other);
}

static std::string nameOf(int32_t dtype) {
  const DType *t = findDType(dtype);
  return t ? t->name : "?";
}

std::string Value::type() const {
  if (kind == Sequence)
    return "sequence of " + std::to_string(items.size());
  if (kind == Optional)
    return items.empty() ? "nothing" : items[0].type();
  if (kind == Map)
    return items.size() == 2 ? "map of " + nameOf(items[0].dtype) + " to " + nameOf(items[1].dtype) : "map";
  std::string text = nameOf(dtype) + "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

const char *kindName(Value::Kind kind) {
  static const char *const names[] = {"tensor", "sequence", "optional", "map"};
  return names[kind];
}

template <typename T>
static T load(const Value &v, int64_t i) {
  T x;
  memcpy(&x, v.bytes.data() + i * sizeof(T), sizeof(T));
  return x;
}

// The number that the low bits of `bits` are in `format`.
static double decoded(const llvm::fltSemantics &format, uint64_t bits) {
  llvm::APFloat f(format, llvm::APInt(llvm::APFloat::semanticsSizeInBits(format), bits, /*isSigned=*/false, /*implicitTrunc=*/true));
  bool lost;
  f.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return f.convertToDouble();
}

double elementAsDouble(const Value &v, int64_t i) {
  const DType *t = findDType(v.dtype);
  if (!t || t->kind == DType::String)
    return NAN;
  if (t->kind == DType::Complex)
    return elementAsComplex(v, i).real();
  uint64_t bits = 0;
  memcpy(&bits, v.bytes.data() + i * t->size, t->size);
  switch (t->kind) {
  case DType::Float:
    return t->size == 4 ? llvm::bit_cast<float>(uint32_t(bits)) : t->size == 8 ? llvm::bit_cast<double>(bits) : decoded(t->format(), bits);
  case DType::Signed:
    return llvm::SignExtend64(bits, t->size * 8);
  case DType::Bool:
    return bits != 0;
  default:
    return bits;
  }
}

bool isComplex(int32_t dtype) {
  const DType *t = findDType(dtype);
  return t && t->kind == DType::Complex;
}

bool isInteger(int32_t dtype) {
  const DType *t = findDType(dtype);
  return t && (t->kind == DType::Signed || t->kind == DType::Unsigned || t->kind == DType::Bool);
}

std::complex<double> elementAsComplex(const Value &v, int64_t i) {
  if (!isComplex(v.dtype))
    return elementAsDouble(v, i);
  return findDType(v.dtype)->size == 8 ? std::complex<double>(load<std::complex<float>>(v, i)) : load<std::complex<double>>(v, i);
}

std::string elementText(const Value &v, int64_t i, int digits) {
  const DType *t = findDType(v.dtype);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!t)
    out << "?";
  else if (v.dtype == kStringCode)
    out << "'" << v.strings[i] << "'";
  else if (t->kind == DType::Unsigned && t->size == 8)
    out << load<uint64_t>(v, i);
  else if (isInteger(v.dtype))
    out << (t->size == 8 ? load<int64_t>(v, i) : int64_t(elementAsDouble(v, i)));
  else if (isComplex(v.dtype))
    out << llvm::format("%.*g%+.*gi", digits, elementAsComplex(v, i).real(), digits, elementAsComplex(v, i).imag());
  else
    out << llvm::format("%.*g", digits, elementAsDouble(v, i));
  return text;
}

// The bits of a random element: floats in [-1, 1), halves between 0.5 and 1 of both signs (that exponent, and any bits behind it), else
// 0 or 1.
static uint64_t randomBits(int32_t dtype, uint64_t random) {
  double number = double(random >> 11) * 0x1p-52 - 1;
  switch (dtype) {
  case 1:
    return llvm::bit_cast<uint32_t>(float(number));
  case 11:
    return llvm::bit_cast<uint64_t>(number);
  case 10:
    return 0x3800 | (random >> 40 & 0x83ff);
  case 16:
    return 0x3f00 | (random >> 40 & 0x807f);
  default:
    return random >> 40 & 1;
  }
}

// runtime_stub/program.c makes the same numbers.
void fillRandom(Value &v, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  int64_t n = v.count();
  if (v.dtype == kStringCode) {
    v.strings.assign(n, "text");
    return;
  }
  const DType *t = findDType(v.dtype);
  if (!t)
    return;
  v.bytes.assign(n * t->size, 0);
  for (int64_t i = 0; i < n; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    uint64_t bits = randomBits(v.dtype, state);
    memcpy(v.bytes.data() + i * t->size, &bits, std::min<size_t>(t->size, sizeof bits));
  }
}

static std::string index(const Value &v, int64_t flat) {
  std::string text;
  for (size_t d = v.dims.size(); d-- > 0;) {
    text = std::to_string(flat % v.dims[d]) + (text.empty() ? "" : ",") + text;
    flat /= v.dims[d];
  }
  return "[" + text + "]";
}

static bool isSame(double want, double got) { return want == got || (std::isnan(want) && std::isnan(got)); }

// Complex numbers by the size of their difference.
static bool isClose(std::complex<double> want, std::complex<double> got, const Tolerance &tolerance) {
  return (isSame(want.real(), got.real()) && isSame(want.imag(), got.imag())) ||
         (std::isfinite(std::abs(want)) && std::abs(want - got) <= tolerance.atol + tolerance.rtol * std::abs(want));
}

static double distance(std::complex<double> want, std::complex<double> got) {
  if (isSame(want.real(), got.real()) && isSame(want.imag(), got.imag()))
    return 0;
  double off = std::abs(want - got);
  return std::isnan(off) ? INFINITY : off;
}

static Closeness closenessOf(const Value &want, const Value &got) {
  Closeness c;
  for (int64_t i = 0, n = want.count(); i < n; ++i) {
    std::complex<double> w = elementAsComplex(want, i);
    if (double size = std::abs(w); std::isfinite(size))
      c.largest = std::max(c.largest, size);
    c.off = std::max(c.off, distance(w, elementAsComplex(got, i)));
  }
  return c;
}

std::string Closeness::text() const {
  if (off == 0)
    return "equal";
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::format("largest difference %.3g", off);
  if (largest > 0 && std::isfinite(off))
    out << llvm::format(", %.2g of the largest value", relative());
  return text;
}

double partOfLargest(const Tolerance &tolerance, int32_t dtype) {
  double rounding = tolerance.given ? 0 : dtype == 16 ? kBrainTolerance : dtype == 10 ? kHalfTolerance : 0;
  return std::max(tolerance.ofLargest, rounding);
}

// Element `i` of a tensor of integers, bools or strings.
static bool isEqual(const Value &want, const Value &got, int64_t i) {
  if (want.dtype == kStringCode)
    return want.strings[i] == got.strings[i];
  int32_t size = findDType(want.dtype)->size;
  return !memcmp(want.bytes.data() + i * size, got.bytes.data() + i * size, size);
}

static std::string tensorDifference(const Value &want, const Value &got, Tolerance tolerance, Closeness &closeness) {
  bool isExact = want.dtype == kStringCode || isInteger(want.dtype);
  Closeness own = isExact ? Closeness() : closenessOf(want, got);
  tolerance.atol += partOfLargest(tolerance, want.dtype) * own.largest;
  if (own.off > 0 && own.relative() >= closeness.relative())
    closeness = own;
  closeness.measured |= !isExact;
  int64_t n = want.count(), wrong = 0, first = -1;
  for (int64_t i = 0; i < n; ++i) {
    bool same = isExact ? isEqual(want, got, i) : isClose(elementAsComplex(want, i), elementAsComplex(got, i), tolerance);
    if (!same && wrong++ == 0)
      first = i;
  }
  if (!wrong)
    return "";
  std::string text;
  llvm::raw_string_ostream out(text);
  out << wrong << " of " << n << " elements differ, first at " << index(want, first) << ": " << elementText(got, first, 9) << " instead of "
      << elementText(want, first, 9);
  if (!isExact)
    out << "; " << own.text();
  return text;
}

std::string difference(const Value &want, const Value &got, const Tolerance &tolerance, Closeness *closeness) {
  Closeness unasked;
  Closeness &worst = closeness ? *closeness : unasked;
  if (want.kind == Value::Tensor && got.kind == Value::Tensor) {
    if (want.dtype != got.dtype || want.dims != got.dims)
      return got.type() + " instead of " + want.type();
    return tensorDifference(want, got, tolerance, worst);
  }
  if (want.kind != got.kind || want.items.size() != got.items.size())
    return got.type() + " instead of " + want.type();
  for (size_t i = 0; i < want.items.size(); ++i)
    if (std::string text = difference(want.items[i], got.items[i], tolerance, &worst); !text.empty())
      return "item " + std::to_string(i) + ": " + text;
  return "";
}

}  // namespace onnxc
