// Schedule.h: the numbers by which kernels of the contract family are cut into units, tiles and blocks. The cost model of each emitter
// chooses them; what `--tune` measured to be faster takes their place.
//
//   tile_rows, tile_panels   the register tile (Tile.h)
//   chunk                    what a task takes at once: row tiles; rows of a convolution's result, or tiles where it has one row, an
//                            unknown or a very large width; Winograd's tiles
//   group                    panels of it
//   depth                    steps, or blocks of input channels, that are summed before the next ones are begun; whose filters Winograd's
//                            kernel transforms together
//
// No number changes the order in which one result is summed, and so none changes a bit of any result.
#pragma once
#include "codegen/cpu/Tile.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>

namespace onnxc {

using Schedule = std::map<std::string, int64_t>;                           // by the names above
using Schedules = std::map<std::string, std::map<std::string, Schedule>>;  // level ("x86-64-v4") -> kernel -> numbers

// The number `name` of a kernel: what its attribute "schedule" says, within [1, most], else `chosen`. Notes it under "scheduled".
int64_t scheduled(kernel::FuncOp kernel, llvm::StringRef name, int64_t chosen, int64_t most = int64_t(1) << 32);
// The same of a tile for `rows` (nothing: unknown) x `panels`; known rows are shared out evenly.
TileShape scheduledTile(kernel::FuncOp kernel, TileShape chosen, std::optional<int64_t> rows, int64_t panels);

// Puts the level's schedules on the kernels of `module`.
void applySchedules(mlir::ModuleOp module, const std::map<std::string, Schedule> &schedules);
// What scheduled() noted: kernel -> numbers.
std::map<std::string, Schedule> notedSchedules(mlir::ModuleOp module);

llvm::json::Value toJson(const Schedules &schedules);
llvm::Expected<Schedules> fromJson(const llvm::json::Value &value);
// What of schedules that a user gives is of no use: a level, a name or a number that there is not.
llvm::Error checkSchedules(const Schedules &schedules);

}  // namespace onnxc
