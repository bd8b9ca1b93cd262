/* threads.c: parallel launches. Ranges are contiguous and depend on the extent and the number of threads only through which task computes
 * what; kernels give the same bits for any partition. The default pool starts its threads on first use and parks them on a condition. */
#include "runtime_stub/internal.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

struct onnxc_pool {
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  pthread_t *threads;
  int32_t wanted, started, tasks, next, pending;
  uint64_t generation;
  bool stop;
  void (*body)(void *, int32_t);
  void *arg;
};

/* Takes tasks of the current generation until none is left; the lock is held on entry and on return. */
static void work(onnxc_pool *p) {
  while (p->next < p->tasks) {
    const int32_t task = p->next++;
    pthread_mutex_unlock(&p->lock);
    p->body(p->arg, task);
    pthread_mutex_lock(&p->lock);
    if (--p->pending == 0)
      pthread_cond_signal(&p->done);
  }
}

static void *worker(void *arg) {
  onnxc_pool *p = arg;
  pthread_mutex_lock(&p->lock);
  while (!p->stop) {
    work(p);
    if (!p->stop && p->next >= p->tasks)
      pthread_cond_wait(&p->wake, &p->lock);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

onnxc_pool *onnxc_pool_create(const onnxc_options *options, int32_t threads) {
  onnxc_pool *p = onnxc_allocate(options, (int64_t)sizeof *p + threads * (int64_t)sizeof(pthread_t));
  if (!p)
    return NULL;
  *p = (onnxc_pool){.threads = (pthread_t *)(p + 1), .wanted = threads - 1};
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  pthread_cond_init(&p->done, NULL);
  return p;
}

void onnxc_pool_destroy(onnxc_pool *p, const onnxc_options *options) {
  pthread_mutex_lock(&p->lock);
  p->stop = true;
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  for (int32_t i = 0; i < p->started; ++i)
    pthread_join(p->threads[i], NULL);
  pthread_cond_destroy(&p->wake);
  pthread_cond_destroy(&p->done);
  pthread_mutex_destroy(&p->lock);
  onnxc_release(options, p);
}

/* Threads that take no signals, on the processors the caller may use; fewer when the system gives no more. */
static void start(onnxc_pool *p) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (p->started < p->wanted && !pthread_create(&p->threads[p->started], NULL, worker, p))
    ++p->started;
  p->wanted = p->started;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void onnxc_pool_run(onnxc_pool *p, int32_t tasks, void (*body)(void *, int32_t), void *arg) {
  pthread_mutex_lock(&p->lock);
  if (p->started < p->wanted)
    start(p);
  p->body = body;
  p->arg = arg;
  p->tasks = p->pending = tasks;
  p->next = 0;
  pthread_cond_broadcast(&p->wake);
  work(p);
  while (p->pending)
    pthread_cond_wait(&p->done, &p->lock);
  pthread_mutex_unlock(&p->lock);
}

typedef struct launch {
  onnxc_kernel_fn kernel;
  void *const *bufs;
  const int64_t *dims;
  char *scratch;
  int64_t extent, scratch_bytes;
  int32_t tasks;
  int32_t *status;
} launch;

static void run_task(void *arg, int32_t task) {
  const launch *l = arg;
  const int64_t begin = l->extent * task / l->tasks, end = l->extent * (task + 1) / l->tasks;
#if defined(__x86_64__)
  const unsigned control = _mm_getcsr();
  _mm_setcsr(0x1f80);
#endif
  l->status[task] = l->kernel(l->bufs, l->dims, l->scratch + task * l->scratch_bytes, begin, end);
#if defined(__x86_64__)
  _mm_setcsr(control);
#endif
}

int32_t onnxc_rt_parallel(onnxc_rt *rt, onnxc_kernel_fn k, void *const *bufs, const int64_t *dims, int64_t extent, int64_t grain,
                          int64_t scratch_bytes) {
  onnxc_context *c = (onnxc_context *)rt;
  int64_t tasks = rt->num_threads < ONNXC_MAX_TASKS ? rt->num_threads : ONNXC_MAX_TASKS;
  if (grain > 0 && extent / grain < tasks)
    tasks = extent / grain;
  if (tasks < 1)
    tasks = 1;
  scratch_bytes = (scratch_bytes + 63) & ~(int64_t)63;
  char *scratch = NULL;
  if (scratch_bytes < 0 || scratch_bytes > INT64_MAX / ONNXC_MAX_TASKS)
    return 5;
  if (scratch_bytes && !(scratch = onnxc_rt_scratch(rt, scratch_bytes * tasks)))
    return 5;
  if (tasks == 1)
    return k(bufs, dims, scratch, 0, extent);
  int32_t status[ONNXC_MAX_TASKS];
  for (int32_t i = 0; i < tasks; ++i)
    status[i] = -1; /* a caller's parallel_for that leaves a task out is a failure, too */
  launch l = {k, bufs, dims, scratch, extent, scratch_bytes, (int32_t)tasks, status};
  if (c->options.parallel_for)
    c->options.parallel_for(c->options.parallel_user, (int32_t)tasks, run_task, &l);
  else
    onnxc_pool_run(c->pool, (int32_t)tasks, run_task, &l);
  for (int32_t i = 0; i < tasks; ++i)
    if (status[i])
      return status[i];
  return 0;
}
