// FastTree.cpp: TreeEnsembleRegressor and TreeEnsembleClassifier on forests that the compiler packed (PackedForest.h). Several walks run
// side by side, rows of one tree or trees of one row; small trees are read as masks, for vectors of rows. Sums are of the input's type, in
// the order of the trees, as other runtimes make them: votes of equally many trees then fall to the same class. Oracle: MlTree.cpp.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/MlTree.h"
#include "runtime_stub/kernels/PackedForest.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {
namespace {

constexpr int kWalks = 16;
constexpr int64_t kRowBlock = 32;
typedef uint32_t Leaves __attribute__((ext_vector_type(16)));

// T: the input's element type, in which sums are made.
template <class T>
struct Walker {
  const PackedHeader *header;
  const int32_t *trees;  // root and depth of each
  const PackedNode *nodes;
  const PackedEntry *entries;
  const int32_t *masks;  // null: none
  Fold fold;
  int64_t targets, stride;  // stride: between the scores of rows
  int64_t steps;            // of one row through all trees
  T *score;
  bool *hit;
  double *row;  // the scores of one row, for what finishes them
  T *turned;    // the rows of a block, [column][row], where there are masks

  int64_t blockBytes() const {
    int64_t columns = masks ? kRowBlock * header->features : 0;
    return stride * int64_t(sizeof(double)) + (kRowBlock * stride + columns) * int64_t(sizeof(T)) + kRowBlock * stride;
  }
  void placeIn(void *scratch) {
    row = static_cast<double *>(scratch), score = reinterpret_cast<T *>(row + stride);
    turned = score + kRowBlock * stride;
    hit = reinterpret_cast<bool *>(turned + (masks ? kRowBlock * header->features : 0));
  }
  int32_t open(const Args *a, const Attr &forest) {
    const int32_t *words = static_cast<const int32_t *>(static_cast<const Tensor *>(forest.p)->data);
    header = reinterpret_cast<const PackedHeader *>(words);
    trees = words + sizeof(PackedHeader) / 4;
    nodes = reinterpret_cast<const PackedNode *>(trees + 2 * header->trees);
    entries = reinterpret_cast<const PackedEntry *>(nodes + header->nodes);
    masks = header->masks && sizeof(T) == 4 ? reinterpret_cast<const int32_t *>(entries + header->entries) : nullptr;
    stride = targets + 2;  // a classifier may add a second score
    steps = 0;
    for (int32_t t = 0; t < header->trees; ++t)
      steps += trees[2 * t + 1];
    if (header->features > columnsOf(a->in[0]))
      return ONNXC_K_VALUE;
    return header->targets > targets ? ONNXC_K_INDEX : ONNXC_K_OK;
  }

