// Value.cpp: see Value.h.
#include "compiler/commands/Value.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
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

std::string Value::type() const {
  const DType *t = findDType(dtype);
  std::string text = t ? t->name : "?";
  if (kind == Sequence)
    return "sequence of " + std::to_string(items.size());
  if (kind == Optional)
    return items.empty() ? "nothing" : items[0].type();
  if (kind == Map)
    return "map of " + text;
  text += "[";
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

static double small(const llvm::fltSemantics &semantics, uint64_t bits) {
  llvm::APFloat f(semantics, llvm::APInt(llvm::APFloat::semanticsSizeInBits(semantics), bits));
  bool lost;
  f.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return f.convertToDouble();
}

double elementAsDouble(const Value &v, int64_t i) {
  using llvm::APFloat;
  switch (v.dtype) {
  case 1:
    return load<float>(v, i);
  case 2:
    return load<uint8_t>(v, i);
  case 3:
    return load<int8_t>(v, i);
  case 4:
    return load<uint16_t>(v, i);
  case 5:
    return load<int16_t>(v, i);
  case 6:
    return load<int32_t>(v, i);
  case 7:
    return load<int64_t>(v, i);
  case 9:
    return load<uint8_t>(v, i) != 0;
  case 10:
    return small(APFloat::IEEEhalf(), load<uint16_t>(v, i));
  case 11:
    return load<double>(v, i);
  case 12:
    return load<uint32_t>(v, i);
  case 13:
    return load<uint64_t>(v, i);
  case 14:
    return load<std::complex<float>>(v, i).real();
  case 15:
    return load<std::complex<double>>(v, i).real();
  case 16:
    return small(APFloat::BFloat(), load<uint16_t>(v, i));
  case 17:
    return small(APFloat::Float8E4M3FN(), load<uint8_t>(v, i));
  case 18:
    return small(APFloat::Float8E4M3FNUZ(), load<uint8_t>(v, i));
  case 19:
    return small(APFloat::Float8E5M2(), load<uint8_t>(v, i));
  case 20:
    return small(APFloat::Float8E5M2FNUZ(), load<uint8_t>(v, i));
  case 21:
  case 25:
    return load<uint8_t>(v, i);
  case 22:
  case 26:
    return load<int8_t>(v, i);
  case 23:
    return small(APFloat::Float4E2M1FN(), load<uint8_t>(v, i) & 15);
  case 24:
    return small(APFloat::Float8E8M0FNU(), load<uint8_t>(v, i));
  case 27:
    return small(APFloat::Float6E2M3FN(), load<uint8_t>(v, i) & 63);
  case 28:
    return small(APFloat::Float6E3M2FN(), load<uint8_t>(v, i) & 63);
  }
  return 0;
}

bool isComplex(int32_t dtype) { return dtype == 14 || dtype == 15; }

bool isInteger(int32_t dtype) {
  static constexpr int32_t others[] = {1, StringCode, 10, 11, 14, 15, 16, 17, 18, 19, 20, 23, 24, 27, 28};
  return !llvm::is_contained(others, dtype);
}

std::complex<double> elementAsComplex(const Value &v, int64_t i) {
  return v.dtype == 14   ? std::complex<double>(load<std::complex<float>>(v, i))
         : v.dtype == 15 ? load<std::complex<double>>(v, i)
                         : elementAsDouble(v, i);
}

std::string elementText(const Value &v, int64_t i, int digits) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (v.dtype == StringCode)
    out << "'" << v.strings[i] << "'";
  else if (v.dtype == 13)
    out << load<uint64_t>(v, i);
  else if (isInteger(v.dtype))
    out << (v.dtype == 7 ? load<int64_t>(v, i) : int64_t(elementAsDouble(v, i)));
  else if (isComplex(v.dtype))
    out << llvm::format("%.*g%+.*gi", digits, elementAsComplex(v, i).real(), digits, elementAsComplex(v, i).imag());
  else
    out << llvm::format("%.*g", digits, elementAsDouble(v, i));
  return text;
}

