// BlockRanges.cpp: packed.Channels, ranges of the channels of blocked images, and zeros (dialects/onnx/Packed.td), that do not begin or
// end with blocks. A block of the result is put together from runs of lanes of up to 16 blocks; Block.cpp converts whole images.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Special.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {
namespace {

constexpr int kVectorRuns = 4;  // more are moved lane by lane

template <class T>
struct Block {
  // Lanes [to, to + count) are lanes [from, from + count) of the block at `source`.
  struct Run {
    const T *source;
    int64_t from, to, count;
  };
  typedef T Row __attribute__((ext_vector_type(kLanes), aligned(sizeof(T))));
  T *result;
  Run runs[kLanes];
  int used = 0;

  void movePixel(int64_t p) const {
    for (int64_t c = 0; c < kLanes; ++c)
      result[p * kLanes + c] = 0;
    for (int r = 0; r < used; ++r)
      for (int64_t c = 0; c < runs[r].count; ++c)
        result[p * kLanes + runs[r].to + c] = runs[r].source[p * kLanes + runs[r].from + c];
  }

  // A shifted row of a pixel reaches into its neighbours, so that the first and the last pixel are moved lane by lane.
  template <int Runs>
  void moveRows(int64_t first, int64_t end) const {
    typedef decltype(Row{} == Row{}) Mask;
    Mask masks[Runs];
    const T *from[Runs];
    for (int r = 0; r < Runs; ++r) {
      for (int64_t c = 0; c < kLanes; ++c)
        masks[r][c] = c >= runs[r].to && c < runs[r].to + runs[r].count ? -1 : 0;
      from[r] = runs[r].source + runs[r].from - runs[r].to;
    }
    for (int64_t p = first; p < end; ++p) {
      Row row = Row(0);
      for (int r = 0; r < Runs; ++r)
        row = masks[r] ? *reinterpret_cast<const Row *>(from[r] + p * kLanes) : row;
      *reinterpret_cast<Row *>(result + p * kLanes) = row;
    }
  }

  // Pixels [first, end) of a plane.
  void move(int64_t first, int64_t end, int64_t plane) const {
    if (used == 0) {
      memset(result + first * kLanes, 0, size_t((end - first) * kLanes) * sizeof(T));
      return;
    }
    if (first == 0)
      movePixel(first++);
    if (end == plane && first < end)
      movePixel(--end);
    if (used == 1)
      moveRows<1>(first, end);
    else if (used == 2)
      moveRows<2>(first, end);
    else if (used == 3)
      moveRows<3>(first, end);
    else if (used == kVectorRuns)
      moveRows<kVectorRuns>(first, end);
    else
      for (int64_t p = first; p < end; ++p)
        movePixel(p);
  }
};

// The runs that make lanes [first, first + 16) of the result's channels of image `n`.
template <class T>
ONNXC_INLINE void findRuns(const onnxc_args *a, int64_t n, int64_t first, int64_t plane, Block<T> &block) {
  int64_t at = 0;
  for (int64_t i = 0; i < a->n_in; at += ints(a->attr[1])[i++]) {
    const onnxc_tensor &x = a->in[i];
    int64_t c = maxOf(first, at), end = minOf(first + kLanes, at + ints(a->attr[1])[i]);
    while (c < end && ints(a->attr[0])[i] >= 0) {
      int64_t channel = ints(a->attr[0])[i] + c - at, from = channel % kLanes, count = minOf(end - c, kLanes - from);
      const T *source = data<T>(x) + (n * x.dims[1] + channel / kLanes) * plane * kLanes;
      block.runs[block.used++] = {source, from, c - first, count};
      c += count;
    }
  }
}

template <class T>
ONNXC_INLINE int32_t joinRanges(const onnxc_args *a) {
  const onnxc_tensor &y = a->out[0];
  ONNXC_CHECK(y.rank == 5 && y.dims[4] == kLanes && a->attr[0].n == a->n_in && a->attr[1].n == a->n_in, ONNXC_K_SHAPE);
  int64_t blocks = y.dims[1], plane = y.dims[2] * y.dims[3], channels = 0;
  for (int64_t i = 0; i < a->n_in; ++i) {
    const onnxc_tensor &x = a->in[i];
    int64_t begin = ints(a->attr[0])[i], count = ints(a->attr[1])[i];
    ONNXC_CHECK(x.rank == 5 && x.dims[4] == kLanes && x.dims[0] == y.dims[0], ONNXC_K_SHAPE);
    ONNXC_CHECK(x.dims[2] == y.dims[2] && x.dims[3] == y.dims[3], ONNXC_K_SHAPE);
    ONNXC_CHECK(count >= 0 && (begin == -1 || (begin >= 0 && begin + count <= x.dims[1] * kLanes)), ONNXC_K_SHAPE);
    channels += count;
  }
  ONNXC_CHECK(blocks == (channels + kLanes - 1) / kLanes, ONNXC_K_SHAPE);
  if (plane == 0)
    return ONNXC_K_OK;
  Pieces pieces(plane, kPiecePixels);
  return parallelFor(a, y.dims[0] * blocks * pieces.count, pieces.grain(4), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t at = unit / pieces.count, piece = unit % pieces.count;
      Block<T> block;
      block.result = const_cast<T *>(data<T>(a->out[0])) + at * plane * kLanes;
      findRuns<T>(a, at / blocks, at % blocks * kLanes, plane, block);
      block.move(pieces.begin(piece), pieces.end(piece), plane);
    }
    return ONNXC_K_OK;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_Channels(const onnxc_args *a) {
  return a->out[0].dtype == ONNXC_F32 ? onnxc::joinRanges<float>(a) : onnxc::joinRanges<uint8_t>(a);
}
