// Blocker.h: the work of BlockChannels.cpp, whose conversions lie in BlockWindows.cpp (ops that slide a window), BlockNorms.cpp
// (normalisations) and BlockPieces.cpp (ops that join and cut channels).
#pragma once
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/GraphBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace onnxc {
struct BlockedConv;
struct BlockedTransposed;
class SymbolicShapes;
}  // namespace onnxc
namespace onnxc::blocks {

inline bool isSingle(mlir::Value v) { return rankedType(v) && rankedType(v).getElementType().isF32(); }
inline bool isBytes(mlir::Value v) { return rankedType(v) && rankedType(v).getElementType().isInteger(8); }
// What may be blocked: [N, C, H, W] or [N, C, W] of f32 or signless bytes, C known.
inline bool isImage(mlir::Value v) {
  auto t = rankedType(v);
  return (isSingle(v) || isBytes(v)) && (t.getRank() == 3 || t.getRank() == 4) && !t.isDynamicDim(1);
}
inline int64_t channelsOf(mlir::Value image) { return rankedType(image).getDimSize(1); }

// Whether so many more channels before and behind those of a blocked value lie in lanes that it has.
inline bool fitsLanes(int64_t channels, int64_t before, int64_t after) {
  return before == 0 && channels + after <= int64_t(llvm::alignTo(channels, kLanes));
}

// Whether an op that can work on blocks reads `v`.
bool isReadInBlocks(mlir::Value v);
// Whether a normalisation over groups of channels that can work on blocks reads `image`, as rows (BlockNorms.cpp).
bool isReadByGroups(mlir::Value image);

// Some neighbouring channels of a blocked value that has `all`. Lanes past the last channel of a blocked value are finite where its
// channels are: convolutions multiply them by zero. So a range that ends inside a block, before other channels, is no blocked value by
// itself.
struct Channels {
  mlir::Value value;
  int64_t begin, count, all;
  bool isBlocks() const { return begin % kLanes == 0 && (count % kLanes == 0 || begin + count == all); }
};

// Of one block of ops: the graph's or that of a body.
struct Blocker {
  mlir::Block &body;
  mlir::OpBuilder b;
  llvm::MapVector<mlir::Value, mlir::Value> blocked;
  llvm::DenseSet<mlir::Operation *> replaced;
  llvm::SmallVector<mlir::Operation *> passed;   // whose operand is read instead of their result
  llvm::DenseMap<mlir::Value, Channels> pieces;  // blocked values that are channels of another

  const SymbolicShapes &shapes;  // of the values before blocks
  bool winograd;
  mlir::FloatType stored;  // of weights, where there are many

  Blocker(mlir::Block &body, const SymbolicShapes &shapes, bool winograd, mlir::FloatType stored)
      : body(body), b(body.getParentOp()->getContext()), shapes(shapes), winograd(winograd), stored(stored) {}
  void run();

  // Each gives an op of a kind a blocked form; false: it stays as it is, and nothing has changed.
  bool conv(mlir::Operation *op);
  bool frameConv(mlir::Operation *op);
  bool framePool(mlir::Operation *op);
  bool convTranspose(mlir::Operation *op);
  bool pool(mlir::Operation *op);
  bool resize(mlir::Operation *op);
  bool reduce(mlir::Operation *op);
  bool pad(mlir::Operation *op);
  bool normalization(mlir::Operation *op);
  bool groups(mlir::Operation *op);
  bool response(mlir::Operation *op);
  bool pointwise(mlir::Operation *op);
  bool concat(mlir::Operation *op);
  bool split(mlir::Operation *op);
  bool slice(mlir::Operation *op);
  bool view(mlir::Operation *op);
  // Conversions that earlier passes wrote are like this pass's own.
  bool toBlocks(mlir::Operation *op);
  bool fromBlocks(mlir::Operation *op);

private:
  void reduceChannels(mlir::Operation *op);
  void narrowConv(mlir::Operation *op, const BlockedTransposed &t);
  // `videos`: what a convolution over `frames` reads, in blocks.
  void blockConv(mlir::Operation *op, const BlockedConv &c, mlir::Value weights, mlir::Value videos, mlir::DenseI64ArrayAttr frames);
  mlir::Value image(mlir::Value v, mlir::Location loc);
  mlir::Value block(mlir::Value v, mlir::Location loc);
  mlir::Value blockOfRows(mlir::Value image, mlir::Location loc);
  void rowsOfBlocks(mlir::Value original, mlir::Value value);
  mlir::Value unblock(mlir::Value original, mlir::Value value);
  void done(mlir::Operation *op, mlir::Value result);
  void replacePlain(mlir::Operation *op, mlir::Value result);  // by a plain value
  mlir::Value operand(mlir::Value v, mlir::Value result);
  bool isPiece(mlir::Value v, int64_t axis) const;
  void take(mlir::Value result, Channels channels);
  bool slicePixels(onnx::SliceOp op);
  mlir::Value join(llvm::ArrayRef<Channels> ranges, mlir::RankedTensorType plain, mlir::Location loc);
  mlir::Value surround(mlir::Value value, int64_t channels, int64_t before, int64_t after, float fill, mlir::RankedTensorType plain,
                       mlir::Location loc);
};

}  // namespace onnxc::blocks
