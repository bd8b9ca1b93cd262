// LoopHints.h: what LLVM's loop passes are told about generated kernels before Compile.cpp runs them.
#pragma once

namespace llvm {
class Function;
}

namespace onnxc {

// Keeps LLVM from work that comes to nothing:
// - Its loop vectoriser walks the operands of a value without remembering where it has been, so values that use one another twice over
//   and over (t1 = t0 * t0, t2 = t1 * t1, …) cost it time that doubles with each. It leaves the loops of such a function alone.
// - Its unroller asks for the cost of every instruction of a loop, and of the loops in it, before it finds them too large. It leaves
//   large loops alone.
void hintLoops(llvm::Function &f);

}  // namespace onnxc
