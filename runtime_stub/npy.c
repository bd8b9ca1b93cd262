/* npy.c: see npy.h. Format: magic, version, header length, a Python dict literal {'descr', 'fortran_order', 'shape'}, raw data. */
#include "runtime_stub/npy.h"
#include "runtime_stub/elements.h"
#include "runtime_stub/plan.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *onnxc_worded(const char *format, ...) {
  static char text[ONNXC_MAX_PATH + 256];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return text;
}

/* Null where it cannot be read; errno then says why. */
static char *read_file(const char *path, int64_t *size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat is;
  if (fd < 0)
    return NULL;
  const bool known = fstat(fd, &is) == 0, folder = known && S_ISDIR(is.st_mode);
  const int64_t n = known && !folder ? lseek(fd, 0, SEEK_END) : -1;
  if (folder)
    errno = EISDIR;
  char *data = n < 0 ? NULL : malloc((size_t)n + 1);
  int64_t at = 0;
  ssize_t got = 1;
  for (; data && at < n && got > 0; at += got > 0 ? got : 0)
    got = pread(fd, data + at, (size_t)(n - at), at);
  const int reason = errno;
  close(fd);
  errno = reason;
  if (!data || got < 0) {
    free(data);
    return NULL;
  }
  data[at] = 0;
  *size = at;
  return data;
}

/* The value after `key` in the header's dictionary. */
static const char *field(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (!at)
    return "";
  at += strlen(key);
  while (*at == ' ' || *at == ':')
    ++at;
  return at;
}

/* That the file holds other elements than the input takes; `descr`: what the header calls them, in quotes. */
static const char *another_type(const char *input, int32_t dtype, const char *descr) {
  const int32_t length = *descr == '\'' ? (int32_t)strcspn(descr + 1, "'") : 0;
  for (int32_t i = 1; i < NUM_ELEMENTS; ++i)
    if (length && (int32_t)strlen(elements[i].npy) == length && !strncmp(elements[i].npy, descr + 1, (size_t)length))
      return onnxc_worded("the file holds %s, input '%s' needs %s", onnxc_dtype_name(i), input, onnxc_dtype_name(dtype));
  return onnxc_worded("the file holds '%.*s', input '%s' needs %s", length, descr + 1, input, onnxc_dtype_name(dtype));
}

/* The dims in the header, into at most ONNXC_MAX_RANK places of `shape`; their number, or -1. */
static int32_t read_shape(const char *at, int64_t *shape, int64_t *count) {
  int32_t rank = 0;
  *count = 1;
  while (*at && *at != ')') {
    char *end;
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    const int64_t dim = strtoll(at, &end, 10);
    if (rank == ONNXC_MAX_RANK || __builtin_mul_overflow(*count, dim, count))
      return -1;
    shape[rank++] = dim;
    at = end;
  }
  return rank;
}

/* Row-major `to` of `from`, in which element (i0, i1, ...) lies at i0 + i1 d0 + ... */
static void to_row_major(char *to, const char *from, int64_t count, int64_t size, int32_t rank, const int64_t *shape) {
  int64_t at[ONNXC_MAX_RANK] = {0};
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t source = 0;
    for (int32_t a = rank; a-- > 0;)
      source = source * shape[a] + at[a];
    memcpy(to + flat * size, from + source * size, (size_t)size);
    for (int32_t a = rank; a-- > 0 && ++at[a] == shape[a];)
      at[a] = 0;
  }
}

/* The tensor of a header, a text that ends, with `left` bytes of elements behind it. */
static const char *read_tensor(const char *header, const char *data, int64_t left, const char *input, onnxc_value *v) {
  const element *e = element_of(v->dtype);
  const char *descr = field(header, "'descr'");
  if (*descr != '\'' || strncmp(descr + 1, e->npy, strlen(e->npy)) || descr[1 + strlen(e->npy)] != '\'')
    return another_type(input, v->dtype, descr);
  int64_t count, *shape = calloc(ONNXC_MAX_RANK, sizeof *shape);
  if (!shape)
    return "out of memory";
  const int32_t rank = read_shape(field(header, "'shape'"), shape, &count);
  const char *wrong = rank < 0 ? "a damaged .npy file" : count > left / e->size ? "a truncated .npy file" : NULL;
  char *row_major = wrong ? NULL : malloc((size_t)(count * e->size) + 1);
  if (!row_major) {
    free(shape);
    return wrong ? wrong : "out of memory";
  }
  if (rank > 1 && !strncmp(field(header, "'fortran_order'"), "True", 4))
    to_row_major(row_major, data, count, e->size, rank, shape);
  else
    memcpy(row_major, data, (size_t)(count * e->size));
  v->tensor.data = row_major;
  v->tensor.ndim = rank;
  v->tensor.shape = shape;
  return NULL;
}

static const char *read_whole(const char *file, int64_t size, const char *input, onnxc_value *v) {
  if (size < 12 || memcmp(file, "\x93NUMPY", 6))
    return "not a .npy file";
  const int64_t wide = file[6] > 1 ? 4 : 2, length = (unsigned char)file[8] | (unsigned char)file[9] << 8;
  const int64_t begin = 8 + wide + length;
  if ((wide == 4 && (file[10] || file[11])) || begin > size)
    return "a damaged .npy file";
  char *header = strndup(file + 8 + wide, (size_t)length);
  const char *wrong = header ? read_tensor(header, file + begin, size - begin, input, v) : "out of memory";
  free(header);
  return wrong;
}

const char *onnxc_read_npy(const char *path, const char *input, onnxc_value *v) {
  int64_t size = 0;
  char *file = read_file(path, &size);
  if (!file)
    return onnxc_worded("cannot be read: %s", strerror(errno));
  const char *wrong = read_whole(file, size, input, v);
  free(file);
  return wrong;
}

static int write_all(int fd, const char *data, int64_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, (size_t)size);
    if (n <= 0)
      return 0;
    data += n, size -= n;
  }
  return 1;
}

const char *onnxc_write_npy(const char *folder, const char *name, const onnxc_value *v) {
  const element *e = element_of(v->dtype);
  char path[ONNXC_MAX_PATH], header[2048];
  if (v->kind != ONNXC_TENSOR || !*e->npy)
    return "only tensors of numbers can be written";
  if (snprintf(path, sizeof path, "%s/%s.npy", folder, name) >= (int)sizeof path)
    return "its path is too long";
  for (char *p = path + strlen(folder) + 1; *p; ++p)
    if (*p == '/')
      *p = '_';
  int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (", e->npy);
  int64_t count = 1;
  for (int32_t a = 0; a < v->tensor.ndim && a < ONNXC_MAX_RANK; ++a) {
    n += snprintf(header + n, sizeof header - (size_t)n, "%lld, ", (long long)v->tensor.shape[a]);
    count *= v->tensor.shape[a];
  }
  n += snprintf(header + n, sizeof header - (size_t)n, "), }");
  while ((n + 11) % 64)
    header[n++] = ' ';
  header[n++] = '\n';
  char start[10] = "\x93NUMPY\x01";
  start[7] = 0, start[8] = (char)(n & 255), start[9] = (char)(n >> 8);
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const int good = fd >= 0 && write_all(fd, start, 10) && write_all(fd, header, n) && write_all(fd, v->tensor.data, count * e->size);
  const int reason = errno;
  if (good && !close(fd))
    return NULL;
  return onnxc_worded("'%s' cannot be written: %s", path, strerror(good ? errno : reason));
}
