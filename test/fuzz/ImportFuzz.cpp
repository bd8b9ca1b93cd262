// ImportFuzz.cpp: any bytes as a model file, read and imported. Run by run.py beside it; a crash or a hang is a finding, a diagnostic is
// not.
#include "compiler/import/Import.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd = memfd_create("model", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != ssize_t(size))
    return close(fd), 0;
  // Loading the dialects takes longer than an import, so a context serves many; what it interns is freed with it.
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 512 == 0)
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(context.get(), [](mlir::Diagnostic &) { return mlir::success(); });
  onnxc::importModel("/proc/self/fd/" + std::to_string(fd), *context, {});
  close(fd);
  return 0;
}
