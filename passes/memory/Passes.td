// Passes.td: the pass that gives values their places.
#ifndef MEMORY_PASSES_TD
#define MEMORY_PASSES_TD
include "mlir/Pass/PassBase.td"

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives every plan.alloc its place and every plan.weight its offset";
  let description = [{
    Static sizes: best fit over liveness into one arena (`onnxc.arena_bytes` on the module). Sizes that follow from those of inputs: the same with the sizes
    that are expected, in one growable slot of the context; each run computes the offsets, which keep the order that was found. Other sizes: slots shared by
    values that are never live together (`onnxc.num_slots`). Weights are laid out end to end, 64-byte aligned, equal ones once (`onnxc.weights_bytes`).
  }];
}
#endif
