// Plan.td: a model as launches of kernels over buffers. Buffers are `!llvm.ptr`, sizes are i64; control flow is scf. docs/Architecture.md section 1.
#ifndef PLAN_TD
#define PLAN_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::onnxc::plan";
  let summary = "a model: weights, kernels, a schedule of launches";
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Plan_InputOp : Plan_Op<"input", [Pure]> {
  let summary = "data of model input `index`; null when absent";
  let arguments = (ins I64Attr:$index);
  let results = (outs AnyType:$buffer);
}
def Plan_OutputOp : Plan_Op<"output"> {
  let summary = "where the caller wants output `index`; ends the run where `bytes` are none";
  let arguments = (ins I64:$bytes, I64Attr:$index);
  let results = (outs AnyType:$buffer);
}
def Plan_WeightOp : Plan_Op<"weight", [Pure]> {
  let summary = "a constant in the weights segment, at `offset` once placed";
  let arguments = (ins ElementsAttr:$value, DefaultValuedAttr<I64Attr, "-1">:$offset);
  let results = (outs AnyType:$buffer);
}
def Plan_SymbolOp : Plan_Op<"symbol", [Pure]> {
  let summary = "size bound to symbol `index` at entry";
  let arguments = (ins I64Attr:$index);
  let results = (outs I64:$size);
}
def Plan_LoadOp : Plan_Op<"load"> {
  let summary = "element `index` of an integer buffer, as i64";
  let arguments = (ins AnyType:$buffer, I64Attr:$index, TypeAttr:$type);
  let results = (outs I64:$value);
}
def Plan_BytesOp : Plan_Op<"bytes", [Pure]> {
  let summary = "product of sizes and `element` bytes; -1 where it overflows or a size is negative";
  let arguments = (ins Variadic<I64>:$sizes, I64Attr:$element);
  let results = (outs I64:$bytes);
}
def Plan_AllocOp : Plan_Op<"alloc"> {
  let summary = "memory for one value, never more than `most` bytes (-1: not bounded); the memory pass gives it an arena `offset` (static size) or a `slot`; what cannot be had fails in the name of `site`, or of the next launch";
  let arguments = (ins I64:$bytes, DefaultValuedAttr<I64Attr, "-1">:$offset, DefaultValuedAttr<I64Attr, "-1">:$slot,
    DefaultValuedAttr<I64Attr, "-1">:$most, OptionalAttr<I64Attr>:$site);
  let results = (outs AnyType:$buffer);
}
def Plan_PlaceOp : Plan_Op<"place"> {
  let summary = "memory for one value, `at` so many bytes of `memory`; ends the run where `bytes` are none";
  let arguments = (ins I64:$bytes, AnyType:$memory, I64:$at);
  let results = (outs AnyType:$buffer);
}
def Plan_HeapOp : Plan_Op<"heap"> {
  let summary = "zeroed memory that lives until the run ends";
  let arguments = (ins I64:$bytes);
  let results = (outs AnyType:$buffer);
}
def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "copies bytes";
  let arguments = (ins AnyType:$to, AnyType:$from, I64:$bytes);
}
def Plan_StoreOp : Plan_Op<"store"> {
  let summary = "stores a scalar at element `index` of a buffer";
  let arguments = (ins AnyType:$value, AnyType:$buffer, I64Attr:$index);
}
def Plan_ScalarOp : Plan_Op<"scalar"> {
  let summary = "element 0 of a bool or integer buffer, as i64";
  let arguments = (ins AnyType:$buffer, TypeAttr:$type);
  let results = (outs I64:$value);
}
def Plan_OffsetOp : Plan_Op<"offset", [Pure]> {
  let summary = "a buffer some bytes further";
  let arguments = (ins AnyType:$buffer, I64:$bytes);
  let results = (outs AnyType:$result);
}
def Plan_LaunchOp : Plan_Op<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel; `site` names it in errors and profiles. A failure ends the run. `most` bounds the dims, 0 where nothing does";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$buffers, Variadic<I64>:$dims, I64Attr:$site, OptionalAttr<DenseI64ArrayAttr>:$most);
  let assemblyFormat = "$kernel `(` $buffers `)` `[` $dims `]` attr-dict `:` type($buffers)";
}
def Plan_SizeOp : Plan_Op<"size", [AttrSizedOperandSegments]> {
  let summary = "result dims of a library kernel whose shapes depend on data, results end to end";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$buffers, Variadic<I64>:$dims, I64Attr:$site);
  let results = (outs Variadic<I64>:$sizes);
  let assemblyFormat = "$kernel `(` $buffers `)` `[` $dims `]` attr-dict `:` type($buffers) `->` type($sizes)";
}
def Plan_CheckOp : Plan_Op<"check"> {
  let summary = "ends the run with an onnxc_code where `holds` is false; `blamed`: none, or the two sizes of which the user is told";
  let arguments = (ins I1:$holds, Variadic<I64>:$blamed, I64Attr:$code, I64Attr:$site);
}
def Plan_SetOutputOp : Plan_Op<"set_output"> {
  let summary = "result `index`: where it is and its dims";
  let arguments = (ins AnyType:$buffer, Variadic<I64>:$dims, I64Attr:$index);
}
#endif
