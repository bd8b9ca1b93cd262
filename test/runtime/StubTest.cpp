// StubTest.cpp: the stub's checks, run with the model of FakePlan.cpp.
#include "runtime_stub/include/onnxc/onnxc.h"
#include "runtime_stub/kernels/Parallel.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

const onnxc_api *api() { return onnxc_get_api(ONNXC_ABI_VERSION); }

// One context and arguments that are right; a test makes one of them wrong.
struct Fixture {
  onnxc_model *model = nullptr;
  onnxc_context *context = nullptr;
  onnxc_error error = {};
  std::vector<float> x = {1, 2, 3, 4, 5, -6};
  int64_t xShape[2] = {2, 3}, wShape[1] = {2}, itemShape[1] = {2}, yShape[2] = {2, 3};
  int64_t item[2] = {7, 8};
  onnxc_string_view words[2] = {{"ab", 2}, {nullptr, 0}};
  onnxc_value in[3] = {}, out[3] = {}, items[1] = {};

  explicit Fixture(int threads = 1) {
    onnxc_options options = {};
    options.struct_size = sizeof options;
    options.num_threads = threads;
    REQUIRE(api()->model_create(&options, &model, &error) == 0);
    REQUIRE(api()->context_create(model, nullptr, &context, &error) == 0);
    in[0] = tensor(1, x.data(), 2, xShape);
    in[1].kind = ONNXC_SEQUENCE, in[1].items = items, in[1].count = 1;
    in[2] = tensor(8, words, 1, wShape);
    items[0] = tensor(7, item, 1, itemShape);
  }
  ~Fixture() {
    api()->context_destroy(context);
    api()->model_destroy(model);
  }
  static onnxc_value tensor(int32_t dtype, void *data, int32_t rank, int64_t *shape) {
    onnxc_value v = {};
    v.dtype = dtype, v.tensor.data = data, v.tensor.ndim = rank, v.tensor.shape = shape;
    return v;
  }
  int32_t run() {
    for (int i = 1; i < 3; ++i)
      out[i] = {};
    return api()->run(context, in, 3, out, 3, &error);
  }
};

}  // namespace

TEST_CASE("a version that is not known has no table") {
  CHECK(onnxc_get_api(0) == nullptr);
  CHECK(onnxc_get_api(99) == nullptr);
  REQUIRE(api() != nullptr);
  CHECK(std::string(api()->info()->name) == "fake");
}

TEST_CASE("results in the library's memory") {
  Fixture f;
  REQUIRE(f.run() == 0);
  CHECK(f.out[0].tensor.ndim == 2);
  CHECK(f.out[0].tensor.shape[0] == 2);
  CHECK(static_cast<float *>(f.out[0].tensor.data)[5] == -12);
  CHECK(f.out[1].tensor.shape[0] == 5);
  CHECK(f.out[2].kind == ONNXC_SEQUENCE);
  REQUIRE(f.out[2].count == 1);
  CHECK(static_cast<int64_t *>(f.out[2].items[0].tensor.data)[1] == 8);
  CHECK(api()->arena_bytes(f.context) > 0);
}

TEST_CASE("results in the caller's memory") {
  Fixture f;
  float y[8] = {};
  f.out[0] = Fixture::tensor(1, y, 2, f.yShape);
  REQUIRE(f.run() == 0);
  CHECK(y[0] == 2);
  SECTION("of a wrong shape") { f.yShape[0] = 3; }
  SECTION("of a wrong rank") { f.out[0].tensor.ndim = 1; }
  SECTION("without a shape") { f.out[0].tensor.shape = nullptr; }
  CHECK(f.run() == ONNXC_E_SHAPE);
  CHECK(std::string(f.error.node) == "y");
}

TEST_CASE("the caller's memory of another type or alignment") {
  Fixture f;
  float y[8] = {};
  f.out[0] = Fixture::tensor(11, y, 2, f.yShape);
  CHECK(f.run() == ONNXC_E_DTYPE);
  f.out[0] = Fixture::tensor(1, reinterpret_cast<char *>(y) + 1, 2, f.yShape);
  CHECK(f.run() == ONNXC_E_ARGUMENT);
}