void fillRandom(Value &v, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state >> 11;
  };
  int64_t n = v.count();
  if (v.dtype == StringCode) {
    v.strings.assign(n, "text");
    return;
  }
  int32_t size = findDType(v.dtype)->size;
  v.bytes.assign(n * size, 0);
  bool isFloat = v.dtype == 1 || v.dtype == 11 || v.dtype == 10 || v.dtype == 16;
  for (int64_t i = 0; i < n; ++i) {
    char *at = v.bytes.data() + i * size;
    uint64_t r = next();
    if (!isFloat) {
      *at = r & 1;
      continue;
    }
    double x = double(int64_t(r % 2000001) - 1000000) / 1000000;
    llvm::APFloat f(x);
    bool lost;
    f.convert(v.dtype == 1    ? llvm::APFloat::IEEEsingle()
              : v.dtype == 11 ? llvm::APFloat::IEEEdouble()
              : v.dtype == 10 ? llvm::APFloat::IEEEhalf()
                              : llvm::APFloat::BFloat(),
              llvm::APFloat::rmNearestTiesToEven, &lost);
    uint64_t bits = f.bitcastToAPInt().getZExtValue();
    memcpy(at, &bits, size);
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

static double largestOf(const Value &floats) {
  double largest = 0;
  for (int64_t i = 0, n = floats.count(); i < n; ++i)
    if (double size = std::abs(elementAsComplex(floats, i)); std::isfinite(size))
      largest = std::max(largest, size);
  return largest;
}

double partOfLargest(const Tolerance &tolerance, int32_t dtype) {
  double rounding = tolerance.given ? 0 : dtype == 16 ? kBrainTolerance : dtype == 10 ? kHalfTolerance : 0;
  return std::max(tolerance.ofLargest, rounding);
}

static std::string tensorDifference(const Value &want, const Value &got, Tolerance tolerance) {
  double part = partOfLargest(tolerance, want.dtype);
  if (part > 0 && want.dtype != StringCode && !isInteger(want.dtype))
    tolerance.atol += part * largestOf(want);
  int64_t n = want.count(), wrong = 0, first = -1;
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    bool same;
    if (want.dtype == StringCode) {
      same = want.strings[i] == got.strings[i];
    } else if (isInteger(want.dtype)) {
      int32_t size = findDType(want.dtype)->size;
      same = !memcmp(want.bytes.data() + i * size, got.bytes.data() + i * size, size);
    } else {
      std::complex<double> w = elementAsComplex(want, i), g = elementAsComplex(got, i);
      same = isClose(w, g, tolerance);
      if (std::abs(w - g) > worst)
        worst = std::abs(w - g);
    }
    if (!same && wrong++ == 0)
      first = i;
  }
  if (!wrong)
    return "";
  std::string text;
  llvm::raw_string_ostream out(text);
  out << wrong << " of " << n << " elements differ, first at " << index(want, first) << ": " << elementText(got, first, 9) << " instead of "
      << elementText(want, first, 9);
  if (want.dtype != StringCode && !isInteger(want.dtype))
    out << llvm::format("; largest difference %.3g", worst);
  return text;
}

std::string difference(const Value &want, const Value &got, const Tolerance &tolerance) {
  if (want.kind == Value::Tensor && got.kind == Value::Tensor) {
    if (want.dtype != got.dtype || want.dims != got.dims)
      return got.type() + " instead of " + want.type();
    return tensorDifference(want, got, tolerance);
  }
  if (want.kind != got.kind || want.items.size() != got.items.size())
    return got.type() + " instead of " + want.type();
  for (size_t i = 0; i < want.items.size(); ++i)
    if (std::string text = difference(want.items[i], got.items[i], tolerance); !text.empty())
      return "item " + std::to_string(i) + ": " + text;
  return "";
}

}  // namespace onnxc
