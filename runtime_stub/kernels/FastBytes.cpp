// FastBytes.cpp: elementwise tables and means of bytes: packed.ByteTable, packed.ByteMean (dialects/onnx/Packed.td). Oracles of what they
// were made of: Quant.cpp, PointwiseUnary.cpp, Pool.cpp.
#include "runtime_stub/kernels/IntegerResults.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {
namespace {

#if defined(__aarch64__)
// 16 bytes at a time, of a table of 256 in sixteen registers.
int64_t permuteBytes(const uint8_t *x, const uint8_t *table, uint8_t *y, int64_t n) {
  uint8x16x4_t t[4];
#pragma clang loop unroll(full)
  for (int k = 0; k < 4; ++k)
    t[k] = {{vld1q_u8(table + 64 * k), vld1q_u8(table + 64 * k + 16), vld1q_u8(table + 64 * k + 32), vld1q_u8(table + 64 * k + 48)}};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    uint8x16_t at = vld1q_u8(x + i), result = vqtbl4q_u8(t[0], at);
#pragma clang loop unroll(full)
    for (int k = 1; k < 4; ++k)
      result = vqtbx4q_u8(result, t[k], vsubq_u8(at, vdupq_n_u8(uint8_t(64 * k))));
    vst1q_u8(y + i, result);
  }
  return i;
}
#else
// 64 bytes at a time, of a table of 256 in four registers.
ONNXC_VBMI __attribute__((noinline)) int64_t permuteBytes(const uint8_t *x, const uint8_t *table, uint8_t *y, int64_t n) {
  bytes64 t[4];
  memcpy(t, table, 256);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    bytes64 at;
    memcpy(&at, x + i, 64);
    bytes64 low = __builtin_ia32_vpermi2varqi512(t[0], at, t[1]), high = __builtin_ia32_vpermi2varqi512(t[2], at, t[3]);
    bytes64 negative = (bytes64)(at < bytes64{}), result = (high & negative) | (low & ~negative);
    memcpy(y + i, &result, 64);
  }
  return i;
}
#endif

}  // namespace

#if defined(__aarch64__)
bool permutes(const Args *) { return true; }
#else
bool permutes(const Args *a) { return onnxc_vector_bits >= 512 && (onnxc_rt_dots(a->rt) & 2); }
#endif

void lookUp(bool permute, const uint8_t *x, const uint8_t *table, uint8_t *y, int64_t n) {
  int64_t i = permute ? permuteBytes(x, table, y, n) : 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t from, to = 0;
    memcpy(&from, x + i, 8);
#pragma clang loop unroll(full)
    for (int k = 0; k < 64; k += 8)
      to |= uint64_t(table[from >> k & 255]) << k;
    memcpy(y + i, &to, 8);
  }
  for (; i < n; ++i)
    y[i] = table[x[i]];
}

namespace {

int32_t byteTable(const Args *a) {
  const uint8_t *x = in<uint8_t>(a, 0), *table = in<uint8_t>(a, 1);
  uint8_t *y = out<uint8_t>(a, 0);
  int64_t n = onnxc_count(a->in[0]);
  if (onnxc_count(a->in[1]) != 256 || onnxc_count(a->out[0]) != n)
    return ONNXC_K_SHAPE;
  bool permute = permutes(a);
  return parallelFor(a, n, 4 * kTaskWork, [=](int64_t begin, int64_t end) -> int32_t {
    lookUp(permute, x + begin, table, y + begin, end - begin);
    return ONNXC_K_OK;
  });
}

// The mean of each channel of one block.
template <class Vector>
void meanOf(const uint8_t *x, int64_t pixels, float *y) {
  typedef Vector Bytes __attribute__((aligned(1)));  // template arguments forget it
  v16 total = v16(0.0f);
  for (int64_t p = 0; p < pixels;) {
    constexpr int64_t kExact = 4096;  // sums of bytes that 32 bits and f32 hold exactly
    int64_t end = minOf(p + kExact, pixels);
    i32x16 sum = i32x16(0);
    for (; p < end; ++p)
      sum += __builtin_convertvector(*(const Bytes *)(x + p * kLanes), i32x16);
    total += __builtin_convertvector(sum, v16);
  }
  *(v16 *)y = total / float(pixels);
}

int32_t byteMean(const Args *a) {
  const Tensor &x = a->in[0];
  if (x.rank != 5 || x.dims[4] != kLanes || onnxc_count(a->out[0]) != x.dims[0] * x.dims[1] * kLanes)
    return ONNXC_K_SHAPE;
  int64_t pixels = x.dims[2] * x.dims[3];
  const uint8_t *from = in<uint8_t>(a, 0);
  float *y = out<float>(a, 0);
  bool isSigned = x.dtype == ONNXC_I8;
  return parallelFor(a, x.dims[0] * x.dims[1], grainOf(pixels * 2), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t u = begin; u < end; ++u)
      isSigned ? meanOf<i8x16>(from + u * pixels * kLanes, pixels, y + u * kLanes)
               : meanOf<u8x16>(from + u * pixels * kLanes, pixels, y + u * kLanes);
    return ONNXC_K_OK;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastByteTable(const onnxc_args *a) { return onnxc::byteTable(a); }
extern "C" int32_t onnxc_k_FastByteMean(const onnxc_args *a) { return onnxc::byteMean(a); }