TEST_CASE("results in the memory of an input") {
  for (int offset : {0, 1, -1}) {
    Fixture f;
    std::vector<float> memory(8);
    float *x = memory.data() + 1;
    std::copy(f.x.begin(), f.x.end(), x);
    f.in[0].tensor.data = x;
    f.out[0] = Fixture::tensor(1, x + offset, 2, f.yShape);
    REQUIRE(f.run() == 0);
    for (int i = 0; i < 6; ++i)
      CHECK(x[offset + i] == 2 * f.x[i]);
    CHECK(f.out[1].tensor.shape[0] == 5);
    CHECK(static_cast<float *>(f.out[1].tensor.data)[4] == 5);
  }
}

TEST_CASE("results of the last run are no inputs") {
  Fixture f;
  REQUIRE(f.run() == 0);
  SECTION("the library's memory") { f.in[0].tensor.data = f.out[0].tensor.data; }
  SECTION("memory of a size that the run knew") { f.in[0].tensor.data = f.out[1].tensor.data; }
  SECTION("a shape") { f.in[0].tensor.shape = f.out[0].tensor.shape; }
  SECTION("items") { f.in[1].items = f.out[2].items; }
  CHECK(f.run() == ONNXC_E_ARGUMENT);
  CHECK(std::string(f.error.message).find("copy it") != std::string::npos);
}

TEST_CASE("results stay when shapes are asked for") {
  Fixture f;
  REQUIRE(f.run() == 0);
  int64_t y[2], z[1], *dims[3] = {y, z, nullptr}, strides[2] = {1, 2};
  f.in[0].tensor.strides = strides;
  for (int i = 0; i < 5000; ++i)  // the memory of a look is given back
    REQUIRE(api()->query(f.context, f.in, 3, dims, &f.error) == 0);
  CHECK(f.out[2].items[0].tensor.shape[0] == 2);
  CHECK(static_cast<const int64_t *>(f.out[2].items[0].tensor.data)[1] == 8);
  CHECK(static_cast<float *>(f.out[0].tensor.data)[5] == -12);
}

TEST_CASE("a thread that is cancelled finishes its run") {
  Fixture f(2);
  for (int round = 0; round < 5; ++round) {
    std::vector<int64_t> x(2);
    onnxc_args a = {};
    a.rt = reinterpret_cast<onnxc_rt *>(f.context);
    std::atomic<bool> other{false}, started{false};
    pthread_t thread, caller;
    auto unit = [&](int64_t begin, int64_t end) -> int32_t {
      started = true;
      const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
      if (!pthread_equal(pthread_self(), caller))
        other = true, usleep(20000);
      while (!other && std::chrono::steady_clock::now() < last)  // the caller; a machine of one processor has no other
        std::this_thread::yield();
      for (int64_t i = begin; i < end; ++i)
        ++x[i];
      return 0;
    };
    auto call = [&] {
      caller = pthread_self();
      onnxc::parallelFor(&a, 2, 1, unit);
    };
    REQUIRE(pthread_create(&thread, nullptr, [](void *p) -> void * { return (*static_cast<decltype(call) *>(p))(), nullptr; }, &call) == 0);
    while (!started)
      usleep(100);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    CHECK(x == std::vector<int64_t>{1, 1});
  }
}

