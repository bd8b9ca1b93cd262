/* npy.h: NumPy's .npy files as values, for compiled programs: program.c. The compiler's own reader is compiler/commands/Npy.h. */
#ifndef ONNXC_NPY_H
#define ONNXC_NPY_H
#include "runtime_stub/include/onnxc/onnxc.h"

enum { ONNXC_MAX_PATH = 4096 };

/* A message of several parts; the next call overwrites it. */
__attribute__((format(printf, 1, 2))) const char *onnxc_worded(const char *format, ...);

/* Reads `path` as elements of type v->dtype, in the row-major order whatever the file's; the shape and the data stay allocated. Returns
 * what is wrong, or NULL. */
const char *onnxc_read_npy(const char *path, const char *input, onnxc_value *v);

/* Writes <folder>/<name>.npy. Returns what is wrong, or NULL. */
const char *onnxc_write_npy(const char *folder, const char *name, const onnxc_value *v);
#endif
