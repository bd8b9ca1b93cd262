// BytesTest.cpp: the tiles of runtime_stub/kernels/IntegerTile.h and BlockDigits.h, each instruction set's that this processor has, against
// plain sums: an artefact's tests reach those of its own processor alone.
#include "runtime_stub/kernels/BlockDigits.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

extern "C" const int32_t onnxc_vector_bits = 512;
extern "C" int32_t onnxc_rt_dots(onnxc_rt *) { return 0; }

using namespace onnxc;
namespace {
std::mt19937 rng(1);
int32_t between(int32_t low, int32_t high) { return std::uniform_int_distribution<int32_t>(low, high)(rng); }
int32_t normal(double deviation, int32_t low, int32_t high) {
  return std::clamp(int32_t(std::lround(std::normal_distribution<double>(0, deviation)(rng))), low, high);
}

// kRows rows of two segments, and a panel in each of the two shapes that kernels have.
struct Case {
  int64_t quads;
  uint32_t flip;
  PanelShape shape;
  std::vector<uint8_t> rows;
  std::vector<int8_t> panel;
  Segment segments[2];
  const uint8_t *at[kRows];

  template <class Left, class Right>
  Case(int64_t first, int64_t second, bool flipped, bool blocked, const Left &left, const Right &right)
      : quads(first + second), flip(flipped ? 0x80808080u : 0), segments{{16, first}, {32 + 4 * first, second}} {
    if (blocked)
      shape = PanelShape{64, 64 * quads};
    int64_t stride = 48 + 4 * quads;
    for (int64_t i = 0; i < kRows * stride; ++i)
      rows.push_back(uint8_t(left()) ^ uint8_t(flip));
    for (int64_t i = 0; i < quads * 4 * kColumns; ++i)
      panel.push_back(int8_t(right()));
    for (int64_t i = 0; i < kRows; ++i)
      at[i] = rows.data() + i * stride;
  }
  Depth depth() const { return {segments, 2, flip, shape, {}}; }
  std::vector<int32_t> sums() const {
    std::vector<int32_t> c(kRows * kColumns);
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t n = 0; n < kColumns; ++n) {
        int64_t q = 0;
        for (const Segment &s : segments)
          for (int64_t k = 0; k < 4 * s.quads; ++k, q += k % 4 == 0)
            c[i * kColumns + n] +=
                int32_t(at[i][s.offset + k] ^ uint8_t(flip)) * panel[q * shape.quadBytes + n / 16 * shape.partBytes + n % 16 * 4 + k % 4];
      }
    return c;
  }
};

// Gives the number of cases that tileWords() took.
template <class Left, class Right>
int check(const Left &left, const Right &right) {
  rng.seed(1);
  int inWords = 0;
  bool dots = __builtin_cpu_supports("avx512vnni"), narrow = __builtin_cpu_supports("avxvnni");
  for (auto [first, second] : {std::pair<int64_t, int64_t>{1, 0}, {4, 4}, {3, 6}, {16, 33}, {140, 200}})
    for (bool flip : {false, true})
      for (bool blocked : {false, true}) {
        Case c(first, second, flip, blocked, left, right);
        INFO("quads " << first << " + " << second << ", flip " << flip << ", blocked " << blocked);
        std::vector<int32_t> want = c.sums(), got(want.size());
        Depth d = c.depth();
        tilePairs<kRows>(c.at, d, c.panel.data(), got.data(), kColumns);
        CHECK(got == want);
        for (auto [rows, tile] : {std::pair{1, &tileOf<1>}, {2, &tileOf<2>}, {4, &tileOf<4>}, {5, &tileOf<5>}, {6, &tileOf<6>}}) {
          std::fill(got.begin(), got.end(), 0);
          tile(false, c.at, d, c.panel.data(), got.data(), kColumns);
          CHECK(std::equal(want.begin(), want.begin() + rows * kColumns, got.begin()));
        }
        PanelLimits limits;
        d.limits = limits.find(false, 4 * kRows, c.panel.data(), c.quads, c.shape, kColumns);
        REQUIRE(d.limits.of);
        std::fill(got.begin(), got.end(), 0);
        const bool words = flip ? tileWords<true>(c.at, d, c.panel.data(), got.data(), kColumns)
                                : tileWords<false>(c.at, d, c.panel.data(), got.data(), kColumns);
        CHECK((!words || got == want));
        inWords += words;
        for (int64_t columns : {16, 32, 48}) {
          std::fill(got.begin(), got.end(), 0);
          tileOf<kRows>(false, c.at, d, c.panel.data(), got.data(), columns);
          for (int64_t i = 0; i < kRows; ++i)
            CHECK(std::equal(got.begin() + i * kColumns, got.begin() + i * kColumns + columns, want.begin() + i * kColumns));
        }
        if (narrow) {
          std::fill(got.begin(), got.end(), 0);
          flip ? tileDots256<kRows, true>(c.at, d, c.panel.data(), got.data(), kColumns)
               : tileDots256<kRows, false>(c.at, d, c.panel.data(), got.data(), kColumns);
          CHECK(got == want);
        }
        if (dots) {
          std::fill(got.begin(), got.end(), 0);
          tileOf<kRows>(true, c.at, d, c.panel.data(), got.data(), kColumns);
          CHECK(got == want);
        }
      }
  return inWords;
}