TEST_CASE("inputs that are refused") {
  Fixture f;
  int32_t want = ONNXC_E_SHAPE;
  SECTION("rank") { f.in[0].tensor.ndim = 1; }
  SECTION("negative rank") { f.in[0].tensor.ndim = -1; }
  SECTION("fixed dim") { f.xShape[1] = 4; }
  SECTION("negative dim") { f.xShape[0] = -2; }
  SECTION("symbol of two values") { f.wShape[0] = 1; }
  SECTION("overflow") { f.xShape[0] = INT64_MAX / 2; }
  SECTION("element type") { f.in[0].dtype = 11, want = ONNXC_E_DTYPE; }
  SECTION("kind") { f.in[0].kind = ONNXC_SEQUENCE, want = ONNXC_E_DTYPE; }
  SECTION("null shape") { f.in[0].tensor.shape = nullptr, want = ONNXC_E_ARGUMENT; }
  SECTION("null data") { f.in[0].tensor.data = nullptr, want = ONNXC_E_ARGUMENT; }
  SECTION("device") { f.in[0].tensor.device.type = 2, want = ONNXC_E_ARGUMENT; }
  SECTION("string without data") { f.words[1].size = 3, want = ONNXC_E_ARGUMENT; }
  SECTION("string of negative size") { f.words[0].size = -1, want = ONNXC_E_ARGUMENT; }
  SECTION("tensor for a sequence") { f.in[1] = f.items[0], want = ONNXC_E_ARGUMENT; }
  SECTION("another object for a sequence") { f.in[1].kind = ONNXC_MAP, want = ONNXC_E_ARGUMENT; }
  SECTION("unknown kind") { f.in[1].kind = 77, want = ONNXC_E_ARGUMENT; }
  SECTION("sequence without items") { f.in[1].items = nullptr, want = ONNXC_E_ARGUMENT; }
  SECTION("sequence of negative length") { f.in[1].count = -1, want = ONNXC_E_ARGUMENT; }
  SECTION("item of another type") { f.items[0].dtype = 1, want = ONNXC_E_ARGUMENT; }
  SECTION("item without a shape") { f.items[0].tensor.shape = nullptr, want = ONNXC_E_ARGUMENT; }
  SECTION("item on a device") { f.items[0].tensor.device.type = 2, want = ONNXC_E_ARGUMENT; }
  SECTION("item without data") { f.items[0].tensor.data = nullptr, want = ONNXC_E_ARGUMENT; }
  CHECK(f.run() == want);
  CHECK(f.error.code == want);
  CHECK(f.error.message[0] != 0);
}

TEST_CASE("element types are named") {
  Fixture f;
  float y[8] = {};
  std::string words;
  SECTION("of an input") { f.in[0].dtype = 11, words = "input 'x': float64, the model needs float32"; }
  SECTION("that there are not") { f.in[0].dtype = 77, words = "input 'x': 77 is no element type, the model needs float32"; }
  SECTION("of the caller's memory") {
    f.out[0] = Fixture::tensor(11, y, 2, f.yShape);
    words = "output 'y': the given tensor has rank 2 and element type float64; it needs rank 2, float32 and row-major memory";
  }
  CHECK(f.run() == ONNXC_E_DTYPE);
  CHECK(f.error.message == words);
}

TEST_CASE("null arguments") {
  Fixture f;
  CHECK(api()->run(nullptr, f.in, 3, f.out, 3, &f.error) == ONNXC_E_ARGUMENT);
  CHECK(api()->run(f.context, nullptr, 3, f.out, 3, &f.error) == ONNXC_E_ARGUMENT);
  CHECK(api()->run(f.context, f.in, 3, nullptr, 3, &f.error) == ONNXC_E_ARGUMENT);
  CHECK(api()->run(f.context, f.in, 2, f.out, 3, nullptr) == ONNXC_E_ARGUMENT);
  CHECK(api()->run(f.context, f.in, 3, f.out, 1, nullptr) == ONNXC_E_ARGUMENT);
  CHECK(api()->model_create(nullptr, nullptr, &f.error) == ONNXC_E_ARGUMENT);
  CHECK(api()->context_create(nullptr, nullptr, nullptr, &f.error) == ONNXC_E_ARGUMENT);
  CHECK(api()->query(f.context, f.in, 3, nullptr, &f.error) == ONNXC_E_ARGUMENT);
  int64_t *const none[3] = {};
  CHECK(api()->query(f.context, f.in, 3, none, &f.error) == ONNXC_E_ARGUMENT);
  api()->model_destroy(nullptr);
  api()->context_destroy(nullptr);
  api()->set_tap(nullptr, nullptr, nullptr);
}

TEST_CASE("options that are refused") {
  onnxc_error error;
  onnxc_model *model = nullptr;
  onnxc_options options = {};
  int32_t want = ONNXC_E_ARGUMENT;
  std::string words;
  options.struct_size = sizeof options;
  SECTION("struct_size") { options.struct_size = 3, words = "model_create: struct_size of the options is 3; it is sizeof(onnxc_options)"; }
  SECTION("alloc without free") {
    options.alloc = [](void *, size_t, size_t) -> void * { return nullptr; };
    words = "model_create: the options have alloc and no free";
  }
  SECTION("negative threads") { options.num_threads = -1, words = "model_create: num_threads is -1; it must not be negative"; }
  SECTION("unknown cpu") {
    options.cpu = "z80", want = ONNXC_E_CPU;
    words = "no code for z80, which is asked for: the artefact has x86-64, x86-64-v9";
  }
  SECTION("a cpu that no machine has") {
    options.cpu = "x86-64-v9", want = ONNXC_E_CPU;
    words = "this processor cannot run x86-64-v9, which is asked for: the artefact has x86-64, x86-64-v9";
  }
  CHECK(api()->model_create(&options, &model, &error) == want);
  CHECK(model == nullptr);
  CHECK(error.message == words);
}

