// Onnx.td: the dialect, its types and the classes its op families are built from.
// Ops are at the newest opset; the importer raises older models. Names: onnx.<Op>, onnx.ml.<Op>, onnx.training.<Op>, onnx.ms.<Op>; onnx.packed.<Op> for those of our own (Packed.td).
#ifndef ONNX_TD
#define ONNX_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::onnxc::onnx";
  let summary = "ONNX graphs at the newest opset, functions inlined";
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// What the schema says of an op; null for an op that is not of this dialect.
    const ::onnxc::onnx::OpInfo *info(::mlir::OperationName name) const {
      auto it = infos.find(name.getAsOpaquePointer());
      return it == infos.end() ? nullptr : &it->second;
    }

  private:
    void registerTypes();
    void registerElementwise();
    void registerReduce();
    void registerNN();
    void registerTensor();
    void registerQuant();
    void registerControlFlow();
    void registerSequence();
    void registerString();
    void registerSignal();
    void registerVision();
    void registerRandom();
    void registerTraining();
    void registerML();
    void registerMicrosoft();
    void registerPacked();
    template <typename... Ops> void add() {
      addOperations<Ops...>();
      (void)::std::initializer_list<int>{(infos[::mlir::OperationName(Ops::getOperationName(), getContext()).getAsOpaquePointer()] =
          {Ops::onnxOperands(), Ops::onnxResults(), Ops::onnxDefaults()}, 0)...};
    }
    ::llvm::DenseMap<const void *, ::onnxc::onnx::OpInfo> infos;
  }];
}

class Onnx_Type<string name, string typeMnemonic> : TypeDef<Onnx_Dialect, name> { let mnemonic = typeMnemonic; }
def Onnx_String : Onnx_Type<"String", "string"> { let summary = "element type of string tensors"; }
def Onnx_Seq : Onnx_Type<"Seq", "seq"> {
  let summary = "sequence of tensors or maps";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}
def Onnx_Opt : Onnx_Type<"Opt", "opt"> {
  let summary = "optional tensor or sequence";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}
def Onnx_Map : Onnx_Type<"Map", "map"> {
  let summary = "map from integers or strings to values; element types only";
  let parameters = (ins "::mlir::Type":$key, "::mlir::Type":$value);
  let assemblyFormat = "`<` $key `,` $value `>`";
}

def Onnx_Value : AnyTypeOf<[AnyTensor, Onnx_Seq, Onnx_Opt, Onnx_Map]>;

// Short names of the attribute and operand forms that schemas use.
class Defaulted<Attr attr, string v> : DefaultValuedAttr<attr, v> { string text = v; }
class Int<string v> : Defaulted<I64Attr, v>;
class Float<string v> : Defaulted<F32Attr, v>;
class Str<string v> : Defaulted<StrAttr, "\"" # v # "\""> { let text = v; }
class IntsOr<string v> : DefaultValuedAttr<DenseI64ArrayAttr, v>;
def OptInt : OptionalAttr<I64Attr>;
def OptFloat : OptionalAttr<F32Attr>;
def OptStr : OptionalAttr<StrAttr>;
def Ints : OptionalAttr<DenseI64ArrayAttr>;
def Floats : OptionalAttr<DenseF32ArrayAttr>;
def Strs : OptionalAttr<StrArrayAttr>;
def Elements : OptionalAttr<ElementsAttr>;
def OptTensor : Optional<AnyTensor>;
def OptValue : Optional<Onnx_Value>;
def Tensors : Variadic<AnyTensor>;
def Values : Variadic<Onnx_Value>;

// Operands and results are declared in the order of the ONNX schema. `onnxOperands()` and `onnxResults()` say how each is given: one
// character each of "1" (once), "?" (optional), "*" (variadic). `onnxDefaults()` lists "name=value;" of
// integer, float ("1e-05f") and string attributes with a default.
class Onnx_Kinds<dag values> {
  string text = !foldl("", !range(!size(values)), acc, i, !cond(
      !isa<Optional>(!getdagarg<Constraint>(values, i)) : acc # "?",
      !isa<Variadic>(!getdagarg<Constraint>(values, i)) : acc # "*",
      !isa<TypeConstraint>(!getdagarg<Constraint>(values, i)) : acc # "1",
      true : acc));
}
class Onnx_Defaults<dag values> {
  string text = !foldl("", !range(!size(values)), acc, i, !if(!isa<Defaulted>(!getdagarg<Constraint>(values, i)),
      acc # !getdagname(values, i) # "=" # !cast<Defaulted>(!getdagarg<Constraint>(values, i)).text # ";", acc));
}
// `axis` counts the axes of the first operand, from the end when negative.
def Onnx_AxisInRange : NativeOpTrait<"AxisInRange"> { let cppNamespace = "::onnxc::onnx"; }

class Onnx_Op<string mnemonic, list<Trait> traits = [Pure]> : Op<Onnx_Dialect, mnemonic, traits> {
  string operandKinds = Onnx_Kinds<arguments>.text;
  string resultKinds = Onnx_Kinds<results>.text;
  string defaults = Onnx_Defaults<arguments>.text;
  let extraClassDeclaration = [{
    static ::llvm::StringRef onnxOperands() { return "}] # operandKinds # [{"; }
    static ::llvm::StringRef onnxResults() { return "}] # resultKinds # [{"; }
    static ::llvm::StringRef onnxDefaults() { return "}] # defaults # [{"; }
  }];
}
#endif
