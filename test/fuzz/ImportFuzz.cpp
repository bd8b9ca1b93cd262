// ImportFuzz.cpp: any bytes as a model file, read and imported. Run by run.py beside it; a crash or a hang is a finding, a diagnostic is
// not.
#include "compiler/import/Import.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <string>
#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd = memfd_create("model", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != ssize_t(size))
    return close(fd), 0;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  onnxc::importModel("/proc/self/fd/" + std::to_string(fd), context, {});
  close(fd);
  return 0;
}