TEST_CASE("an allocator that does not align") {
  alignas(64) static char memory[4096];
  onnxc_options options = {};
  onnxc_error error;
  onnxc_model *model = nullptr;
  options.struct_size = sizeof options;
  options.alloc = [](void *, size_t, size_t) -> void * { return memory + 16; };
  options.free = [](void *, void *) {};
  CHECK(api()->model_create(&options, &model, &error) == ONNXC_E_MEMORY);
  CHECK(std::string(error.message).find("aligned") != std::string::npos);
}

TEST_CASE("an older caller's shorter options") {
  onnxc_options options = {};
  options.struct_size = offsetof(onnxc_options, num_threads);
  options.num_threads = -5;
  onnxc_model *model = nullptr;
  REQUIRE(api()->model_create(&options, &model, nullptr) == 0);
  api()->model_destroy(model);
}

TEST_CASE("strides of no elements are not looked at") {
  Fixture f;
  int64_t strides[2] = {7, 7};
  float y[6];
  f.xShape[0] = f.wShape[0] = f.yShape[0] = 0;
  f.in[0].tensor.strides = strides;
  f.out[0] = Fixture::tensor(1, y, 2, f.yShape);
  f.out[0].tensor.strides = strides;
  CHECK(f.run() == 0);
}

TEST_CASE("shapes before a run") {
  Fixture f;
  int64_t y[2], z[1], *dims[3] = {y, z, nullptr};
  REQUIRE(api()->query(f.context, f.in, 3, dims, &f.error) == 0);
  CHECK(y[0] == 2);
  CHECK(z[0] == INT64_MIN);
}

TEST_CASE("strided and misaligned inputs are copied") {
  Fixture f;
  int64_t strides[2] = {1, 2};
  f.in[0].tensor.strides = strides;
  REQUIRE(f.run() == 0);
  CHECK(static_cast<float *>(f.out[0].tensor.data)[1] == 6);
  f.in[0].tensor.strides = nullptr;
  std::vector<char> bytes(25);
  memcpy(bytes.data() + 1, f.x.data(), 24);
  f.in[0].tensor.data = bytes.data(), f.in[0].tensor.byte_offset = 1;
  REQUIRE(f.run() == 0);
  CHECK(static_cast<float *>(f.out[0].tensor.data)[1] == 4);
}

TEST_CASE("empty inputs need no memory") {
  Fixture f;
  f.xShape[0] = f.wShape[0] = 0;
  f.in[0].tensor.data = f.in[2].tensor.data = nullptr;
  f.in[0].tensor.byte_offset = f.in[2].tensor.byte_offset = 8;
  REQUIRE(f.run() == 0);
  CHECK(f.out[0].tensor.shape[0] == 0);
}

TEST_CASE("a failing run names its node and the next one works") {
  for (int threads : {1, 3}) {
    Fixture f(threads);
    f.x[4] = 666;
    CHECK(f.run() == ONNXC_E_RUN);
    CHECK(std::string(f.error.node) == "double_1");
    f.x[4] = 1;
    CHECK(f.run() == 0);
  }
}

TEST_CASE("any number of threads gives the same bits") {
  for (int threads : {2, 3, 8, 100000}) {
    Fixture f(threads);
    for (int i = 0; i < 50; ++i) {
      REQUIRE(f.run() == 0);
      CHECK(static_cast<float *>(f.out[0].tensor.data)[4] == 10);
    }
  }
}

