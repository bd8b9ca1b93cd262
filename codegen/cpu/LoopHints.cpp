// LoopHints.cpp: counts the paths through the operands of a function's values, and what loops hold. See LoopHints.h.
#include "codegen/cpu/LoopHints.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace onnxc {

// More steps than this are milliseconds that no loop of scalars is worth.
static constexpr uint64_t kMostPaths = 1 << 18;

static bool isDeep(llvm::Function &f) {
  llvm::DenseMap<const llvm::Value *, uint64_t> paths;
  for (llvm::Instruction &i : llvm::instructions(f)) {
    uint64_t sum = 1;
    if (!llvm::isa<llvm::PHINode>(i))
      for (llvm::Value *operand : i.operands())
        if (auto it = paths.find(operand); it != paths.end())
          sum = llvm::SaturatingAdd(sum, it->second);
    if (sum > kMostPaths)
      return true;
    paths[&i] = sum;
  }
  return false;
}

// Instructions. At -O2 LLVM unrolls to 150, to more where it sees that much of them would fold.
static constexpr size_t kMostUnrolled = 250;

static bool isLarge(const llvm::Loop &loop) {
  size_t size = 0;
  for (llvm::BasicBlock *b : loop.blocks())
    size += b->size();
  return size > kMostUnrolled;
}

// Whether a loop carries a tile of accumulators.
static bool carriesTile(const llvm::Loop &loop) {
  constexpr uint64_t least = 2048;
  uint64_t bits = 0;
  for (const llvm::PHINode &phi : loop.getHeader()->phis())
    if (phi.getType()->isVectorTy())
      bits += phi.getType()->getPrimitiveSizeInBits().getKnownMinValue();
  return bits >= least;
}

void hintLoops(llvm::Function &f) {
  bool deep = isDeep(f);
  llvm::DominatorTree tree(f);
  llvm::LoopInfo loops(tree);
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    if (deep)
      llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
    if (isLarge(*loop) || carriesTile(*loop))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
  }
}

}  // namespace onnxc
