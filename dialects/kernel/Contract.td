// Contract.td: packed and channel-blocked forms that passes/layout makes of convolutions, pools and matrix products, emitted by codegen/cpu.
// A blocked tensor is `N x C/16 x spatial… x 16`; channels past C hold values that no later op may let through.
#ifndef KERNEL_CONTRACT_TD
#define KERNEL_CONTRACT_TD
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Kernel_Op<string mnemonic> : Op<Kernel_Dialect, mnemonic, [Pure]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Kernel_ConvOp : Kernel_Op<"conv"> {
  let summary = "convolution into a blocked tensor";
  let description = [{
    `X` is blocked, or plain (`N x C x spatial…`) for few channels. `W` by form:
    blocked `O/16 x C/16/groups x KH x KW x 16(c) x 16(o)`; plain `O/16 x C x KH x KW x 16`; depthwise `C/16 x KH x KW x 16`.
    `B` has 16·O/16 elements. `groups` counts groups of whole blocks; kernel, strides, dilations have two entries (a 1-D convolution has height 1); `pads` is top, left, bottom, right.
  }];
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, AnyTensor:$B, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                     DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads, I64Attr:$groups, UnitAttr:$depthwise);
  let results = (outs AnyTensor:$Y);
}
def Kernel_PoolOp : Kernel_Op<"pool"> {
  let summary = "max or average pool of a blocked tensor";
  let description = [{ `mode` is "max" or "average"; `global` pools over all of height and width. `ceil` rounds output sizes up. }];
  let arguments = (ins AnyTensor:$X, StrAttr:$mode, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                     DenseI64ArrayAttr:$pads, UnitAttr:$count_pad, UnitAttr:$global, UnitAttr:$ceil);
  let results = (outs AnyTensor:$Y);
}
def Kernel_PackOp : Kernel_Op<"pack"> {
  let summary = "plain to blocked; channels past C become 0";
  let arguments = (ins AnyTensor:$X);
  let results = (outs AnyTensor:$Y);
}
def Kernel_UnpackOp : Kernel_Op<"unpack"> {
  let summary = "blocked to plain with `channels` channels";
  let arguments = (ins AnyTensor:$X, I64Attr:$channels);
  let results = (outs AnyTensor:$Y);
}
def Kernel_MatMulOp : Kernel_Op<"matmul"> {
  let summary = "A[…, K] times packed weights";
  let description = [{ `W` is `N/16 x K x 16` (zeros past N), `B` the bias with 16·N/16 elements; `n` is N. The result is `…, N`. }];
  let arguments = (ins AnyTensor:$A, AnyTensor:$W, AnyTensor:$B, I64Attr:$n);
  let results = (outs AnyTensor:$Y);
}
#endif
