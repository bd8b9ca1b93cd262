// Parallel.h: how a library kernel uses the run's threads (runtime_stub/threads.c behind it). For kernels that include Kernel.h.
//
//   return parallelFor(a, rows, grainOf(columns), [&](int64_t begin, int64_t end) -> int32_t { … rows [begin, end) …; return 0; });
//
// A unit is what one iteration computes alone; results must not depend on where [begin, end) is cut, so a sum never crosses units. `grain`
// is the least number of units worth a task. The body allocates nothing (no onnxc_rt_heap, no onnxc_rt_scratch: they belong to the calling
// thread), starts no parallelFor of its own, and returns an onnxc_code; the first failing task's code is the result. Without threads, and
// for less than two grains of work, the body is called once, in place, and inlines. Capture by value ([=]): what is captured by reference
// the vectoriser reloads after every store.
#pragma once
#include "runtime_stub/kernels/Kernel.h"

namespace onnxc {

// About the work, in elementary operations on a level-1 cache, of the smallest task: some 5 µs. threads.c says how many pay for a region.
constexpr int64_t kTaskWork = 8192;

// Units a task needs when one unit is `work` operations.
ONNXC_INLINE int64_t grainOf(int64_t work) { return work >= kTaskWork ? 1 : work < 1 ? kTaskWork : (kTaskWork + work - 1) / work; }

// A range cut into pieces of `each`, the last one of as many as are left and up to twice as large, for units (item, piece) where there are
// few items.
struct Pieces {
  int64_t size, each, count;
  Pieces(int64_t size, int64_t each) : size(size), each(each), count(size < 2 * each ? 1 : size / each) {}
  int64_t begin(int64_t piece) const { return piece * each; }
  int64_t end(int64_t piece) const { return piece + 1 == count ? size : begin(piece + 1); }
  int64_t grain(int64_t work) const { return grainOf((size / count) * work); }  // `work`: of one of the range
};

template <class Body>
static int32_t parallelTask(void *const *bufs, const int64_t *, void *, int64_t begin, int64_t end) {
  return (*static_cast<const Body *>(bufs[1]))(begin, end);
}

template <class Body>
ONNXC_INLINE int32_t parallelFor(const onnxc_args *a, int64_t extent, int64_t grain, const Body &body) {
  if (extent <= 0)
    return ONNXC_K_OK;
  if (extent / 2 < grain)
    return body(0, extent);
  void *const bufs[] = {a->rt, const_cast<void *>(static_cast<const void *>(&body))};
  return onnxc_rt_parallel(a->rt, parallelTask<Body>, bufs, nullptr, extent, grain, 0);
}

// The same with `bytes` of 64-byte aligned scratch for each task: body(scratch, begin, end). What onnxc_rt_scratch gave the kernel stays.
template <class Body>
static int32_t parallelScratchTask(void *const *bufs, const int64_t *, void *scratch, int64_t begin, int64_t end) {
  return (*static_cast<const Body *>(bufs[1]))(scratch, begin, end);
}

template <class Body>
ONNXC_INLINE int32_t parallelScratchFor(const onnxc_args *a, int64_t extent, int64_t grain, int64_t bytes, const Body &body) {
  if (extent <= 0)
    return ONNXC_K_OK;
  void *const bufs[] = {a->rt, const_cast<void *>(static_cast<const void *>(&body))};
  return onnxc_rt_parallel(a->rt, parallelScratchTask<Body>, bufs, nullptr, extent, grain < 1 ? 1 : grain, bytes);
}

}  // namespace onnxc
