// LoopHints.h: what LLVM's loop passes are told about generated kernels before Compile.cpp runs them.
#pragma once

namespace llvm {
class Function;
}

namespace onnxc {

// LLVM's loop vectoriser walks the operands of a value without remembering where it has been, so values that use one another twice over
// and over (t1 = t0 * t0, t2 = t1 * t1, …) cost it time that doubles with each. Tells it to leave the loops of such a function alone.
void hintDeepLoops(llvm::Function &f);

}  // namespace onnxc
