// FastTree.cpp: TreeEnsembleRegressor and TreeEnsembleClassifier on forests that the compiler packed (PackedForest.h). Several walks run
// side by side, rows of one tree or trees of one row; small trees are read as masks, for vectors of rows. Sums are of the input's type, in
// the order of the trees, as other runtimes make them: votes of equally many trees then fall to the same class. Oracle: MlTree.cpp.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/MlTree.h"
#include "runtime_stub/kernels/PackedForest.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Transpose.h"

namespace onnxc {
namespace {

constexpr int kWalks = 16;
constexpr int64_t kRowBlock = 32;

// Of a number that need not be a float: of the least float that is not below it, since all tests are x <= split.
ONNXC_INLINE uint32_t keyOfNumber(float x) { return keyOf(__builtin_bit_cast(uint32_t, x)); }
ONNXC_INLINE uint32_t keyOfNumber(double x) { return keyOfNumber(float(x)) + (double(float(x)) < x); }

// T: the input's element type, in which sums are made.
template <class T>
struct Walker {
  const PackedHeader *header;
  const PackedTree *trees;
  const int32_t *byDepth;
  const PackedNode *nodes;
  const PackedEntry *entries;
  const int32_t *masks;  // null: none
  Fold fold;
  int64_t targets, stride;  // stride: between the scores of rows
  int64_t steps;            // of one row through all trees
  T *score;
  bool *hit;
  double *row;      // the scores of one row, for what finishes them
  uint32_t *keys;   // of the rows of a block
  uint32_t *found;  // of each tree the word of the leaf where a row's walk ends
  T *turned;        // the rows of a block, [column][row], where there are masks

  int64_t turnedCount() const { return masks ? kRowBlock * header->features : 0; }
  int64_t blockBytes() const {
    return stride * int64_t(sizeof(double)) + (kRowBlock * stride + turnedCount()) * int64_t(sizeof(T)) +
           (kRowBlock * header->columns + header->trees) * 4 + kRowBlock * stride;
  }
  void placeIn(void *scratch) {
    row = static_cast<double *>(scratch), score = reinterpret_cast<T *>(row + stride);
    turned = score + kRowBlock * stride;
    keys = reinterpret_cast<uint32_t *>(turned + turnedCount());
    found = keys + kRowBlock * header->columns;
    hit = reinterpret_cast<bool *>(found + header->trees);
  }
  int32_t open(const Args *a, const Attr &forest) {
    const int32_t *words = static_cast<const int32_t *>(static_cast<const Tensor *>(forest.p)->data);
    header = reinterpret_cast<const PackedHeader *>(words);
    trees = reinterpret_cast<const PackedTree *>(header + 1);
    byDepth = reinterpret_cast<const int32_t *>(trees + header->trees);
    nodes = reinterpret_cast<const PackedNode *>(byDepth + header->trees);
    entries = reinterpret_cast<const PackedEntry *>(nodes + header->nodes);
    masks = header->masks && sizeof(T) == 4 ? reinterpret_cast<const int32_t *>(entries + header->entries) : nullptr;
    stride = targets + 2;  // a classifier may add a second score
    steps = 0;
    for (int32_t t = 0; t < header->trees; ++t)
      steps += trees[t].depth;
    if (header->features > columnsOf(a->in[0]))
      return ONNXC_K_VALUE;
    return header->targets > targets ? ONNXC_K_INDEX : ONNXC_K_OK;
  }

