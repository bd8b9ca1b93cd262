// Value.h: values of a model in the compiler's own process: what .npy and .pb files hold and what an artefact takes and gives (Artefact.h).
//
// dtype  an onnx.TensorProto.DataType; narrow types (4 and 2 bits) hold one byte an element, as everywhere in onnxc
#pragma once
#include "compiler/DType.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace onnxc {

struct Value {
  enum Kind { Tensor = 0, Sequence = 1, Optional = 2, Map = 3 } kind = Tensor;
  int32_t dtype = 1;
  std::vector<int64_t> dims;
  std::vector<char> bytes;           // tensors of numbers
  std::vector<std::string> strings;  // tensors of strings
  bool absent = false;               // an input's default stands for it
  std::vector<Value> items;          // a sequence's; an optional's one or none; a map's keys tensor and values tensor

  int64_t count() const;     // elements of a tensor
  std::string type() const;  // "float32[2,3]", "map of string to float32"

  bool operator==(const Value &other) const;  // of all bits
};

const char *kindName(Value::Kind kind);  // "tensor", "sequence", …

// Element `i` as double (complex: its real part); exact for every number but 64-bit integers, NaN of what is no number.
double elementAsDouble(const Value &tensor, int64_t i);
std::complex<double> elementAsComplex(const Value &tensor, int64_t i);
bool isComplex(int32_t dtype);
bool isInteger(int32_t dtype);  // bool too

// Element `i` for people, floats with `digits` significant ones: "0.25", "-7", "1+2i", "'text'".
std::string elementText(const Value &tensor, int64_t i, int digits);

// Fills a tensor with values that suit its type: floats in [-1, 1], integers 0 or 1; the same for the same seed, a place among the inputs
// that counts from 1.
void fillRandom(Value &tensor, uint64_t seed);

// Equal within rtol/atol (integers, bools and strings exactly); else what differs.
struct Tolerance {
  double rtol = 1e-3, atol = 1e-7;
  double ofLargest = 0;  // more atol, as a part of the largest finite element of a tensor
  bool given = false;    // by the user: holds for every type
};
// What the order of a sum, and rounding to bfloat16 and float16, may move an element by, as a part of the largest of its tensor.
constexpr double kFloatTolerance = 1e-4, kBrainTolerance = 0.03, kHalfTolerance = 0.004;
// ofLargest for a tensor of this type.
double partOfLargest(const Tolerance &tolerance, int32_t dtype);

// How far floats are from those that are wanted: of the tensors it was measured on, the one where that is the greatest part of its largest
// element.
struct Closeness {
  bool measured = false;  // whether there were floats
  double off = 0;         // the largest difference; infinite where only one of two is a finite number
  double largest = 0;     // the largest finite element that is wanted
  double relative() const { return off == 0 ? 0 : largest > 0 ? off / largest : INFINITY; }
  std::string text() const;  // "largest difference 1.5e-06, 1.6e-06 of the largest value", "equal"
};
std::string difference(const Value &want, const Value &got, const Tolerance &tolerance, Closeness *closeness = nullptr);

}  // namespace onnxc
