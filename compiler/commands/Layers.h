// Layers.h: the results of every launch of a model beside those of its -O0 build, for `onnxc verify --layers`.
#pragma once
#include "compiler/commands/Artefact.h"

namespace onnxc {

struct LayerDifference {
  std::string node, op, type, kernel;
  double largest, scale;  // largest difference, largest finite value of the reference
};

// A result of the model that was not judged, and why.
struct LayerSkipped {
  std::string node;
  const char *why;
};

struct LayerReport {
  std::vector<LayerDifference> differ;  // in launch order
  std::vector<LayerSkipped> skipped;    // in launch order of the reference
  size_t compared = 0, results = 0;     // of all results of the model
  double worst = 0;                     // of the largest value
  std::string worstNode;
};

// Compares what every launch makes on `inputs` with what `reference`, the same model at -O0, makes.
llvm::Expected<LayerReport> compareLayers(Artefact &artefact, Artefact &reference, const std::vector<Value> &inputs,
                                          const Tolerance &tolerance);
void printLayers(const LayerReport &report);

}  // namespace onnxc