// Rows and columns of `groups` groups; a block is a part of a group or some whole ones.
template <int BITS>
struct Digits {
  std::vector<float> x, scales;
  std::vector<uint8_t> bytes, zeros;
  int64_t groups, block, depth = groups * kGroup<BITS>;

  Digits(int64_t rows, int64_t groups, int64_t block) : groups(groups), block(block) {
    rng.seed(1);
    for (int64_t i = 0; i < rows * depth; ++i)
      x.push_back(float(std::normal_distribution<double>()(rng)));
    for (int64_t i = 0; i < kDigitColumns * groups * 64; ++i)
      bytes.push_back(uint8_t(between(0, 255)));
    for (int64_t i = 0; i < kDigitColumns * blocks(); ++i)
      scales.push_back(float(between(1, 100)) / 100), zeros.push_back(uint8_t(between(0, 255)));
  }
  int64_t blocks() const { return depth / block; }
  int64_t zeroBytes() const { return (blocks() * BITS + 7) / 8; }
  static int64_t part(const uint8_t *from, int64_t i) { return BITS == 8 ? from[i] : from[i / 2] >> (i % 2 * 4) & 15; }
  double value(int64_t column, int64_t k) const {
    int64_t b = k / block, zero = zeros.empty() ? 1 << (BITS - 1) : part(zeros.data() + column * zeroBytes(), b);
    return double(part(bytes.data() + column * groups * 64, k) - zero) * double(scales[size_t(column * blocks() + b)]);
  }
  DigitColumns columns() const {
    return {bytes.data(), zeros.empty() ? nullptr : zeros.data(),     scales.data(),
            groups,       std::max<int64_t>(1, block / kGroup<BITS>), blocks(),
            zeroBytes()};
  }
};

// The largest error of ROWS rows, of the sums of magnitudes.
template <int BITS, int DIGITS, int ROWS, class Total, class Products>
double worst(const Digits<BITS> &d, const Total &total, const Products &products) {
  std::vector<char> room[ROWS];
  DigitRow<BITS, DIGITS> rows[ROWS];
  for (int64_t r = 0; r < ROWS; ++r) {
    room[r].resize(size_t(rows[r].bytes(d.groups)));
    rows[r].place(room[r].data(), d.groups);
    REQUIRE(splitRow(d.x.data() + r * d.depth, d.groups, std::clamp<int64_t>(d.block, 32, 128), rows[r]));
    total(rows[r], d.groups);
  }
  float lanes[ROWS * kDigitColumns * 16];
  products(rows, d.columns(), lanes);
  double far = 0;
  for (int64_t r = 0; r < ROWS; ++r)
    for (int64_t c = 0; c < kDigitColumns; ++c) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < d.depth; ++k) {
        double one = double(d.x[size_t(r * d.depth + k)]) * d.value(c, k);
        sum += one, size += std::abs(one);
      }
      far = std::max(far, std::abs(double(laneSum(*(const v16 *)(lanes + (r * kDigitColumns + c) * 16))) - sum) / size);
    }
  return far;
}

