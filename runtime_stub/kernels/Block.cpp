// Block.cpp: images of f32 or bytes to blocks of 16 channels and back (dialects/onnx/Packed.td): squares of 16 pixels by 16 channels are
// transposed in registers, the last one of a plane overlapping the one before it.
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Transpose.h"

namespace onnxc {

template <class T>
struct Lanes {
  typedef T Row __attribute__((ext_vector_type(kLanes)));
  typedef Row Loose __attribute__((aligned(sizeof(T))));  // in an operand
};

// The 16 channels of one block at 16 pixels; channels past `have` are zero in blocks and do not exist in the image.
template <class T>
ONNXC_INLINE void moveSquare(T *image, T *lanes, int64_t plane, int64_t have, bool toBlocks) {
  using Row = typename Lanes<T>::Row;
  using Loose = typename Lanes<T>::Loose;
  Row rows[kLanes];
#pragma clang loop unroll(full)
  for (int i = 0; i < kLanes; ++i)
    if (!toBlocks)
      rows[i] = *reinterpret_cast<const Loose *>(lanes + i * kLanes);
    else if (i < have)
      rows[i] = *reinterpret_cast<const Loose *>(image + i * plane);
    else
      rows[i] = Row(0);
  transpose(rows);
#pragma clang loop unroll(full)
  for (int i = 0; i < kLanes; ++i)
    if (toBlocks)
      *reinterpret_cast<Loose *>(lanes + i * kLanes) = rows[i];
    else if (i < have)
      *reinterpret_cast<Loose *>(image + i * plane) = rows[i];
}

// The same by quarters, where vectors have eight lanes.
ONNXC_INLINE void moveQuarters(float *image, float *lanes, int64_t plane, int64_t have, bool toBlocks) {
  for (int64_t channel = 0; channel < kLanes; channel += 8)
    for (int64_t pixel = 0; pixel < kLanes; pixel += 8) {
      Row8 rows[8];
      unroll<0, 8>([&](auto i) {
        if (!toBlocks)
          rows[i.value] = *(const v8 *)(lanes + (pixel + i.value) * kLanes + channel);
        else if (channel + i.value < have)
          rows[i.value] = *(const v8 *)(image + (channel + i.value) * plane + pixel);
        else
          rows[i.value] = v8(0.0f);
      });
      transpose(rows);
      unroll<0, 8>([&](auto i) {
        if (toBlocks)
          *(v8 *)(lanes + (pixel + i.value) * kLanes + channel) = rows[i.value];
        else if (channel + i.value < have)
          *(v8 *)(image + (channel + i.value) * plane + pixel) = rows[i.value];
      });
    }
}

// Planes of fewer than 16 pixels.
template <class T>
ONNXC_INLINE void moveFew(T *image, T *lanes, int64_t plane, int64_t have, bool toBlocks) {
  for (int64_t p = 0; p < plane; ++p)
    for (int64_t c = 0; c < kLanes; ++c)
      if (toBlocks)
        lanes[p * kLanes + c] = c < have ? image[c * plane + p] : 0;
      else if (c < have)
        image[c * plane + p] = lanes[p * kLanes + c];
}

template <class T>
ONNXC_INLINE int32_t convertAll(const onnxc_args *a, const onnxc_tensor &plain, const onnxc_tensor &blocked, bool toBlocks) {
  ONNXC_CHECK((plain.rank == 3 || plain.rank == 4) && blocked.rank == 5 && blocked.dims[4] == kLanes, ONNXC_K_SHAPE);
  int64_t channels = plain.dims[1], blocks = blocked.dims[1], plane = product(plain.dims, 2, plain.rank);
  ONNXC_CHECK(blocks == (channels + kLanes - 1) / kLanes && blocked.dims[0] == plain.dims[0], ONNXC_K_SHAPE);
  ONNXC_CHECK(blocked.dims[2] * blocked.dims[3] == plane, ONNXC_K_SHAPE);
  T *images = const_cast<T *>(data<T>(plain)), *all = const_cast<T *>(data<T>(blocked));
  Pieces pieces(plane, kPiecePixels);
  return parallelFor(a, plain.dims[0] * blocks * pieces.count, pieces.grain(4), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t at = unit / pieces.count, piece = unit % pieces.count;
      int64_t n = at / blocks, b = at % blocks, have = minOf(kLanes, channels - b * kLanes);
      T *image = images + (n * channels + b * kLanes) * plane, *lanes = all + at * plane * kLanes;
      if (plane < kLanes) {
        moveFew(image, lanes, plane, have, toBlocks);
        continue;
      }
      for (int64_t p = pieces.begin(piece); p < pieces.end(piece); p += kLanes) {
        int64_t first = minOf(p, pieces.end(piece) - kLanes);
        if constexpr (sizeof(T) == 4)
          if (onnxc_vector_bits < 512) {
            moveQuarters(image + first, lanes + first * kLanes, plane, have, toBlocks);
            continue;
          }
        moveSquare(image + first, lanes + first * kLanes, plane, have, toBlocks);
      }
    }
    return ONNXC_K_OK;
  });
}

ONNXC_INLINE int32_t convert(const onnxc_args *a, const onnxc_tensor &plain, const onnxc_tensor &blocked, bool toBlocks) {
  if (plain.dtype == ONNXC_F32)
    return convertAll<float>(a, plain, blocked, toBlocks);
  return convertAll<uint8_t>(a, plain, blocked, toBlocks);
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_Block(const onnxc_args *a) { return onnxc::convert(a, a->in[0], a->out[0], true); }
extern "C" int32_t onnxc_k_Unblock(const onnxc_args *a) { return onnxc::convert(a, a->out[0], a->in[0], false); }
