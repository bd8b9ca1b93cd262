// Options.h: everything a user can say to the compiler, one struct; compiler/Options.cpp binds flags to it.
#pragma once
#include "compiler/import/DefaultInputs.h"
#include "compiler/import/ShapeFlags.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace onnxc {

// Exit codes of every subcommand.
enum ExitCode { ExitOk = 0, ExitBadModel = 1, ExitUsage = 2, ExitOutOfScope = 3, ExitBug = 4 };

struct Options {
  std::string input, output;                     // output's suffix: .so .a .o .mlir .ll .s, none = executable
  std::string target;                            // triple; empty = host
  std::string device = "cpu";                    // --device
  std::string precision = "f32";                 // --precision: what large weights are stored in
  std::vector<std::string> cpus;                 // empty = the default levels of codegen/cpu/Isa.cpp
  std::map<std::string, std::string> tune;       // level -> CPU that --cpu named; compile() fills it
  int optLevel = 3;                              // -O0 is the oracle: no recognition, fusion or layout
  bool winograd = true;                          // convolutions of stride 1 by Winograd's transformation where it pays
  std::map<std::string, int64_t> defineDims;     // --define-dim batch=8
  ShapeFlags shapes;                             // --min-shapes x=1x3, --opt-shapes, --max-shapes
  std::map<std::string, std::string> customOps;  // --custom-op domain::Name=library.a
  DefaultInputs defaultInputs = DefaultInputs::Data;
  bool externalWeights = false;                // in a file beside the artefact
  bool allowExternalOutside = false;           // external data may lie outside the model's folder
  int64_t maxConstantSize = int64_t(1) << 30;  // bytes of constants that the model does not store
  std::string emitHeader;                      // directory
  std::string dumpPhases;                      // directory
  std::string cache;                           // directory of finished code
  std::string scheduleFile;                    // JSON: level -> kernel -> numbers of codegen/cpu/Schedule.h
  // The file's contents.
  std::map<std::string, std::map<std::string, std::map<std::string, int64_t>>> schedules;
  int tuneSeconds = 0;       // 0: no search for schedules
  double progressAfter = 1;  // seconds; with `progress`, from when on it is shown
  bool taps = false;         // -g: one launch per node
  bool printPipeline = false, dependencies = false, timePhases = false, sizeReport = false, json = false, progress = false;
};

// Where --weights external puts them.
inline std::string weightsPath(const Options &options) { return options.output + ".weights"; }

// What --tune adds to.
inline std::string schedulesPath(const Options &options) {
  return options.scheduleFile.empty() ? options.output + ".schedules" : options.scheduleFile;
}

}  // namespace onnxc