template <int BITS, int DIGITS, int SCALES, int ROWS = 1>
void checkDigits(int64_t groupsOfScale = 1) {
  constexpr double most = DIGITS == 3 ? 3e-7 : DIGITS == 2 ? 5e-5 : 6e-3;
  for (int64_t groups : {1, 2, 7, -7}) {
    Digits<BITS> d(ROWS, std::abs(groups) * groupsOfScale, kGroup<BITS> / SCALES * groupsOfScale);
    if (groups < 0)
      d.zeros.clear();
    if constexpr (BITS == 4)
      CHECK(worst<BITS, DIGITS, ROWS>(d, totalPairs<BITS, DIGITS>, digitPairs<BITS, DIGITS, SCALES, ROWS>) <= most);
    if (__builtin_cpu_supports("avxvnni"))
      CHECK(worst<BITS, DIGITS, ROWS>(d, totalDots256<BITS, DIGITS>, digitDots256<BITS, DIGITS, SCALES, ROWS>) <= most);
    if (__builtin_cpu_supports("avx512vnni"))
      CHECK(worst<BITS, DIGITS, ROWS>(d, totalDots<BITS, DIGITS>, digitDots<BITS, DIGITS, SCALES, ROWS>) <= most);
  }
}
}  // namespace

TEST_CASE("tiles of the largest bytes are exact") {
  for (int32_t byte : {127, -127, -128})
    check([] { return 255; }, [=] { return byte; });
  check([] { return 255; }, [] { return between(0, 1) ? 127 : -128; });
}
TEST_CASE("tiles of any bytes are exact") {
  check([] { return between(0, 255); }, [] { return between(-128, 127); });
}
TEST_CASE("tiles whose sums of two products are the most that 16 bits hold, or one byte more, are exact") {
  for (int32_t sum = 128; sum <= 256; ++sum)
    for (int32_t more : {0, 1})
      for (int32_t sign : {sum <= 254 ? 1 : -1, -1}) {
        bool second = false;
        check([=] { return std::min(INT16_MAX / sum + more, 255); },
              [=, &second] { return sign * ((second = !second) ? sum / 2 : sum - sum / 2); });
      }
}
TEST_CASE("tiles of weights that are mostly zero are exact") {
  int64_t next = 0;
  CHECK(check([] { return between(0, 120); }, [&next] { return next++ / (4 * kColumns) % 3 ? 0 : between(-128, 127); }) == 20);
}
TEST_CASE("tiles of few large bytes are exact") {
  CHECK(check([] { return normal(25, 0, 255); }, [] { return normal(42, -128, 127); }) == 20);
  CHECK(check([] { return between(0, 600) ? between(0, 127) : 255; }, [] { return between(0, 1) ? 127 : -128; }) >= 8);
}
TEST_CASE("products of digits are as exact as their number says") {
  checkDigits<4, 2, 1>(), checkDigits<4, 2, 2>(), checkDigits<4, 2, 4>();
  checkDigits<4, 3, 1>(), checkDigits<4, 3, 2>(), checkDigits<4, 3, 4>();
  checkDigits<8, 2, 1>(), checkDigits<8, 2, 2>(), checkDigits<8, 2, 4>(), checkDigits<8, 3, 1>(), checkDigits<8, 3, 4>();
  checkDigits<4, 3, 1>(2), checkDigits<8, 3, 1>(2), checkDigits<8, 2, 1>(4);
  checkDigits<4, 1, 1, 2>(), checkDigits<4, 1, 4, 3>(), checkDigits<4, 1, 2, 4>(), checkDigits<4, 1, 8, 4>(), checkDigits<8, 1, 1, 4>(),
      checkDigits<8, 1, 2, 2>(), checkDigits<8, 1, 1, 3>(2);
}
