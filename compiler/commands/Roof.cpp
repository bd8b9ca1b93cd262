// Roof.cpp: see Roof.h. Two loops: independent chains of fused multiply-adds in registers, and a triad over a buffer far larger than any
// cache.
#include "compiler/commands/Roof.h"
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace onnxc {

namespace {
typedef float F4 __attribute__((ext_vector_type(4)));
typedef float F8 __attribute__((ext_vector_type(8)));
typedef float F16 __attribute__((ext_vector_type(16)));
constexpr int chains = 12;
}  // namespace

// 12 chains hide the latency of two units of 4 cycles with room to spare.
template <typename V>
[[gnu::always_inline]] static inline float multiplyAdd(long rounds, float seed) {
  V a[chains], x = seed, y = seed * 0.5f;
  for (int i = 0; i < chains; ++i)
    a[i] = x * float(i);
  for (long r = 0; r < rounds; ++r) {
#pragma clang fp contract(fast)
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      a[i] = a[i] * x + y;
    asm volatile("" ::: "memory");
  }
  V sum = a[0];
  for (int i = 1; i < chains; ++i)
    sum += a[i];
  return sum[0];
}

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512vl"), gnu::noinline]] static float multiplyAdd16(long rounds, float seed) {
  return multiplyAdd<F16>(rounds, seed);
}
[[gnu::target("avx2,fma"), gnu::noinline]] static float multiplyAdd8(long rounds, float seed) { return multiplyAdd<F8>(rounds, seed); }
#endif
[[gnu::noinline]] static float multiplyAdd4(long rounds, float seed) { return multiplyAdd<F4>(rounds, seed); }

static double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Runs `work` on every thread at once; the slowest thread's time.
template <typename F>
static double together(int threads, F work) {
  std::vector<double> times(threads);
  std::atomic<int> ready{0};
  auto body = [&](int t) {
    ++ready;
    while (ready < threads)
      std::this_thread::yield();
    double start = seconds();
    work(t);
    times[t] = seconds() - start;
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; ++t)
    pool.emplace_back(body, t);
  body(0);
  for (std::thread &t : pool)
    t.join();
  double worst = 0;
  for (double t : times)
    worst = t > worst ? t : worst;
  return worst;
}

static double peak(int threads, float (*loop)(long, float), int lanes) {
  std::vector<float> sink(threads);
  double best = 0;
  constexpr long rounds = 4'000'000;
  for (int attempt = 0; attempt < 3; ++attempt) {
    double time = together(threads, [&](int t) { sink[t] = loop(rounds, 1e-3f * (t + 1)); });
    double rate = 2.0 * lanes * chains * rounds * threads / time / 1e9;
    best = rate > best ? rate : best;
  }
  return best;
}

static double bandwidth(int threads) {
  constexpr size_t n = 8 << 20;  // floats an array
  std::vector<std::vector<float>> data(threads * 3);
  together(threads, [&](int t) {
    for (int i = 0; i < 3; ++i)
      data[t * 3 + i].assign(n, float(i));
  });
  double best = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    double time = together(threads, [&](int t) {
      float *a = data[t * 3].data(), *b = data[t * 3 + 1].data(), *c = data[t * 3 + 2].data();
      for (size_t i = 0; i < n; ++i)
        a[i] = b[i] + 0.5f * c[i];
      asm volatile("" ::"r"(a) : "memory");
    });
    double rate = 3.0 * n * sizeof(float) * threads / time / 1e9;
    best = rate > best ? rate : best;
  }
  return best;
}

Roof measureRoof(int threads, unsigned mostBits) {
  Roof roof;
  roof.isa = "scalar";
  float (*loop)(long, float) = multiplyAdd4;
  int lanes = 4;
#if defined(__x86_64__)
  if (mostBits >= 512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    loop = multiplyAdd16, lanes = 16, roof.isa = "avx512";
  else if (mostBits >= 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    loop = multiplyAdd8, lanes = 8, roof.isa = "avx2";
#endif
  roof.gflops = peak(threads, loop, lanes);
  roof.gigabytes = bandwidth(threads);
  return roof;
}

}  // namespace onnxc
