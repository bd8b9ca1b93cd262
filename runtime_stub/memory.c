/* memory.c: memory of contexts and what generated code asks for: slots, scratch and the heap of one run. */
#include "runtime_stub/internal.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* From LARGE bytes on memory is asked for in huge pages: a first run meets 512 times fewer faults, later ones fewer misses of the TLB. */
enum { HUGE_PAGE = 2 << 20, LARGE = 2 * HUGE_PAGE };

void *onnxc_allocate(const onnxc_options *options, int64_t bytes) {
  if (bytes < 0)
    return NULL;
  size_t size = ((size_t)bytes + 63) & ~(size_t)63;
  if (size == 0)
    size = 64;
  if (options->alloc) {
    void *given = options->alloc(options->alloc_user, size, 64);
    if ((uintptr_t)given & 63) { /* code relies on it */
      onnxc_release(options, given);
      return NULL;
    }
    return given;
  }
  void *p = NULL;
  if (posix_memalign(&p, size >= LARGE ? HUGE_PAGE : 64, size))
    return NULL;
  if (size >= LARGE)
    madvise(p, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); /* what the system makes of it is its own */
  return p;
}

void onnxc_release(const onnxc_options *options, void *ptr) {
  if (!ptr)
    return;
  if (options->alloc) {
    if (options->free)
      options->free(options->alloc_user, ptr);
  } else {
    free(ptr);
  }
}

void *onnxc_reserve(const onnxc_options *options, buffer *b, int64_t bytes) {
  if (bytes < 0)
    return NULL;
  if (b->data && b->bytes >= bytes)
    return b->data;
  onnxc_release(options, b->data);
  b->data = onnxc_allocate(options, bytes);
  b->bytes = b->data ? bytes : 0;
  return b->data;
}

void *onnxc_rt_slot(onnxc_rt *rt, int64_t slot, int64_t bytes) {
  onnxc_context *c = (onnxc_context *)rt;
  return onnxc_reserve(&c->options, &c->slots[slot], bytes);
}

void *onnxc_rt_scratch(onnxc_rt *rt, int64_t bytes) {
  onnxc_context *c = (onnxc_context *)rt;
  return onnxc_reserve(&c->options, &c->scratch, bytes);
}

enum { BLOCK_MINIMUM = 1 << 16 };

/* Bump allocation from blocks that the context keeps between runs. */
void *onnxc_rt_heap(onnxc_rt *rt, int64_t bytes) {
  onnxc_context *c = (onnxc_context *)rt;
  if (bytes < 0 || bytes > INT64_MAX / 2)
    return NULL;
  bytes = (bytes + 63) & ~(int64_t)63;
  heap_block *b = c->heap;
  if (!b || b->size - b->used < bytes) {
    int64_t size = bytes > BLOCK_MINIMUM ? bytes : BLOCK_MINIMUM;
    b = onnxc_allocate(&c->options, size + ONNXC_BLOCK_HEADER);
    if (!b)
      return NULL;
    b->next = c->heap;
    b->size = size;
    b->used = 0;
    c->heap = b;
  }
  char *p = (char *)b + ONNXC_BLOCK_HEADER + b->used;
  b->used += bytes;
  memset(p, 0, (size_t)bytes);
  return p;
}

void onnxc_rt_keep(onnxc_rt *rt, uint64_t key, void *data) {
  onnxc_context *c = (onnxc_context *)rt;
  onnxc_rt_take(rt, key);
  c->kept[c->next_kept].key = key;
  c->kept[c->next_kept].data = data;
  c->next_kept = (c->next_kept + 1) % ONNXC_KEPT;
}

void *onnxc_rt_take(onnxc_rt *rt, uint64_t key) {
  onnxc_context *c = (onnxc_context *)rt;
  for (int32_t i = 0; i < ONNXC_KEPT; ++i)
    if (c->kept[i].data && c->kept[i].key == key) {
      void *data = c->kept[i].data;
      c->kept[i].data = NULL;
      return data;
    }
  return NULL;
}

heap_mark onnxc_heap_mark(const onnxc_context *c) { return (heap_mark){c->heap, c->heap ? c->heap->used : 0}; }

void onnxc_heap_rewind(onnxc_context *c, heap_mark mark) {
  while (c->heap != mark.top) {
    heap_block *next = c->heap->next;
    onnxc_release(&c->options, c->heap);
    c->heap = next;
  }
  if (c->heap)
    c->heap->used = mark.used;
}

void onnxc_heap_free(onnxc_context *c) { onnxc_heap_rewind(c, (heap_mark){0}); }

/* Keeps one block that holds what the last run needed, so that a steady state allocates nothing. */
void onnxc_heap_reset(onnxc_context *c) {
  memset(c->kept, 0, sizeof c->kept);
  if (!c->heap)
    return;
  if (!c->heap->next) {
    c->heap->used = 0;
    return;
  }
  int64_t total = 0;
  for (heap_block *b = c->heap; b; b = b->next)
    total += b->used;
  onnxc_heap_free(c);
  heap_block *b = onnxc_allocate(&c->options, total + ONNXC_BLOCK_HEADER);
  if (!b)
    return;
  b->next = NULL;
  b->size = total;
  b->used = 0;
  c->heap = b;
}
