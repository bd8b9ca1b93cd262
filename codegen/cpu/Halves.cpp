// Halves.cpp: f16 and bf16 to f32 and back: f16 by instructions where the level has them, else in integer arithmetic, without
// calls. See Halves.h.
#include "codegen/cpu/Halves.h"

using namespace mlir;
namespace onnxc {
namespace {

// Values of one width: the types of its integers, and the operations written short.
struct Bits {
  Code &c;
  Type i16, i32, f16, f32;

  Bits(Code &c, Type like) : c(c), i16(c.b.getI16Type()), i32(c.i32), f16(c.b.getF16Type()), f32(c.f32) {
    if (auto vector = dyn_cast<VectorType>(like))
      i16 = vector.clone(i16), i32 = vector.clone(i32), f16 = vector.clone(f16), f32 = vector.clone(f32);
  }
  Value n(uint32_t v) const {
    IntegerAttr attr = IntegerAttr::get(c.i32, APInt(32, v));
    if (auto vector = dyn_cast<VectorType>(i32))
      return arith::ConstantOp::create(c.b, c.loc, DenseElementsAttr::get(vector, attr));
    return arith::ConstantOp::create(c.b, c.loc, attr);
  }
  Value real(uint32_t bits) const { return asFloat(n(bits)); }
  Value asFloat(Value v) const { return arith::BitcastOp::create(c.b, c.loc, f32, v); }
  Value asBits(Value v) const { return arith::BitcastOp::create(c.b, c.loc, i32, v); }
  Value wide(Value v) const { return arith::ExtUIOp::create(c.b, c.loc, i32, v); }
  Value narrow(Value v) const { return arith::TruncIOp::create(c.b, c.loc, i16, v); }
  Value left(Value v, uint32_t by) const { return arith::ShLIOp::create(c.b, c.loc, v, n(by)); }
  Value right(Value v, uint32_t by) const { return arith::ShRUIOp::create(c.b, c.loc, v, n(by)); }
  Value both(Value l, uint32_t r) const { return arith::AndIOp::create(c.b, c.loc, l, n(r)); }
  Value either(Value l, Value r) const { return arith::OrIOp::create(c.b, c.loc, l, r); }
  Value add(Value l, Value r) const { return arith::AddIOp::create(c.b, c.loc, l, r); }
  Value sub(Value l, Value r) const { return arith::SubIOp::create(c.b, c.loc, l, r); }
  Value below(Value l, uint32_t r) const { return arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::ult, l, n(r)); }
  Value choose(Value condition, Value yes, Value no) const { return arith::SelectOp::create(c.b, c.loc, condition, yes, no); }
};

// Exponent and fraction move to their places; a product with 2^112 corrects the exponent and makes subnormals normal.
Value fromF16(const Bits &b, Value h) {
  Value magnitude = b.both(h, 0x7fff), sign = b.left(b.both(h, 0x8000), 16);
  Value scaled = b.asBits(b.c.mulf(b.asFloat(b.left(magnitude, 13)), b.real(0x77800000)));
  Value special = b.either(b.left(magnitude, 13), b.n(0x7f800000));
  return b.asFloat(b.either(sign, b.choose(b.below(magnitude, 0x7c00), scaled, special)));
}

// A subnormal result is rounded by adding 1/2, whose last bit has its weight; a normal one by adding to the bits that go.
Value toF16(const Bits &b, Value x) {
  Value magnitude = b.both(x, 0x7fffffff), sign = b.right(b.both(x, 0x80000000), 16);
  Value half = b.real(0x3f000000);
  Value small = b.sub(b.asBits(b.c.addf(b.asFloat(magnitude), half)), b.n(0x3f000000));
  Value odd = b.both(b.right(magnitude, 13), 1);
  Value normal = b.right(b.add(b.add(magnitude, b.n(0xc8000fff)), odd), 13);
  Value special = b.choose(b.below(magnitude, 0x7f800001), b.n(0x7c00), b.n(0x7e00));
  Value finite = b.choose(b.below(magnitude, 0x38800000), small, normal);
  return b.either(sign, b.choose(b.below(magnitude, 0x47800000), finite, special));
}

Value toBF16(const Bits &b, Value x) {
  Value odd = b.both(b.right(x, 16), 1), rounded = b.add(b.add(x, b.n(0x7fff)), odd);
  Value quiet = b.either(x, b.n(0x400000));
  return b.right(b.choose(b.below(b.both(x, 0x7fffffff), 0x7f800001), rounded, quiet), 16);
}
}  // namespace

Value halfToFloat(Code &c, Value bits, bool brain) {
  Bits b(c, bits.getType());
  if (!brain && c.convertsHalves)
    return arith::ExtFOp::create(c.b, c.loc, b.f32, Value(arith::BitcastOp::create(c.b, c.loc, b.f16, bits)));
  Value h = b.wide(bits);
  return brain ? b.asFloat(b.left(h, 16)) : fromF16(b, h);
}

Value floatToHalf(Code &c, Value v, bool brain) {
  Bits b(c, v.getType());
  if (!brain && c.convertsHalves)
    return arith::BitcastOp::create(c.b, c.loc, b.i16, Value(arith::TruncFOp::create(c.b, c.loc, b.f16, v)));
  return b.narrow(brain ? toBF16(b, b.asBits(v)) : toF16(b, b.asBits(v)));
}

Value doubleToHalf(Code &c, Value v) {
  constexpr int64_t dropped = (int64_t(1) << 29) - 1;  // bits that a float has not
  Type bits = c.i64, single = c.f32;
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    bits = vector.clone(bits), single = vector.clone(single);
  Value whole = arith::BitcastOp::create(c.b, c.loc, bits, v), mask = c.integer(dropped, bits);
  Value carried = c.add(arith::AndIOp::create(c.b, c.loc, whole, mask), mask);
  Value odd = arith::AndIOp::create(c.b, c.loc, arith::OrIOp::create(c.b, c.loc, whole, carried), c.integer(~dropped, bits));
  odd = arith::BitcastOp::create(c.b, c.loc, v.getType(), odd);
  return floatToHalf(c, arith::TruncFOp::create(c.b, c.loc, single, odd), /*brain=*/false);
}

}  // namespace onnxc
