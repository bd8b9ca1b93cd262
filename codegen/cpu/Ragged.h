// Ragged.h: tiles of output pixels that do not lie in one row or meet the padding, where widths are known at run time only or windows are
// long. A table says for every tap that meets the image where each pixel of the tile reads. For ContractConv.cpp; Strips.h has the tiles
// of known widths.
#pragma once
#include "codegen/cpu/Strips.h"

namespace onnxc {

class RaggedTile {
public:
  // The table of `rows` pixels of an image of `inHeight` x `inWidth` pixels of `pixelBytes`, whose rows lie `down` and whose columns
  // `across` pixels apart, in the task's scratch memory, of which setScratch asks the kernel to have enough. `planes`: that many images,
  // one behind the other from the address that fill gets on, have tables; 0: there is one table, for images that forTaps is told.
  RaggedTile(KernelCode &code, const WindowShape &window, int64_t rows, mlir::Value inHeight, mlir::Value inWidth, mlir::Value down,
             int64_t across, int64_t pixelBytes, int64_t planes)
      : c(code), w(window), rows(rows), across(across), pixelBytes(pixelBytes), planes(planes), inHeight(inHeight), inWidth(inWidth),
        down(down) {}
  void setScratch();

  // Whether the tile that begins at `column` lies in one row and has its taps between the ends of the input's rows.
  mlir::Value regular(mlir::Value column, mlir::Value outWidth) const;
  // Fills the table of the images from `image` on for the first `count` pixels from `row`, `column` on, row by row.
  void fill(mlir::Value image, mlir::Value row, mlir::Value column, mlir::Value outWidth, mlir::Value count);
  // Calls `body` with each tap in the table: its number, and where each pixel begins in plane `number`, at `plane`; zeros for padding.
  Code::Values forTaps(mlir::Value plane, mlir::Value number, mlir::ValueRange start,
                       llvm::function_ref<Code::Values(mlir::Value tap, llvm::ArrayRef<mlir::Value> pixels, mlir::ValueRange)> body);

private:
  int64_t lanes() const { return llvm::alignTo(rows, 8); }
  // Where each row's pixel begins, an address or, of one table, bytes from the plane, -1 for padding; the tap's number.
  int64_t entryBytes() const { return (lanes() + 8) * 8; }
  KernelCode &c;
  const WindowShape &w;
  int64_t rows, across, pixelBytes, planes;
  mlir::Value inHeight, inWidth, down, taps;
};

}  // namespace onnxc