TEST_CASE("contexts run side by side") {
  Fixture f;
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      onnxc_context *context = nullptr;
      if (api()->context_create(f.model, nullptr, &context, nullptr))
        return;
      for (int i = 0; i < 200; ++i) {
        onnxc_value out[3] = {};
        good[t] += api()->run(context, f.in, 3, out, 3, nullptr) == 0 && static_cast<float *>(out[0].tensor.data)[2] == 6;
      }
      api()->context_destroy(context);
    });
  for (std::thread &t : threads)
    t.join();
  for (int g : good)
    CHECK(g == 200);
}

TEST_CASE("the caller's threads, also when they leave tasks out") {
  Fixture f;
  onnxc_options options = {};
  options.struct_size = sizeof options, options.num_threads = 3;
  options.parallel_for = [](void *user, int32_t tasks, void (*body)(void *, int32_t), void *arg) {
    for (int32_t i = 0; i < tasks - *static_cast<int *>(user); ++i)
      body(arg, i);
  };
  int leaveOut = 0;
  options.parallel_user = &leaveOut;
  onnxc_context *context = nullptr;
  REQUIRE(api()->context_create(f.model, &options, &context, nullptr) == 0);
  CHECK(api()->run(context, f.in, 3, f.out, 3, nullptr) == 0);
  leaveOut = 1;
  CHECK(api()->run(context, f.in, 3, f.out, 3, nullptr) == ONNXC_E_RUN);
  api()->context_destroy(context);
}

TEST_CASE("the caller's allocator gets everything back, also when it fails") {
  struct Count {
    int live = 0, left = 1 << 30;
  };
  for (int budget = 0; budget < 12; ++budget) {
    Count count;
    count.left = budget;
    onnxc_options options = {};
    options.struct_size = sizeof options, options.num_threads = 2, options.alloc_user = &count;
    options.alloc = [](void *user, size_t bytes, size_t align) -> void * {
      auto *c = static_cast<Count *>(user);
      if (c->left-- <= 0)
        return nullptr;
      ++c->live;
      return aligned_alloc(align, bytes);
    };
    options.free = [](void *user, void *p) { --static_cast<Count *>(user)->live, free(p); };
    Fixture f;
    onnxc_model *model = nullptr;
    onnxc_context *context = nullptr;
    onnxc_value out[3] = {};
    if (!api()->model_create(&options, &model, nullptr) && !api()->context_create(model, nullptr, &context, nullptr))
      api()->run(context, f.in, 3, out, 3, nullptr);
    api()->context_destroy(context);
    api()->model_destroy(model);
    CHECK(count.live == 0);
  }
}

TEST_CASE("a tap sees each launch") {
  Fixture f;
  std::string seen;
  api()->set_tap(
      f.context,
      [](void *user, const char *node, const char *, int64_t ns) {
        if (ns >= 0)
          *static_cast<std::string *>(user) += node;
      },
      &seen);
  REQUIRE(f.run() == 0);
  CHECK(seen == "double_1");
}

TEST_CASE("a launch tap sees results, operations and bytes of these shapes") {
  Fixture f;
  struct Seen {
    int launches = 0, results = 0;
    int64_t flops = 0, bytes = 0, rows = 0, columns = 0;
    float first = 0;
  } seen;
  auto look = [](void *user, const onnxc_launch *launch) {
    Seen &s = *static_cast<Seen *>(user);
    s.launches += launch->site == 0 && launch->struct_size == sizeof *launch;
    s.results = launch->num_results;
    s.flops = launch->flops, s.bytes = launch->bytes;
    s.rows = launch->results[0].tensor.shape[0], s.columns = launch->results[0].tensor.shape[1];
    s.first = static_cast<const float *>(launch->results[0].tensor.data)[0];
  };
  api()->set_launch_tap(f.context, look, &seen);
  REQUIRE(f.run() == 0);
  const float *y = static_cast<const float *>(f.out[0].tensor.data);
  CHECK(seen.launches == 1);
  CHECK(seen.results == 1);
  CHECK(seen.rows == f.out[0].tensor.shape[0]);
  CHECK(seen.columns == 3);
  CHECK(seen.flops == 3 * seen.rows);
  CHECK(seen.bytes == 24 * seen.rows + 5);
  CHECK(seen.first == y[0]);
  api()->set_launch_tap(f.context, nullptr, nullptr);
  REQUIRE(f.run() == 0);
  CHECK(seen.launches == 1);
  api()->set_launch_tap(nullptr, look, &seen);
}