  // Leaves turn round on themselves, so that walks need not end together. `Clean`: no NaN is met.
  template <bool Clean>
  ONNXC_INLINE void walk(const T *const *x, uint32_t *at, int32_t depth, const PackedNode *nodes) {
    for (int32_t d = 0; d < depth; ++d)
      unroll<0, kWalks>([&](auto i) {
        const PackedNode &n = nodes[at[i.value]];
        T v = x[i.value][uint32_t(n.feature) >> 1], split = T(n.split);
        bool second = Clean ? v > split : !((v <= split) | ((v != v) & (n.feature & 1)));
        at[i.value] = uint32_t(n.child) + second;
      });
  }
  void give(int64_t row, uint32_t leaf) {
    for (int32_t e = nodes[leaf].entry; e >= 0; ++e) {
      int64_t target = row * stride + (entries[e].target >> 1);
      foldIn(fold, T(entries[e].value), score[target], hit[target]);
      if (entries[e].target & 1)
        break;
    }
  }
  // Trees of one row.
  template <bool Clean>
  void scoreRow(const T *x, int64_t row) {
    const T *rows[kWalks];
    uint32_t at[kWalks];
    for (const T *&r : rows)
      r = x;
    for (int32_t t = 0; t < header->trees; t += kWalks) {
      int32_t n = header->trees - t < kWalks ? header->trees - t : kWalks, depth = 0;
      for (int32_t i = 0; i < kWalks; ++i) {
        const int32_t *tree = trees + 2 * (t + (i < n ? i : 0));
        at[i] = uint32_t(tree[0]);
        depth = tree[1] > depth ? tree[1] : depth;
      }
      walk<Clean>(rows, at, depth, nodes);
      for (int32_t i = 0; i < n; ++i)
        give(row, at[i]);
    }
  }
  // Where walks of N times 16 rows of a tree end, among its leaves: the first that its tests leave, in the first 32 where one is left.
  // counts: of the tests that concern each 32 leaves.
  template <int N>
  ONNXC_INLINE void findLeaves(const T *turned, const int32_t *counts, int32_t leaves, const PackedTest *test, int32_t *leaf) {
    for (int32_t first = 0; first < leaves; first += 32) {
      Leaves left[N];
      for (Leaves &l : left)
        l = ~0u;
      for (const PackedTest *end = test + *counts++; test < end; ++test)
        unroll<0, N>([&](auto i) {
          v16 x = *(const v16 *)(turned + test->column * kRowBlock + 16 * i.value);
          left[i.value] &= test->keep | ~__builtin_bit_cast(Leaves, x > test->split);
        });
      unroll<0, N>([&](auto i) {  // the exponent of a power of two is its place
        v16i lowest = __builtin_bit_cast(v16i, left[i.value] & -left[i.value]);
        v16i at = (__builtin_bit_cast(v16i, __builtin_convertvector(lowest, v16)) >> 23 & 0xff) - 127 + first;
        v16i *to = (v16i *)(leaf + 16 * i.value), found = first ? *to : v16i(leaves);
        *to = ((found < first) | (lowest == 0)) ? found : at;
      });
    }
  }
  // All trees for rows [0, n) of a block.
  void scoreMasked(const T *x, int64_t columns, int64_t n) {
    for (int64_t c = 0; c < header->features; ++c)
      for (int64_t r = 0; r < kRowBlock; ++r)
        turned[c * kRowBlock + r] = x[(r < n ? r : 0) * columns + c];
    bool sums = header->plain && fold != Fold::Min && fold != Fold::Max;
    const int32_t *at = masks;
    for (int32_t t = 0; t < header->trees; ++t) {
      int32_t count = *at++, groups = (count + 31) / 32, all = 0, leaf[kRowBlock];
      for (int32_t g = 0; g < groups; ++g)
        all += at[g];
      const PackedTest *test = reinterpret_cast<const PackedTest *>(at + groups);
      n > 16 ? findLeaves<2>(turned, at, count, test, leaf) : findLeaves<1>(turned, at, count, test, leaf);
      const PackedLeaf *leaves = reinterpret_cast<const PackedLeaf *>(test + all);
      at = reinterpret_cast<const int32_t *>(leaves + count);
      if (!sums) {
        for (int64_t r = 0; r < n; ++r)
          give(r, uint32_t(leaves[leaf[r]].node));
        continue;
      }
      int64_t target = entries[nodes[leaves->node].entry].target >> 1;
      bool first = !hit[target];  // of all rows alike
      for (int64_t r = 0; r < n; ++r) {
        T &s = score[r * stride + target], v = leaves[leaf[r]].value;
        s = first ? v : s + v;
      }
      for (int64_t r = 0; first && r < n; ++r)
        hit[r * stride + target] = true;
    }
  }
  // Whether all tests of the trees take less time than walks of n rows, on a Zen 4 at either width: a step takes 1.1 ns where the rows of a
  // tree are walked together and about 1.2 where the trees of a row are, a test 0.8 for 16 rows and 1.6 for 32, a tree 10 to 27 more.
  bool gainsByMasks(int64_t n) const {
    int64_t whole = n - n % kWalks, test = n > 16 ? 16 : 8, tree = header->plain ? 100 : 270;
    return masks && steps * (11 * whole + 12 * (n - whole)) > header->tests * test + header->trees * tree;
  }
  // All trees for rows [0, n) of a block: one tree after the other stays in the cache for all of them.
  template <bool Clean>
  void scoreRows(const T *x, int64_t columns, int64_t n) {
    memset(score, 0, size_t(kRowBlock * stride) * sizeof(T));
    memset(hit, 0, size_t(kRowBlock * stride));
    if constexpr (Clean && sizeof(T) == 4)
      if (gainsByMasks(n))
        return scoreMasked(x, columns, n);
    int64_t whole = n - n % kWalks;
    for (int32_t t = 0; t < header->trees; ++t)
      for (int64_t r = 0; r < whole; r += kWalks) {
        const T *rows[kWalks];
        uint32_t at[kWalks];
        for (int i = 0; i < kWalks; ++i)
          rows[i] = x + (r + i) * columns, at[i] = uint32_t(trees[2 * t]);
        walk<Clean>(rows, at, trees[2 * t + 1], nodes);
        for (int i = 0; i < kWalks; ++i)
          give(r + i, at[i]);
      }
    for (int64_t r = whole; r < n; ++r)
      scoreRow<Clean>(x + r * columns, r);
  }
};

// finish(row, score, hit) takes the scores of each row; blocks of rows run side by side.
template <class T, class Finish>
int32_t eachRow(const Args *a, const Walker<T> &walker, const Finish &finish) {
  constexpr int64_t stepWork = 4;
  int64_t rows = rowsOf(a->in[0]), columns = columnsOf(a->in[0]), blocks = (rows + kRowBlock - 1) / kRowBlock;
  int64_t grain = grainOf(minOf(rows, kRowBlock) * walker.steps * stepWork);
  return parallelScratchFor(a, blocks, grain, walker.blockBytes(), [=, &finish](void *scratch, int64_t begin, int64_t end) -> int32_t {
    Walker<T> w = walker;
    w.placeIn(scratch);
    for (int64_t r = begin * kRowBlock; r < minOf(rows, end * kRowBlock); r += kRowBlock) {
      int64_t n = minOf(kRowBlock, rows - r);
      const T *x = in<T>(a, 0) + r * columns;
      bool clean = true;
      for (int64_t i = 0; i < n * columns; ++i)
        clean &= x[i] == x[i];
      clean ? w.template scoreRows<true>(x, columns, n) : w.template scoreRows<false>(x, columns, n);
      for (int64_t i = 0; i < n; ++i) {
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
  return eachRow(a, w, [&](int64_t row, double *score, bool *) {
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
  return eachRow(a, w, [&](int64_t row, double *score, bool *hit) {
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
