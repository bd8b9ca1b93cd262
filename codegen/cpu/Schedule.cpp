// Schedule.cpp: see Schedule.h.
#include "codegen/cpu/Schedule.h"
#include "codegen/cpu/Isa.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {

static constexpr StringLiteral kGiven = "schedule", kNoted = "scheduled";
static constexpr int64_t kMostRows = 32, kMostPanels = 8, kMost = int64_t(1) << 32;

int64_t scheduled(kernel::FuncOp kernel, StringRef name, int64_t chosen, int64_t most) {
  if (auto given = kernel->getAttrOfType<DictionaryAttr>(kGiven))
    if (auto number = given.getAs<IntegerAttr>(name))
      chosen = std::clamp<int64_t>(number.getInt(), 1, most);
  NamedAttrList noted(kernel->getAttrOfType<DictionaryAttr>(kNoted));
  noted.set(name, Builder(kernel.getContext()).getI64IntegerAttr(chosen));
  kernel->setAttr(kNoted, noted.getDictionary(kernel.getContext()));
  return chosen;
}

TileShape scheduledTile(kernel::FuncOp kernel, TileShape chosen, std::optional<int64_t> rows, int64_t panels) {
  TileShape tile{scheduled(kernel, "tile_rows", chosen.rows, kMostRows),
                 std::min(scheduled(kernel, "tile_panels", chosen.panels, kMostPanels), std::max<int64_t>(panels, 1))};
  if (rows && *rows > 0)
    tile.rows = llvm::divideCeil(*rows, llvm::divideCeil(*rows, tile.rows));
  return tile;
}

void applySchedules(ModuleOp module, const std::map<std::string, Schedule> &schedules) {
  Builder b(module.getContext());
  for (kernel::FuncOp kernel : module.getOps<kernel::FuncOp>()) {
    auto found = schedules.find(kernel.getSymName().str());
    if (found == schedules.end())
      continue;
    NamedAttrList numbers;
    for (const auto &[name, number] : found->second)
      numbers.set(name, b.getI64IntegerAttr(number));
    kernel->setAttr(kGiven, numbers.getDictionary(module.getContext()));
  }
}

std::map<std::string, Schedule> notedSchedules(ModuleOp module) {
  std::map<std::string, Schedule> result;
  for (kernel::FuncOp kernel : module.getOps<kernel::FuncOp>())
    if (auto noted = kernel->getAttrOfType<DictionaryAttr>(kNoted))
      for (NamedAttribute a : noted)
        result[kernel.getSymName().str()][a.getName().str()] = cast<IntegerAttr>(a.getValue()).getInt();
  return result;
}

llvm::json::Value toJson(const Schedules &schedules) {
  llvm::json::Object levels;
  for (const auto &[level, kernels] : schedules) {
    llvm::json::Object list;
    for (const auto &[kernel, numbers] : kernels) {
      llvm::json::Object o;
      for (const auto &[name, number] : numbers)
        o[name] = number;
      list[kernel] = std::move(o);
    }
    levels[level] = std::move(list);
  }
  return levels;
}

llvm::Expected<Schedules> fromJson(const llvm::json::Value &value) {
  Schedules result;
  llvm::json::Path::Root root("schedules");
  if (!llvm::json::fromJSON(value, result, root))
    return root.getError();
  return result;
}

// What no kernel can be cut by; "" where all numbers are good.
static std::string wrongNumber(const Schedule &numbers) {
  for (const auto &[name, number] : numbers) {
    int64_t most = llvm::StringSwitch<int64_t>(name)
                       .Case("tile_rows", kMostRows)
                       .Case("tile_panels", kMostPanels)
                       .Cases({"chunk", "group", "depth"}, kMost)
                       .Default(0);
    if (!most)
      return "there is no number '" + name + "', only tile_rows, tile_panels, chunk, group and depth";
    if (number < 1 || number > most)
      return "'" + name + "' must be 1 to " + std::to_string(most) + ", and is " + std::to_string(number);
  }
  return "";
}

llvm::Error checkSchedules(const Schedules &schedules) {
  for (const auto &[level, kernels] : schedules) {
    if (!findIsa(level))
      return llvm::createStringError("'" + level + "' is no CPU level ('onnxc targets' lists them)");
    for (const auto &[kernel, numbers] : kernels)
      if (std::string wrong = wrongNumber(numbers); !wrong.empty())
        return llvm::createStringError("kernel '" + kernel + "' of " + level + ": " + wrong);
  }
  return llvm::Error::success();
}

}  // namespace onnxc
