/* elements.h: what the stub knows of element types, by their codes (TensorProto.DataType); their names: onnxc_dtype_name. For values.h,
 * program.c and npy.c. */
#ifndef ONNXC_ELEMENTS_H
#define ONNXC_ELEMENTS_H
#include <stdint.h>

enum { STRING = 8, FLOAT16 = 10, BFLOAT16 = 16 };

typedef struct element {
  char npy[5];      /* NumPy's name; extended types are their bytes, strings have none */
  uint8_t size, dl; /* bytes in memory; what DLPack calls the class */
} element;
enum { DL_INT, DL_UINT, DL_FLOAT, DL_HANDLE, DL_BFLOAT, DL_COMPLEX, DL_BOOL };

static const element elements[] = {
    {"", 0, DL_INT},          {"<f4", 4, DL_FLOAT},  {"|u1", 1, DL_UINT}, {"|i1", 1, DL_INT},  {"<u2", 2, DL_UINT},
    {"<i2", 2, DL_INT},       {"<i4", 4, DL_INT},    {"<i8", 8, DL_INT},  {"", 16, DL_HANDLE}, {"|b1", 1, DL_BOOL},
    {"<f2", 2, DL_FLOAT},     {"<f8", 8, DL_FLOAT},  {"<u4", 4, DL_UINT}, {"<u8", 8, DL_UINT}, {"<c8", 8, DL_COMPLEX},
    {"<c16", 16, DL_COMPLEX}, {"<u2", 2, DL_BFLOAT}, {"|u1", 1, DL_UINT}, {"|u1", 1, DL_UINT}, {"|u1", 1, DL_UINT},
    {"|u1", 1, DL_UINT},      {"|u1", 1, DL_UINT},   {"|i1", 1, DL_UINT}, {"|u1", 1, DL_UINT}, {"|u1", 1, DL_UINT},
    {"|u1", 1, DL_UINT},      {"|i1", 1, DL_UINT},   {"|u1", 1, DL_UINT}, {"|u1", 1, DL_UINT},
};
enum { NUM_ELEMENTS = sizeof elements / sizeof *elements };

/* The first row, of size 0, where there is no such code. */
static inline const element *element_of(int32_t dtype) { return &elements[dtype > 0 && dtype < NUM_ELEMENTS ? dtype : 0]; }
#endif
