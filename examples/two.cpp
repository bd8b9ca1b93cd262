// two.cpp: two compiled models in one program, on its own threads and memory. Build as relu.cpp, with relu.a and scores.a.
#include "relu.hpp"
#include "scores.hpp"
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

// A service would hand the tasks to its pool.
static void parallelFor(void *, int32_t tasks, void (*body)(void *arg, int32_t task), void *arg) {
  std::vector<std::thread> threads;
  for (int32_t task = 0; task < tasks; ++task)
    threads.emplace_back(body, arg, task);
  for (std::thread &thread : threads)
    thread.join();
}

static void *take(void *live, size_t bytes, size_t alignment) {
  ++*static_cast<std::atomic<int> *>(live);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void give(void *live, void *memory) {
  *static_cast<std::atomic<int> *>(live) -= memory != nullptr;
  std::free(memory);
}

int main() {
  std::atomic<int> live{0};
  {
    onnxc::Options options(3);
    options.alloc = take, options.free = give, options.alloc_user = &live;
    options.parallel_for = parallelFor;
    onnxc_models::relu::Session relu(options);
    onnxc_models::scores::Session scores(options);
    const std::vector<float> x(96 * 1000, -0.5f);
    onnxc::View<const float> rectified = relu.run({{x.data(), {96 * 1000 / 3, 3}}}).y;
    onnxc::View<const float> y = scores.run({{rectified.data, {1000, 96}}}).y;
    std::cout << y.shape[0] << " rows, the first score is " << y[0] << '\n';
    if (y[0] != 1.0f / 64)
      return 1;
  }
  std::cout << live << " blocks of memory are left\n";
  return live != 0;
}
