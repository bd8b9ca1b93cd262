/* weights.c: the weights of a model: in the artefact, or in a file of their own, found beside the artefact or where the caller says, and
 * mapped from model_create to model_destroy. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime_stub/internal.h"
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_PATH = 4096, STAMP = sizeof(onnxc_weights_stamp) };
_Static_assert(STAMP == 64, "the weights behind it are aligned as kernels want them");

/* Writes the name of the library or program that holds this code; "" for the program. dladdr is no part of older C libraries. */
static int find_image(struct dl_phdr_info *image, size_t size, void *path) {
  const uintptr_t here = (uintptr_t)&onnxc_the_plan;
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || here - (image->dlpi_addr + segment->p_vaddr) >= segment->p_memsz)
      continue;
    snprintf(path, MOST_PATH, "%s", image->dlpi_name);
    return 1;
  }
  return 0;
}

/* Where the file is when nobody says; written to `path`. */
static const char *find_file(char *path) {
  *path = 0;
  dl_iterate_phdr(find_image, path);
  if (!*path) {
    const ssize_t length = readlink("/proc/self/exe", path, MOST_PATH - 1);
    path[length < 0 ? 0 : length] = 0;
  }
  size_t end = strlen(path);
  const char *name = onnxc_the_plan.weights_file;
  while (*name && end && path[end - 1] != '/')
    --end;
  snprintf(path + end, MOST_PATH - end, "%s", *name ? name : ".weights");
  return path;
}

/* Numbers come before the path, which may be longer than a message. `stamped`: bytes read of the stamp. */
static int32_t check_file(const onnxc_weights_stamp *found, ssize_t stamped, int64_t bytes, const char *path, onnxc_error *error) {
  const onnxc_weights_stamp *wanted = (const onnxc_weights_stamp *)(const void *)onnxc_weights;
  if (stamped == STAMP && memcmp(found->magic, wanted->magic, sizeof wanted->magic))
    return onnxc_fail(error, ONNXC_E_WEIGHTS, NULL, "no weights of onnxc are in '%s'", path);
  if (stamped == STAMP && found->id != wanted->id)
    return onnxc_fail(error, ONNXC_E_WEIGHTS, NULL, "weights %016llx needed, %016llx found: '%s' is another model's",
                      (unsigned long long)wanted->id, (unsigned long long)found->id, path);
  if (bytes != wanted->bytes + STAMP)
    return onnxc_fail(error, ONNXC_E_WEIGHTS, NULL, "a file of %lld bytes needed, %lld found: '%s' is cut or damaged",
                      (long long)wanted->bytes + STAMP, (long long)bytes, path);
  return 0;
}

int32_t onnxc_weights_open(onnxc_model *m, const char *path, onnxc_error *error) {
  m->weights = onnxc_weights;
  m->mapped = 0;
  if (!onnxc_the_plan.weights_file)
    return 0;
  char place[MOST_PATH];
  if (!path)
    path = find_file(place);
  onnxc_weights_stamp stamp;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);      /* who opens a pipe would wait */
  const ssize_t stamped = fd < 0 ? -1 : pread(fd, &stamp, STAMP, 0); /* read, since what is mapped may end before it is looked at */
  const int64_t bytes = stamped < 0 ? -1 : (int64_t)lseek(fd, 0, SEEK_END);
  int32_t status = 0;
  void *at = MAP_FAILED;
  if (bytes >= 0 && !(status = check_file(&stamp, stamped, bytes, path, error)))
    at = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (!status && at == MAP_FAILED)
    status = onnxc_fail(error, ONNXC_E_WEIGHTS, NULL,
                        "no weights (%m): '%s'; options.weights_path (--weights, in Python weights=) may name their file", path);
  if (fd >= 0)
    close(fd);
  if (status)
    return status;
  m->weights = (const char *)at + STAMP;
  m->mapped = bytes;
  return 0;
}

void onnxc_weights_close(const onnxc_model *m) {
  if (m->mapped)
    munmap((void *)(uintptr_t)(m->weights - STAMP), (size_t)m->mapped);
}
