// GraphBuilder.h: writing ops of the graph with the types that are known, and small questions that rewrites ask of ops and values.
#pragma once
#include "dialects/onnx/OnnxBase.h"
#include "mlir/IR/PatternMatch.h"

namespace onnxc {

// Makes ops where `b` stands, all with the location `loc`. Values are tensors of known rank; sizes that are not known stay dynamic until
// fold-shapes. Where an op would change nothing (the identity as a permutation, no axes) the result is the operand.
struct GraphBuilder {
  mlir::OpBuilder &b;
  mlir::Location loc;

  // Constants: i64[n]; integers as wide as T, signless; any type from the bytes of its elements; a scalar f32; f32 of a shape.
  mlir::Value integers(llvm::ArrayRef<int64_t> values);
  template <class T>
  mlir::Value integers(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<T> values) {
    auto bytes = reinterpret_cast<const char *>(values.data());
    return constant(mlir::RankedTensorType::get(shape, b.getIntegerType(8 * sizeof(T))),
                    std::vector<char>(bytes, bytes + values.size() * sizeof(T)));
  }
  mlir::Value constant(mlir::RankedTensorType type, std::vector<char> bytes);
  mlir::Value number(float value);
  mlir::Value floats(llvm::ArrayRef<int64_t> shape, std::vector<float> values);
  // Axis i of the result is axis perm[i] of `v`.
  mlir::Value transpose(mlir::Value v, llvm::ArrayRef<int64_t> perm);
  // `target` as Reshape takes it (0 copies, one -1 is inferred).
  mlir::Value reshape(mlir::Value v, llvm::ArrayRef<int64_t> target);
  // `v` with the shape `shape`; of its sizes that are unknown the run's are `sizes`, in order.
  mlir::Value reshapeTo(mlir::Value v, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> sizes);
  // `axes`: those of size 1 in the result, counted from the front, in ascending order.
  mlir::Value unsqueeze(mlir::Value v, llvm::ArrayRef<int64_t> axes);
  // Without `axes`, which are summed over.
  mlir::Value sum(mlir::Value v, llvm::ArrayRef<int64_t> axes);
  // Elements start, start + step, ... below `end` of one axis; 0 <= start; `end` is INT64_MAX for all, or negative from the end.
  mlir::Value slice(mlir::Value v, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> values, int64_t axis);
  // The size of one axis as the run has it, i64[1].
  mlir::Value sizeOf(mlir::Value v, int64_t axis);
  // Those of `axes` whose sizes are unknown.
  llvm::SmallVector<mlir::Value> unknownSizes(mlir::Value v, llvm::ArrayRef<int64_t> axes);
  // With elements of another type, rounded as Cast rounds them.
  mlir::Value cast(mlir::Value v, mlir::Type element);
  // The same with the sizes that the tensor type `type` says.
  mlir::Value as(mlir::Type type, mlir::Value v);
  // Zeros behind the last element of each axis; `more` has an entry for each.
  mlir::Value padEnds(mlir::Value v, llvm::ArrayRef<int64_t> more);
};

// Null where `v` is null or no tensor of a known rank.
mlir::RankedTensorType rankedType(mlir::Value v);
// Whether `op` only gives its first operand's elements another shape.
bool isView(mlir::Operation *op);
// The op that alone uses the results of `op`, and once; null where there is none.
mlir::Operation *onlyUser(mlir::Operation *op);
// Applies patterns to the ops in `root` until none matches. Blocks of regions are not merged, nor are their arguments dropped.
mlir::LogicalResult rewriteAll(mlir::Operation *root, mlir::RewritePatternSet &&patterns);
// Replaces `op` by `v`, which gets the type of the op's result: that may know sizes which GraphBuilder does not. `v` must be made for this,
// no value that others read.
void replaceTyped(mlir::PatternRewriter &rewriter, mlir::Operation *op, mlir::Value v);
// Erases the ops in `root` that nothing needs.
void eraseDeadOps(mlir::Operation *root);
// The list of an attribute, or `n` times `otherwise` where it is missing or empty.
llvm::SmallVector<int64_t> listOr(std::optional<llvm::ArrayRef<int64_t>> given, int64_t n, int64_t otherwise);
// The pads of an op that slides a window over `axes` axes: those before each axis, then those behind each. Nothing where auto_pad leaves
// them to the sizes (SAME_UPPER, SAME_LOWER).
std::optional<llvm::SmallVector<int64_t>> givenPads(mlir::Operation *window, int64_t axes);

}  // namespace onnxc
