// Passes.td: passes that choose how tensors lie in memory, in the order the pipeline runs them.
#ifndef ONNXC_LAYOUT_PASSES_TD
#define ONNXC_LAYOUT_PASSES_TD
include "mlir/Pass/PassBase.td"

def BlockChannels : Pass<"block-channels", "::mlir::func::FuncOp"> {
  let summary = "f32 convolutions and what lies between them work on blocks of 16 channels";
  let description = [{
    A convolution gets its weights packed (by ops of the graph where they are not constant) and gives a blocked result [N, C/16, H, W, 16]. Pooling, activations, sums and
    concatenations of blocked values stay blocked, so that a network converts where it begins and ends:
    ```
    %y = onnx.Conv %x, %w ; %z = onnx.Relu %y
    =>  %b = onnx.packed.Conv %x, %packed {plain = 1} ; %r = onnx.Relu %b ; %z = onnx.packed.Unblock %r
    ```
    Filters of stride 1 go through Winograd's transformation where that pays. Under `precision` bf16 or f16 large 1x1 filters are stored rounded to that type.
  }];
  let options = [Option<"winograd", "winograd", "bool", "true", "use Winograd's transformation">,
                 Option<"precision", "precision", "std::string", "\"f32\"", "what large weights of 1x1 filters are stored in: f32, bf16 or f16">];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def TurnRows : Pass<"turn-rows", "::mlir::func::FuncOp"> {
  let summary = "softmaxes and choices along an axis that would leave most lanes empty get another order of axes";
  let description = [{
    ```
    %y = onnx.Softmax %x {axis = 2} : tensor<1x4420x2xf32>
    =>  %t = onnx.Transpose %x {perm = [2, 0, 1]} ; %s = onnx.Softmax %t {axis = 0} ; %y = onnx.Transpose %s {perm = [1, 2, 0]}
    ```
    A row of at most 16 numbers by itself takes as long as a whole vector, and a chain of dependent steps to join its lanes; long rows of which fewer
    than 16 lie side by side are moved the other way, their axis behind all others.
  }];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def PackWeights : Pass<"pack-weights", "::mlir::func::FuncOp"> {
  let summary = "constant f32 and f64 right-hand sides of MatMul and Gemm become panels of 16 columns";
  let description = [{
    `onnx.MatMul %a, %w` with a constant matrix `%w` [K, N] becomes `onnx.packed.MatMul` with a constant [ceil(N/16), K, 16]; Gemm's
    factors and transposition are done at compile time, its C becomes the bias where it is one row. A MatMul of run-time operands becomes
    `onnx.packed.Product`, which takes in transpositions of its operands, and so do the lengths of all differences of two lists of rows and their squares
    (ReduceL2 or ReduceSumSquare of a Sub). Weights of RNN, GRU and LSTM get the order in which the kernel streams
    them, their rows padded to multiples of 64. Under `precision` bf16 or f16 large panels, which their kernels widen,
    and the rows that Gather takes of a constant are stored rounded to that type.
  }];
  let options = [Option<"precision", "precision", "std::string", "\"f32\"", "what large weights are stored in: f32, bf16 or f16">];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}
#endif
