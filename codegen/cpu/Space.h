// Space.h: the iteration space of a generated loop kernel, and how the kernel's buffers are read over it. Loops.cpp and RowWalk.cpp use
// it.
//
// space     the dims that the kernel iterates over, sizes as affine expressions over the kernel's local dims; neighbours that every access
//           walks as one are merged
// map       for each dim of a tensor value of the kernel's body: the dim of the space that indexes it, or -1 (one element, or broadcast)
// access    a buffer read or written by a map: one stride (in elements) for each dim of the space
// point     where a value is computed: one index for each outer dim is in `rows`, the index of the last dim is `at`, `lanes` wide
#pragma once
#include "codegen/cpu/Pointwise.h"
#include "mlir/IR/AffineExpr.h"
#include <map>
#include <set>

namespace onnxc {

using DimMap = llvm::SmallVector<int64_t, 6>;

struct Access {
  mlir::Value value;  // an argument of the kernel or a value that it returns
  unsigned buffer;    // its position in `bufs`, without the runtime
  mlir::Type element;
  llvm::SmallVector<mlir::AffineExpr> strides;
  llvm::SmallVector<mlir::AffineExpr> maybe;  // not null: this size of the tensor may be 1 at run time, and is then broadcast
  mlir::Value row, scalar;                    // set for the row that is computed: its address, and its element where the last stride is 0
};

class Space {
public:
  Space(KernelCode &c, llvm::ArrayRef<int64_t> localDims);

  // Registers what computing `v` reads, and what is stored.
  void addInputs(mlir::Value v, const DimMap &map);
  void addResult(mlir::Value v, const DimMap &map);
  // Merges neighbours; a dim whose position is in `borders` starts a segment and is not merged with the one before.
  void merge(llvm::ArrayRef<int64_t> borders = {});

  llvm::SmallVector<mlir::AffineExpr> sizes;  // after merge: of the merged dims
  llvm::SmallVector<unsigned> segments;       // the segment that each merged dim is in
  std::vector<Access> accesses;

  // The value of an expression over local dims.
  mlir::Value value(mlir::AffineExpr e);
  // Whether vectors along the last dim are contiguous or splat: always, never, or when `vectorCondition` holds at run time.
  bool canVectorise() const;
  mlir::Value vectorCondition();
  bool masksWell(unsigned vectorBits) const;

  // An op whose results are given by setValue and whose operands are registered one by one.
  mlir::Operation *row = nullptr;

  // Fixes the indices of all dims but the last: addresses, and elements that the row shares.
  void beginRow(mlir::ValueRange outer);
  // `v` at index `at` of the last dim.
  mlir::Value eval(mlir::Value v, const DimMap &map, mlir::Value at, int64_t lanes, mlir::Value mask = mlir::Value());
  // A result of the kernel as it was stored before.
  mlir::Value reload(mlir::Value v, const DimMap &map, mlir::Value at, int64_t lanes, mlir::Value mask) {
    return load(*find(v, map), at, lanes, mask);
  }
  void store(mlir::Value v, const DimMap &map, mlir::Value computed, mlir::Value at, int64_t lanes, mlir::Value mask = mlir::Value());
  // Forgets the values of the point before.
  void newPoint() { known.clear(); }
  // Gives `v` at the next point.
  void setValue(mlir::Value v, const DimMap &map, mlir::Value computed, int64_t lanes) {
    known[{v.getAsOpaquePointer(), key(map), lanes}] = computed;
  }

  DimMap identity() const;
  // The map of operand `i` of `op`, whose result is computed by `map`.
  static DimMap operandMap(mlir::Operation *op, unsigned i, const DimMap &map);

private:
  using Key = std::tuple<const void *, std::vector<int64_t>, int64_t>;
  static std::vector<int64_t> key(const DimMap &map) { return std::vector<int64_t>(map.begin(), map.end()); }
  mlir::AffineExpr sizeExpr(int64_t localDim);
  Access &access(mlir::Value v, const DimMap &map);
  Access *find(mlir::Value v, const DimMap &map);
  mlir::Value stride(Access &a, size_t d);
  mlir::Value address(Access &a, mlir::Value at, bool unit);
  mlir::Value load(Access &a, mlir::Value at, int64_t lanes, mlir::Value mask);

  KernelCode &c;
  llvm::SmallVector<int64_t> localDims;
  std::map<std::pair<const void *, std::vector<int64_t>>, size_t> index;
  std::set<std::pair<const void *, std::vector<int64_t>>> visited;  // of addInputs: a body may share values, paths to them double
  std::map<Key, mlir::Value> known;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> values;
};

// A rough weight of one element: 1, and 1 for each plain op, more for each function.
int64_t pointCost(kernel::FuncOp kernel);
// Whether what is left of a row behind its whole vectors is worth vectors of half the lanes, of a quarter and so on.
bool isDear(kernel::FuncOp kernel);
constexpr int64_t kLeastLanes = 4;  // of such a vector

}  // namespace onnxc
