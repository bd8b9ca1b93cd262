// ShapeFlags.h: what --min-shapes, --opt-shapes and --max-shapes say; Ranges.cpp holds it against the model.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace onnxc {

enum ShapeFlag { MinShapes, OptShapes, MaxShapes };
inline constexpr const char *kShapeFlags[] = {"--min-shapes", "--opt-shapes", "--max-shapes"};
// For each flag the sizes of the inputs that it names.
using ShapeFlags = std::array<std::map<std::string, std::vector<int64_t>>, 3>;

// "1x3x224x224", as the flags have it.
inline std::string shapeText(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

}  // namespace onnxc