namespace {

// Doubles `n` numbers through parallelFor; -1 in the place of a unit that ran not once.
int32_t sweep(onnxc_context *context, std::vector<int64_t> &x, int64_t grain, int64_t failing = -1) {
  onnxc_args a = {};
  a.rt = reinterpret_cast<onnxc_rt *>(context);
  return onnxc::parallelFor(&a, int64_t(x.size()), grain, [&](int64_t begin, int64_t end) -> int32_t {
    for (int64_t i = begin; i < end; ++i) {
      if (i == failing)
        return ONNXC_K_VALUE;
      ++x[i];
    }
    return 0;
  });
}

}  // namespace

TEST_CASE("parallelFor visits each unit once") {
  for (int threads : {1, 2, 5})
    for (int64_t n : {0, 1, 7, 1000}) {
      Fixture f(threads);
      std::vector<int64_t> x(n);
      for (int round = 1; round <= 50; ++round) {
        REQUIRE(sweep(f.context, x, 1) == 0);
        for (int64_t v : x)
          REQUIRE(v == round);
      }
    }
}

TEST_CASE("parallelFor reports a task that fails and goes on working") {
  Fixture f(3);
  std::vector<int64_t> x(100);
  CHECK(sweep(f.context, x, 1, 99) == ONNXC_K_VALUE);
  CHECK(sweep(f.context, x, 1) == 0);
}

TEST_CASE("each task has scratch of its own") {
  Fixture f(4);
  onnxc_args a = {};
  a.rt = reinterpret_cast<onnxc_rt *>(f.context);
  std::vector<int> seen(64);
  int32_t status = onnxc::parallelScratchFor(&a, 64, 1, 256, [&](void *scratch, int64_t begin, int64_t end) -> int32_t {
    memset(scratch, int(begin), 256);
    for (int64_t i = begin; i < end; ++i)
      seen[i] = static_cast<unsigned char *>(scratch)[255] == begin;
    return 0;
  });
  CHECK(status == 0);
  for (int s : seen)
    CHECK(s == 1);
}

namespace {

// How `body` ended in a child: 0 where it returned true.
template <typename Body>
int inChild(Body body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

// Whether a pool works here, in a child and in a child of that.
bool worksAfterForks() {
  Fixture f(2);
  std::vector<int64_t> x(100);
  auto sweeps = [&](int64_t round) { return sweep(f.context, x, 1) == 0 && x[99] == round; };
  bool good = sweeps(1) && inChild([&] {
                             bool child = sweeps(2) && inChild([&] { return sweeps(3); }) == 0 && sweeps(3);
                             api()->context_destroy(f.context);
                             return child;
                           }) == 0;
  return good && sweeps(2);
}

// Lets each call of `number` fail in this process.
bool forbid(uint32_t number) {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program = {4, filter};
  return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

}  // namespace

TEST_CASE("a pool works in the child of a fork") { CHECK(worksAfterForks()); }

TEST_CASE("a pool works in the child of a fork where no page tells of one") {
  CHECK(inChild([] { return !forbid(SYS_madvise) || worksAfterForks(); }) == 0);
}

TEST_CASE("what is known of launches") {
  onnxc_profile_row row;
  REQUIRE(api()->site(1, &row) == 0);
  CHECK(std::string(row.node) == "keep_2");
  CHECK(row.flops == -1);
  CHECK(row.calls == 0);
  CHECK(api()->site(2, &row) == ONNXC_E_ARGUMENT);
  CHECK(api()->site(-1, &row) == ONNXC_E_ARGUMENT);
  CHECK(api()->site(0, nullptr) == ONNXC_E_ARGUMENT);
}

TEST_CASE("a new context tells the caller's log what it runs on") {
  std::string text;
  onnxc_options options = {};
  options.struct_size = sizeof options, options.log_user = &text;
  options.log = [](void *user, const char *line) { *static_cast<std::string *>(user) += line; };
  onnxc_model *model = nullptr;
  onnxc_context *context = nullptr;
  REQUIRE(api()->model_create(&options, &model, nullptr) == 0);
  REQUIRE(api()->context_create(model, nullptr, &context, nullptr) == 0);
  CHECK(text == "fake: code for x86-64, 1 thread(s)");
  api()->context_destroy(context);
  api()->model_destroy(model);
}
