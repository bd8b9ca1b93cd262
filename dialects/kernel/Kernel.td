// Kernel.td: closed groups of onnx ops, the unit of code generation. docs/Architecture.md sections 1, 2 and 4.
#ifndef KERNEL_TD
#define KERNEL_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::onnxc::kernel";
  let summary = "closed kernels: what one launch computes";
}

def Kernel_FuncOp : Op<Kernel_Dialect, "func", [FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "one kernel: tensors in, tensors out";
  let description = [{
    Body: onnx ops, then `kernel.return`. Dynamic dims carry an encoding (local dims). Attributes set by the emitter of its `family`:
    `extent` (units of parallel work), `grain`, `scratch` (bytes per task): affine maps over the local dims `()[s0, …] -> (expr)`.
    ```mlir
    kernel.func @relu_f32_1a2b3c4d(%x: tensor<?x8xf32, [-1, 8]>) -> tensor<?x8xf32, [-1, 8]>
        attributes {family = "loops", num_dims = 1 : i64} {
      %0 = onnx.Relu %x : …
      kernel.return %0 : …
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs, OptionalAttr<StrAttr>:$sym_visibility);
  let regions = (region AnyRegion:$body);
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// "loops", "contract" or "library".
    ::llvm::StringRef getFamily();
    /// Number of local dims.
    int64_t getNumDims();
    ::onnxc::kernel::ReturnOp getReturn();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type, "::llvm::StringRef":$family, "int64_t":$numDims)>];
}

def Kernel_ReturnOp : Op<Kernel_Dialect, "return", [Pure, Terminator, ReturnLike, HasParent<"FuncOp">]> {
  let summary = "the results of a kernel";
  let arguments = (ins Variadic<AnyType>:$operands);
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}
#endif