  void setKeys(const T *x, uint32_t *to) const {
    int32_t n = header->features;
    bool twice = header->columns > n + 1;
    to[header->columns - 1] = 0;
    if constexpr (sizeof(T) == 4)
      if (n >= 16) {
        for (int32_t first = 0; first < n; first += 16) {
          int32_t c = minOf(first, n - 16);
          v16 v = *(const v16 *)(x + c);
          i32x16 key = keysOf(__builtin_bit_cast(i32x16, v));
          *(i32x16 *)(to + c) = v == v ? key : -1;
          if (twice)
            *(i32x16 *)(to + n + c) = v == v ? key : 0;
        }
        return;
      }
    for (int32_t c = 0; c < n; ++c) {
      uint32_t key = keyOfNumber(x[c]);
      to[c] = x[c] == x[c] ? key : ~0u;
      if (twice)
        to[n + c] = x[c] == x[c] ? key : 0;
    }
  }
  // The keys that the nodes read, where there are few of them.
  bool readsFew() const { return int64_t(header->nodes) * 8 < header->features; }
  void setKeysOfNodes(const T *x, uint32_t *to) const {
    int32_t n = header->features, mask = (1 << header->columnBits) - 1;
    to[header->columns - 1] = 0;
    for (int32_t i = 0; i < header->nodes; ++i)
      if (int32_t c = nodes[i].link & mask; c < header->columns - 1) {
        const T v = x[c < n ? c : c - n];
        to[c] = v == v ? keyOfNumber(v) : c < n ? ~0u : 0;
      }
  }
  // N walks side by side: of one row from several roots, or of several rows from one. Leaves turn round on themselves, so that walks need
  // not end together.
  template <int N>
  ONNXC_INLINE void walk(const PackedNode *nodes, int32_t columnBits, const uint32_t *const *x, uint32_t *at, int32_t depth) {
    uint32_t mask = (1u << columnBits) - 1;
    for (int32_t d = 0; d < depth; ++d)
      unroll<0, N>([&](auto i) {
        const PackedNode &n = nodes[at[i.value]];
        at[i.value] += uint32_t(n.link >> columnBits) + (n.key < x[i.value][uint32_t(n.link) & mask]);
      });
  }
  // Whether a leaf's word is what its tree adds to its target.
  bool sums() const { return header->plain && fold != Fold::Min && fold != Fold::Max; }
  void give(int64_t row, int32_t tree, uint32_t word) {
    if (header->plain) {
      int64_t target = row * stride + trees[tree].target;
      return foldIn(fold, T(__builtin_bit_cast(float, word)), score[target], hit[target]);
    }
    for (int32_t e = int32_t(word); e >= 0; ++e) {
      int64_t target = row * stride + (entries[e].target >> 1);
      foldIn(fold, T(entries[e].value), score[target], hit[target]);
      if (entries[e].target & 1)
        break;
    }
  }
  // Sums of many trees of one target stay in a register.
  void giveAll(int64_t row) {
    int32_t n = header->trees;
    for (int32_t t = 0; t < n;) {
      give(row, t, found[t]);
      int32_t target = trees[t++].target;
      if (!sums())
        continue;
      T &to = score[row * stride + target], sum = to;
      for (; t < n && trees[t].target == target; ++t)
        sum += T(__builtin_bit_cast(float, found[t]));
      to = sum;
    }
  }
  // N trees of one row, by depth from `first` on.
  template <int N>
  void walkTrees(const uint32_t *x, int32_t first) {
    int32_t n = minOf(header->trees - first, N);
    const uint32_t *rows[N];
    uint32_t at[N];
    for (int32_t i = 0; i < N; ++i)
      rows[i] = x, at[i] = uint32_t(trees[byDepth[first + minOf(i, n - 1)]].root);
    walk<N>(nodes, header->columnBits, rows, at, trees[byDepth[first + n - 1]].depth);
    for (int32_t i = 0; i < n; ++i)
      found[byDepth[first + i]] = nodes[at[i]].key;
  }
  void scoreRow(const uint32_t *x, int64_t row) {
    int32_t t = 0;
    for (; t + kWalks / 2 <= header->trees; t += kWalks)
      walkTrees<kWalks>(x, t);
    for (; t < header->trees; t += kWalks / 4)
      walkTrees<kWalks / 4>(x, t);
    giveAll(row);
  }
  // N rows of one tree.
  template <int N>
  void walkRows(int32_t tree, int64_t first, int64_t end) {
    const uint32_t *rows[N];
    uint32_t at[N];
    for (int i = 0; i < N; ++i)
      rows[i] = keys + minOf(first + i, end - 1) * header->columns, at[i] = uint32_t(trees[tree].root);
    walk<N>(nodes, header->columnBits, rows, at, trees[tree].depth);
    for (int64_t i = 0; i < N && first + i < end; ++i)
      give(first + i, tree, nodes[at[i]].key);
  }
  // Where walks of N times 16 rows of a tree end, among its leaves: the first that its tests leave, in the first 32 where one is left.
  // counts: of the tests that concern each 32 leaves.
  template <int N>
  ONNXC_INLINE void findLeaves(const T *turned, const int32_t *counts, int32_t leaves, const PackedTest *test, int32_t *leaf) {
    for (int32_t first = 0; first < leaves; first += 32) {
      u32x16 left[N];
      for (u32x16 &l : left)
        l = ~0u;
      for (const PackedTest *end = test + *counts++; test < end; ++test)
        unroll<0, N>([&](auto i) {
          v16 x = *(const v16 *)(turned + test->column * kRowBlock + 16 * i.value);
          left[i.value] &= test->keep | ~__builtin_bit_cast(u32x16, x > test->split);
        });
      unroll<0, N>([&](auto i) {  // the exponent of a power of two is its place
        i32x16 lowest = __builtin_bit_cast(i32x16, left[i.value] & -left[i.value]);
        i32x16 at = (__builtin_bit_cast(i32x16, __builtin_convertvector(lowest, v16)) >> 23 & 0xff) - 127 + first;
        i32x16 *to = (i32x16 *)(leaf + 16 * i.value), found = first ? *to : i32x16(leaves);
        *to = ((found < first) | (lowest == 0)) ? found : at;
      });
    }
  }
  // The columns that tests read, of rows [0, n) of a block; others are those of the last row.
  void turn(const T *x, int64_t columns, int64_t n) {
    auto at = [=](int64_t r) { return x + minOf(r, n - 1) * columns; };
    auto turnColumn = [&](int64_t c) {
      for (int64_t r = 0; r < kRowBlock; ++r)
        turned[c * kRowBlock + r] = at(r)[c];
    };
    constexpr int64_t tile = 16;
    if (header->tests * 6 < header->features)
      return eachTest([&](const PackedTest &test) { turnColumn(test.column); });
    if constexpr (sizeof(T) == 4)
      if (header->features >= tile) {
        for (int64_t r = 0; r < n; r += tile)
          for (int64_t first = 0; first < header->features; first += tile) {
            int64_t c = minOf(first, header->features - tile);
            Row16 square[tile];
            unroll<0, tile>([&](auto i) { square[i.value] = *(const v16 *)(at(r + i.value) + c); });
            transpose(square);
            unroll<0, tile>([&](auto i) { *(v16 *)(turned + (c + i.value) * kRowBlock + r) = square[i.value]; });
          }
        return;
      }
    for (int64_t c = 0; c < header->features; ++c)
      turnColumn(c);
  }
  template <class F>
  void eachTest(const F &f) {
    const int32_t *at = masks;
    for (int32_t t = 0; t < header->trees; ++t) {
      int32_t leaves = *at++, groups = (leaves + 31) / 32, all = 0;
      for (int32_t g = 0; g < groups; ++g)
        all += *at++;
      const PackedTest *test = reinterpret_cast<const PackedTest *>(at);
      for (int32_t i = 0; i < all; ++i)
        f(test[i]);
      at = reinterpret_cast<const int32_t *>(test + all) + leaves;
    }
  }
  // All trees for rows [0, n) of a block.
  void scoreMasked(const T *x, int64_t columns, int64_t n) {
    turn(x, columns, n);
    const int32_t *at = masks;
    for (int32_t t = 0; t < header->trees; ++t) {
      int32_t count = *at++, groups = (count + 31) / 32, all = 0, leaf[kRowBlock];
      for (int32_t g = 0; g < groups; ++g)
        all += at[g];
      const PackedTest *test = reinterpret_cast<const PackedTest *>(at + groups);
      n > 16 ? findLeaves<2>(turned, at, count, test, leaf) : findLeaves<1>(turned, at, count, test, leaf);
      const int32_t *leaves = reinterpret_cast<const int32_t *>(test + all);
      at = leaves + count;
      if (!sums()) {
        for (int64_t r = 0; r < n; ++r)
          give(r, t, uint32_t(leaves[leaf[r]]));
        continue;
      }
      int64_t target = trees[t].target;
      bool first = !hit[target];  // of all rows alike
      for (int64_t r = 0; r < n; ++r) {
        T &s = score[r * stride + target], v = T(__builtin_bit_cast(float, leaves[leaf[r]]));
        s = first ? v : s + v;
      }
      for (int64_t r = 0; first && r < n; ++r)
        hit[r * stride + target] = true;
    }
  }
  // Whether all tests of the trees take less time than walks of n rows, in 0.05 ns on a Zen 4 at either width: a step takes 0.55 ns where
  // the rows of a tree are walked together and 0.65 where the trees of a row are, and a tree 2 more for its leaf; a test takes 0.8 for 16
  // rows and 1.5 for 32, and a tree 10 and 0.9 or 2 for each row more.
  bool gainsByMasks(int64_t n) const {
    int64_t left = n % kWalks, walks = (n - left) * 11 * steps + left * 13 * steps + n * 40 * header->trees;
    int64_t test = n > 16 ? 30 : 16, row = header->plain ? 18 : 40;
    return masks && walks > test * header->tests + (200 + row * n) * header->trees;
  }
  static bool isClean(const T *x, int64_t n) {
    int64_t i = 0;
    i32x16 strange = i32x16(0);
    if constexpr (sizeof(T) == 4)
      for (; i + 16 <= n; i += 16)
        strange |= *(const v16 *)(x + i) != *(const v16 *)(x + i);
    bool clean = __builtin_reduce_or(strange) == 0;
    for (; i < n; ++i)
      clean &= x[i] == x[i];
    return clean;
  }
  // All trees for rows [0, n) of a block: one tree after the other stays in the cache for all of them.
  void scoreRows(const T *x, int64_t columns, int64_t n) {
    memset(score, 0, size_t(kRowBlock * stride) * sizeof(T));
    memset(hit, 0, size_t(kRowBlock * stride));
    if constexpr (sizeof(T) == 4)
      if (gainsByMasks(n) && isClean(x, n * columns))
        return scoreMasked(x, columns, n);
    bool few = readsFew();
    for (int64_t r = 0; r < n; ++r)
      few ? setKeysOfNodes(x + r * columns, keys + r * header->columns) : setKeys(x + r * columns, keys + r * header->columns);
    // Rows that are left walk through several trees at once, where there are as many.
    int64_t together = header->trees < kWalks ? n : n - n % kWalks;
    for (int32_t t = 0; t < header->trees; ++t) {
      int64_t r = 0;
      for (; r + kWalks / 2 <= together; r += kWalks)
        walkRows<kWalks>(t, r, together);
      for (; r < together; r += kWalks / 4)
        walkRows<kWalks / 4>(t, r, together);
    }
    for (int64_t r = together; r < n; ++r)
      scoreRow(keys + r * header->columns, r);
  }
};

// finish(row, score, hit) takes the scores of each row, which are the results where these are `sums`; blocks of rows run side by side.
template <class T, class Finish>
int32_t eachRow(const Args *a, const Walker<T> &walker, float *sums, const Finish &finish) {
  constexpr int64_t stepWork = 4, rowWork = 12, columnWork = 4;  // a number of the input takes a quarter of an operation
  int64_t rows = rowsOf(a->in[0]), columns = columnsOf(a->in[0]), blocks = (rows + kRowBlock - 1) / kRowBlock;
  int64_t grain =
      grainOf(minOf(rows, kRowBlock) * (walker.steps * stepWork + walker.stride * rowWork + walker.header->features / columnWork));
  return parallelScratchFor(a, blocks, grain, walker.blockBytes(), [=, &finish](void *scratch, int64_t begin, int64_t end) -> int32_t {
    Walker<T> w = walker;
    w.placeIn(scratch);
    for (int64_t r = begin * kRowBlock; r < minOf(rows, end * kRowBlock); r += kRowBlock) {
      int64_t n = minOf(kRowBlock, rows - r);
      const T *x = in<T>(a, 0) + r * columns;
      w.scoreRows(x, columns, n);
      for (int64_t i = 0; sums && i < n; ++i)
        for (int64_t t = 0; t < w.targets; ++t)
          sums[(r + i) * w.targets + t] = float(w.score[i * w.stride + t]);
      for (int64_t i = 0; !sums && i < n; ++i) {
        for (int64_t t = 0; t < w.stride; ++t)
          w.row[t] = double(w.score[i * w.stride + t]);
        finish(r + i, w.row, w.hit + i * w.stride);
      }
    }
    return ONNXC_K_OK;
  });
}

enum { Base, BaseTensor, PostTransform };

template <class T>
int32_t regress(const Args *a) {
  enum { Aggregate = 3, Targets, Trees };
  Walker<T> w;
  Post post;
  w.targets = a->attr[Targets].i > 0 ? a->attr[Targets].i : 1;
  w.fold = readFold(text(a->attr[Aggregate]));
  if (!readPost(text(a->attr[PostTransform]), post))
    return ONNXC_K_VALUE;
  ONNXC_TRY(w.open(a, a->attr[Trees]));
  if (onnxc_count(a->out[0]) != rowsOf(a->in[0]) * w.targets)
    return ONNXC_K_SHAPE;
  Reals base{a->attr[Base], a->attr[BaseTensor]};
  float *y = out<float>(a, 0);
  const bool plain = post == Post::None && base.count() == 0 && w.fold != Fold::Average;
  return eachRow(a, w, plain ? y : nullptr, [&](int64_t row, double *score, bool *) {
    for (int64_t t = 0; t < w.targets; ++t) {
      if (w.fold == Fold::Average)
        score[t] /= double(w.header->trees);
      if (t < base.count())
        score[t] += base[t];
    }
    transform(score, w.targets, post);
    for (int64_t t = 0; t < w.targets; ++t)
      y[row * w.targets + t] = float(score[t]);
  });
}

template <class T>
int32_t classify(const Args *a) {
  enum { Integers = 3, Words, Trees };
  Labels labels{a->attr[Integers], a->attr[Words]};
  Walker<T> w;
  Post post;
  w.targets = labels.count();
  w.fold = Fold::Sum;
  if (w.targets < 1 || !readPost(text(a->attr[PostTransform]), post))
    return ONNXC_K_VALUE;
  ONNXC_TRY(w.open(a, a->attr[Trees]));
  Binary binary;
  binary.single = w.header->single && w.targets == 2;
  binary.positive = w.header->positive;
  Reals base{a->attr[Base], a->attr[BaseTensor]};
  int64_t rows = rowsOf(a->in[0]), width = onnxc_count(a->out[1]) / (rows ? rows : 1);
  float *y = out<float>(a, 1);
  return eachRow(a, w, nullptr, [&](int64_t row, double *score, bool *hit) {
    Decision d = decide(score, hit, w.targets, base, binary);
    labels.give(a, row, d.label);
    int64_t n = finishScores(score, d.scores, post, d.second);
    for (int64_t t = 0; t < width; ++t)
      y[row * width + t] = t < n ? float(score[t]) : 0;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMlTreeEnsembleRegressor_f32(const onnxc_args *a) { return onnxc::regress<float>(a); }
extern "C" int32_t onnxc_k_FastMlTreeEnsembleRegressor_f64(const onnxc_args *a) { return onnxc::regress<double>(a); }
extern "C" int32_t onnxc_k_FastMlTreeEnsembleClassifier_f32(const onnxc_args *a) { return onnxc::classify<float>(a); }
extern "C" int32_t onnxc_k_FastMlTreeEnsembleClassifier_f64(const onnxc_args *a) { return onnxc::classify<double>(a); }
