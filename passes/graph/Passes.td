// Passes.td: passes over the graph of onnx ops, in the order the pipeline runs them.
#ifndef ONNXC_GRAPH_PASSES_TD
#define ONNXC_GRAPH_PASSES_TD
include "mlir/Pass/PassBase.td"

def FoldShapes : Pass<"fold-shapes", "::mlir::func::FuncOp"> {
  let summary = "evaluate shapes and replace what they determine by constants";
  let description = [{
    Types become static where a dim proves static. Integer values whose elements are all known become onnx.Constant, an If with a known
    condition its branch, a view that keeps its input's shape its input, a ScatterND to a box its updates between slices of the data. A
    reshape to a symbolic shape copies (0) and infers (-1) sizes where it can, so that nothing has to compute the shape at run time:
    ```
    %s = onnx.Shape %x ; … ; %t = onnx.Concat %batch, %seq, [12], [64] ; onnx.Reshape %y, %t
    =>  onnx.Reshape %y, onnx.Constant [0, 0, 12, 64]
    ```
    The size of one axis becomes arithmetic on the sizes of the function's inputs where it is that, so that no value is made, or laid out,
    to be asked for its size:
    ```
    %y = onnx.Relu (onnx.Conv %x, %w {pads [1, 1], strides [2]}) ; onnx.Shape %y {start 2, end 3}
    =>  onnx.Div (onnx.Add (onnx.Shape %x {start 2, end 3}), [1]), [2]
    ```
  }];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def WidenHalf : Pass<"widen-half", "::mlir::func::FuncOp"> {
  let summary = "compute f16 and bf16 values in f32";
  let description = [{
    Halves stay in what the model stores and exchanges; between two ops no rounding happens, as in other runtimes on CPUs without f16
    arithmetic:
    ```
    %y = onnx.MatMul %a, %w ; onnx.Relu %y
    =>  onnx.Cast (onnx.Relu (onnx.MatMul (onnx.Cast %a), %w32))
    ```
    A MatMul or Gemm whose first operand was bf16 says so (`onnxc.bf16_rows`): its kernel may round that.
  }];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def Decompose : Pass<"decompose", "::mlir::func::FuncOp"> {
  let summary = "take apart ops whose parts have better kernels than the whole";
  let description = [{
    Fused ops of com.microsoft, quantised products with constant weights, Einsum, transposed convolutions, convolutions and pools over three
    dims, whose frames become images. The phases of a transposed convolution become channels of a plain one, the frames that a frame reads
    likewise:
    ```
    %y = onnx.ConvTranspose %x, %w {strides = [2, 2]}   (2x2 taps)
    =>  onnx.Reshape (onnx.Transpose (onnx.Reshape (onnx.Conv %x, %phases)))
    ```
    Those that block-channels has a kernel for stay, but under `precision` bf16 or f16 those of one tap a phase, whose weights are stored so.
  }];
  let options = [Option<"precision", "precision", "std::string", "\"f32\"", "what large weights of 1x1 filters are stored in: f32, bf16 or f16">];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def Recognize : Pass<"recognize", "::mlir::func::FuncOp"> {
  let summary = "put together ops that exporters wrote out in pieces";
  let description = [{
    Gelu (erf and tanh), Swish, HardSwish, LayerNormalization, RMSNormalization, Softmax, LogSoftmax, STFT (convolutions whose filters are windowed cosines and
    sines). One op is one row program or one map for code generation:
    ```
    %d = onnx.Sub %x, %mean ; %n = onnx.Div %d, onnx.Sqrt(onnx.ReduceMean(%d * %d) + 1e-5) ; onnx.Add (onnx.Mul %n, %gamma), %beta
    =>  onnx.LayerNormalization %x, %gamma, %beta
    ```
  }];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def MoveProducts : Pass<"move-products", "::mlir::func::FuncOp"> {
  let summary = "compute products of rows as 1x1 convolutions where fewer channels are transposed then";
  let description = [{
    Beside a transposition into an image that is convolved, or out of a convolution's:
    ```
    %y = onnx.MatMul %x, %w ; onnx.Conv (onnx.Reshape (onnx.Transpose %y)), %v   (64 channels of %x, 256 of %y)
    =>  onnx.Conv (onnx.Reshape (onnx.Conv (onnx.Transpose %x), %w')), %v
    ```
    Activations between the convolution and a product behind it are computed of the image.
  }];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def MoveTranspositions : Pass<"move-transpositions", "::mlir::func::FuncOp"> {
  let summary = "order the axes of parts of the graph so that few transpositions are left around them";
  let description = [{
    Elementwise ops, Concat, Split, Slice, Pad and reductions work in any order of axes. A part of the graph that consists of them gets the
    order with which transpositions at its border move the fewest elements, as a whole:
    ```
    %t = onnx.Transpose (onnx.Conv %x, %w) {perm = [0, 2, 3, 1]} ; %r = onnx.Relu (onnx.Mul %t, %scale)
    onnx.Conv (onnx.Transpose %r {perm = [0, 3, 1, 2]}), %v
    =>  onnx.Conv (onnx.Relu (onnx.Mul (onnx.Conv %x, %w), %scale')), %v
    ```
  }];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def MoveViews : Pass<"move-views", "::mlir::func::FuncOp"> {
  let summary = "compute elementwise ops on images where views make frames of them";
  let description = [{
    ```
    onnx.Relu (onnx.Reshape %images)   (6x16x5x5 as 2x3x16x5x5)
    =>  onnx.Reshape (onnx.Relu %images)
    ```
    Other operands of five axes become images by a view of their own.
  }];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def Simplify : Pass<"simplify", "::mlir::func::FuncOp"> {
  let summary = "rewrite to fewer and simpler ops with the same results";
  let description = [{
    Dropout at inference, casts there and back, composed transposes and reshapes, views of constants, sums as additions, batch normalisation and constant
    scales folded into the weights before them, also through a Concat of what accumulates, added convolutions of one operand as one, what a ConstantOfShape makes as constants where it is small or weights; with `weights` also linear machines as products and joined tree ensembles. Leaves types alone; dead ops go.
  }];
  let options = [Option<"weights", "weights", "bool", "true", "everywhere but at -O0: write weights anew (batch normalisation and scales in them round once more), and ops that have faster kernels as those">,
                 Option<"fillBytes", "fill-bytes", "int64_t", "int64_t(512) << 20", "bytes of the weights that a ConstantOfShape may become, together">];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def MoveConvolutions : Pass<"move-convolutions", "::mlir::func::FuncOp"> {
  let summary = "compute 1x1 convolutions of what a Resize enlarges before it does";
  let description = [{
    Each result of a Resize is a mean of its operand's elements, so a sum over channels may come first, of fewer pixels. Where the products
    that are saved outweigh channels that are resized and added besides:
    ```
    %l = onnx.Resize %x ; onnx.Conv (onnx.Concat %y, %l), %w
    =>  onnx.Add (onnx.Conv %y, %w1), (onnx.Resize (onnx.Conv %x, %w2))
    ```
  }];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}

def IntegerContractions : Pass<"integer-contractions", "::mlir::func::FuncOp"> {
  let summary = "contract dequantised values as integers";
  let description = [{
    Conv, Gemm and MatMul of a dequantised value with dequantised constant weights, and MatMul of two dequantised values, sum integers, exactly;
    the scales multiply the sums, in one step with a quantisation that follows. After simplify, which would put them into the weights:
    ```
    %x = onnx.DequantizeLinear %q, %s, %z ; %w = onnx.DequantizeLinear %c, %t ; %y = onnx.Conv %x, %w ; onnx.QuantizeLinear %y, %u, %v
    =>  onnx.Cast (onnx.Clip (onnx.Round (onnx.Conv(%q - %z, %c) * (%s %t / %u)) + %v))
    ```
    Of one or two axes such a convolution stays in bytes as packed.LinearConv, which adds a dequantised residual that is only quantised again; products with constant matrices become packed.LinearMatMul, others
    packed.MatMulInteger, with weights in the order in which their kernels stream them; transposed convolutions of bytes are convolutions of their phases;
    MaxPool picks among bytes. What quantisation of floats is left becomes arithmetic,
    and dequantised constants of 8 and 16 bits become f32.
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "int64_t(1) << 30", "bytes of the constants that are dequantised, together">];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}
def FuseAttention : Pass<"fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "attention as one kernel that never stores its scores";
  let description = [{
    A softmax between two products of f32, with the scales, masks, transpositions and repetitions of heads that exporters write around it:
    ```
    %s = onnx.MatMul (onnx.Transpose %q), (onnx.Transpose %k) ; %p = onnx.Softmax (onnx.Add (onnx.Mul %s, 0.125), %mask)
    onnx.Transpose (onnx.MatMul %p, (onnx.Transpose %v))
    =>  onnx.packed.Attention %q, %k, %v, %mask {scale = 0.125}
    ```
    Views of the scores that leave queries and keys alone become views of the operands and the result; a factor that is one for all keys
    multiplies the queries; of several masks the second is an operand of its own, and others of its sizes are added to it.
  }];
  let dependentDialects = ["::onnxc::onnx::OnnxDialect"];
}
#endif
