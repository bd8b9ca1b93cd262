// Roof.cpp: see Roof.h. Two loops: independent chains of fused multiply-adds in registers, and a triad over arrays larger than the
// caches.
#include "compiler/commands/Roof.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace onnxc {

namespace {
typedef float F4 __attribute__((ext_vector_type(4)));
typedef float F8 __attribute__((ext_vector_type(8)));
typedef float F16 __attribute__((ext_vector_type(16)));
constexpr int kChains = 12;
}  // namespace

// 12 chains hide the latency of two units of 4 cycles with room to spare.
template <typename V>
[[gnu::always_inline]] static inline float multiplyAdd(long rounds, float seed) {
  V a[kChains], x = seed, y = seed * 0.5f;
  for (int i = 0; i < kChains; ++i)
    a[i] = x * float(i);
  for (long r = 0; r < rounds; ++r) {
#pragma clang fp contract(fast)
#pragma clang loop unroll(full)
    for (int i = 0; i < kChains; ++i)
      a[i] = a[i] * x + y;
    asm volatile("" ::: "memory");
  }
  V sum = a[0];
  for (int i = 1; i < kChains; ++i)
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
  constexpr long rounds = 1'000'000;
  for (int turn = 0; turn < 8; ++turn) {
    double time = together(threads, [&](int t) { sink[t] = loop(rounds, 1e-3f * (t + 1)); });
    best = std::max(best, 2.0 * lanes * kChains * rounds * threads / time / 1e9);
  }
  return best;
}

static std::string firstLine(const std::string &path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

// Bytes of all caches of the greatest level that Linux tells of, each once; 0: unknown.
static size_t lastCaches() {
  std::map<int, std::map<std::string, size_t>> levels;  // level -> processors that share a cache -> bytes
  for (unsigned cpu = 0; cpu < std::max(1u, std::thread::hardware_concurrency()); ++cpu)
    for (int i = 0; i < 8; ++i) {
      std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(i) + "/";
      std::string size = firstLine(folder + "size");
      if (size.empty())
        break;
      size_t unit = size.back() == 'M' ? 1 << 20 : size.back() == 'K' ? 1 << 10 : 1;
      levels[atoi(firstLine(folder + "level").c_str())][firstLine(folder + "shared_cpu_list")] = strtoull(size.c_str(), nullptr, 10) * unit;
    }
  size_t bytes = 0;
  if (!levels.empty())
    for (const auto &[processors, size] : levels.rbegin()->second)
      bytes += size;
  for (int name : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (long size = sysconf(name); !bytes && size > 0)
      bytes = size;
  return bytes;
}

// Of all arrays of all threads: four times the caches, 96 MiB at least for few threads; 1 GiB at most, and a quarter of the memory there
// is.
static size_t triadBytes(int threads) {
  constexpr size_t least = 96 << 20, most = 1 << 30;
  size_t bytes = std::clamp(4 * lastCaches(), std::min(most, least * threads), most);
  std::ifstream memory("/proc/meminfo");
  for (std::string line; std::getline(memory, line);)
    if (unsigned long long kib; sscanf(line.c_str(), "MemAvailable: %llu", &kib) == 1)
      bytes = std::min<size_t>(bytes, kib * 1024 / 4);
  if (size_t limit = strtoull(firstLine("/sys/fs/cgroup/memory.max").c_str(), nullptr, 10))
    bytes = std::min(bytes, limit / 4);
  return bytes;
}

// 0: there is no memory for it.
static double bandwidth(int threads) {
  size_t n = std::max<size_t>(1, triadBytes(threads) / (3 * sizeof(float) * threads));  // floats an array
  using Array = std::unique_ptr<float[], decltype(&free)>;
  std::vector<Array> data;
  for (int i = 0; i < 3 * threads; ++i)
    if (!data.emplace_back(static_cast<float *>(malloc(n * sizeof(float))), free))
      return 0;
  together(threads, [&](int t) {
    for (int i = 0; i < 3; ++i)
      std::fill_n(data[t * 3 + i].get(), n, float(i));
  });
  double best = 0, start = seconds();
  for (int turn = 0; turn < 5 && (turn == 0 || seconds() - start < 0.5); ++turn) {
    double time = together(threads, [&](int t) {
      float *a = data[t * 3].get(), *b = data[t * 3 + 1].get(), *c = data[t * 3 + 2].get();
      for (size_t i = 0; i < n; ++i)
        a[i] = b[i] + 0.5f * c[i];
      asm volatile("" ::"r"(a) : "memory");
    });
    best = std::max(best, 3.0 * n * sizeof(float) * threads / time / 1e9);
  }
  return best;
}

void measureUnits(Roof &roof, int threads, unsigned mostBits) {
  roof.isa = "scalar";
  float (*loop)(long, float) = multiplyAdd4;
  int lanes = 4;
#if defined(__x86_64__)
  if (mostBits >= 512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    loop = multiplyAdd16, lanes = 16, roof.isa = "avx512";
  else if (mostBits >= 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    loop = multiplyAdd8, lanes = 8, roof.isa = "avx2";
#endif
  roof.gflops = std::max(roof.gflops, peak(threads, loop, lanes));
}

void measureMemory(Roof &roof, int threads) { roof.gigabytes = std::max(roof.gigabytes, bandwidth(threads)); }

}  // namespace onnxc
