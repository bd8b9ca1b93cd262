// Passes.h: creation and registration of the graph passes that Passes.td declares.
#pragma once
#include "dialects/onnx/OnnxBase.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace onnxc {
#define GEN_PASS_DECL
#include "passes/graph/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/graph/Passes.h.inc"

// The groups of rewrites that the simplify pass drives.
void populateSimplifyPatterns(mlir::RewritePatternSet &patterns);
void populateWeightPatterns(mlir::RewritePatternSet &patterns);
void populateConcatenationPatterns(mlir::RewritePatternSet &patterns);
void populateDequantisationPatterns(mlir::RewritePatternSet &patterns);
void populateLinearMachinePatterns(mlir::RewritePatternSet &patterns);
void populateTreeEnsemblePatterns(mlir::RewritePatternSet &patterns);
// What a ConstantOfShape of a known shape makes becomes a splat, which can be folded and packed: small ones, and weights, together at most
// `mostBytes`, since the artefact will hold them.
void foldFills(mlir::func::FuncOp func, int64_t mostBytes);
// Those of the recognize pass.
void populateRecognizePatterns(mlir::RewritePatternSet &patterns);
void populateNormPatterns(mlir::RewritePatternSet &patterns);
void populateSoftmaxPatterns(mlir::RewritePatternSet &patterns);
void populateSpectrumPatterns(mlir::RewritePatternSet &patterns);
}  // namespace onnxc
