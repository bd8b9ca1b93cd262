/* threads.c: parallel launches. Ranges are contiguous and depend on the extent and the number of threads only through which task computes
 * what; kernels give the same bits for any partition. The default pool starts its threads on first use, never more than the processors this
 * process may use (cpu.c). They watch for the next launch for a while, which makes regions of 20 us worth while, then park: for longer in a
 * run, where others' work between two launches ends soon, than after it.
 *
 * Task i is thread i's, so that a launch finds in a processor's caches what the one before it left there; others take it when they have
 * nothing left to do, or see it wait for longer than its thread needs to notice.
 *
 * A system may wake a thread on the processor of whoever woke it though others are idle: Linux in a virtual machine, which takes an idle
 * virtual processor for one that is not there. So threads park with an affinity that leaves the caller's processor out. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* affinities */
#endif
#include "runtime_stub/internal.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { IN_RUN = 300000, IDLE = 30000, LOOKS = 64, PATIENCE = 16 }; /* nanoseconds; looks between two readings of the clock; looks */
enum { LINE = 64 };
/* A grain is some 5 us, or one larger unit. Small units are worth a region from 20 us on; of many threads half of that, since one alone
 * waits for what the others' caches hold: with 16 threads layers of 7 to 30 us, left to one, took up to four times as long as in a run of
 * one. */
enum { FEW_TASKS = 4, FEW_THREADS = 4 };

typedef struct member { /* a thread of a pool, and the task of its number */
  onnxc_pool *pool;
  pthread_t thread;
  int32_t number;
  cpu_set_t given, set;                  /* the processors it was made for; those it was last told to run on */
  int32_t left_out;                      /* the caller's processor when it was; below 0: never yet */
  uint64_t seen;                         /* the last launch it worked for */
  _Alignas(LINE) _Atomic uint64_t taken; /* number of the last launch in which the task was taken */
} member;

/* `launch` says all of one that threads must agree on: its number and its tasks (48 and 16 bits). */
struct onnxc_pool {
  _Alignas(LINE) _Atomic uint64_t launch;
  _Alignas(LINE) _Atomic int32_t pending;
  _Alignas(LINE) _Atomic int32_t parked, waiting;
  _Atomic uint32_t turn;     /* odd in a run */
  _Atomic int32_t processor; /* the caller's in its last run; below 0: unknown, or of no interest */
  void (*body)(void *, int32_t);
  void *arg;
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  int32_t wanted, started, given_up;
  /* Threads do not follow a fork. Of the two that tell of one, a page that the system wipes in the child costs no system call. */
  atomic_bool *page; /* NULL: the system has no such pages */
  pid_t owner;
  atomic_bool stop;
  bool sandboxed;   /* a filter of system calls may end a process for one it does not expect */
  member members[]; /* the caller's first; one for each task */
};

/* Whether this thread is the one that runs task `task` of launch `number`. What is not yet taken keeps its launch from ending, and of one
 * that has ended all was. */
static bool take(onnxc_pool *p, uint64_t number, int32_t task) {
  uint64_t last = atomic_load(&p->members[task].taken);
  return last < number && atomic_compare_exchange_strong(&p->members[task].taken, &last, number);
}

static int32_t tasks_of(uint64_t launch) { return (int32_t)(launch & 0xffff); }

/* Takes tasks of the launch, its own first, until none is left. Body and arg stay while one is pending. */
static void work(member *self, uint64_t launch) {
  onnxc_pool *p = self->pool;
  const int32_t tasks = tasks_of(launch);
  self->seen = launch;
  for (int32_t i = 0, task = self->number % tasks; i < tasks; ++i, task = task + 1 < tasks ? task + 1 : 0) {
    if (!take(p, launch >> 16, task))
      continue;
    p->body(p->arg, task);
    if (atomic_fetch_sub(&p->pending, 1) == 1 && atomic_load(&p->waiting)) {
      pthread_mutex_lock(&p->lock);
      pthread_cond_signal(&p->done);
      pthread_mutex_unlock(&p->lock);
    }
  }
}

static void pause_briefly(void) {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static bool worker_ready(const member *self) { return atomic_load(&self->pool->launch) != self->seen || atomic_load(&self->pool->stop); }
static bool caller_ready(const member *self) { return !atomic_load(&self->pool->pending); }

/* Keeps the thread away from the caller's processor, unless it has no other, and tells whether that is new. It never runs where the
 * process's first thread may not, and keeps to what others have made of its affinity. */
static bool leave_out(member *self) {
  const int32_t processor = atomic_load(&self->pool->processor);
  if (processor < 0 || processor == self->left_out)
    return false;
  self->left_out = processor;
  cpu_set_t now, rest;
  if (sched_getaffinity(0, sizeof now, &now) || sched_getaffinity(self->pool->owner, sizeof rest, &rest))
    return false;
  if (!CPU_EQUAL(&now, &self->set))
    CPU_ZERO(&self->given);
  CPU_AND(&rest, &rest, &self->given);
  CPU_CLR(processor, &rest);
  if (!CPU_COUNT(&rest) || sched_setaffinity(0, sizeof rest, &rest))
    return false;
  self->set = rest;
  return true;
}

/* Whether the caller cannot launch before this thread gives way. */
static bool is_beside_caller(const member *self) {
  const int32_t processor = atomic_load(&self->pool->processor);
  return self->number && processor >= 0 && sched_getcpu() == processor;
}

static bool spin(member *self, bool (*ready)(const member *)) {
  onnxc_pool *p = self->pool;
  const int64_t begin = onnxc_now();
  do {
    for (int i = 0; i < LOOKS; ++i) {
      if (ready(self))
        return true;
      pause_briefly();
    }
    if (is_beside_caller(self) && !leave_out(self))
      sched_yield();
  } while (onnxc_now() - begin < (atomic_load(&p->turn) & 1 ? IN_RUN : IDLE));
  return false;
}

/* Who parks counts itself first and looks again after; who launches writes its number first and looks for parked threads after. */
static void *worker(void *arg) {
  member *self = arg;
  onnxc_pool *p = self->pool;
  self->left_out = -1;
  if (sched_getaffinity(0, sizeof self->given, &self->given))
    CPU_ZERO(&self->given);
  self->set = self->given;
  leave_out(self);
  while (!atomic_load(&p->stop)) {
    const uint64_t launch = atomic_load(&p->launch);
    if (launch != self->seen) {
      if (self->number >= tasks_of(launch)) /* none of its own */
        for (int i = 0; i < PATIENCE && atomic_load(&p->launch) == launch; ++i)
          pause_briefly();
      work(self, launch);
    }
    if (spin(self, worker_ready))
      continue;
    leave_out(self);
    pthread_mutex_lock(&p->lock);
    const uint32_t turn = atomic_load(&p->turn);
    atomic_fetch_add(&p->parked, 1);
    while (!worker_ready(self) && atomic_load(&p->turn) - turn < 1 + (turn & 1)) /* till the next run */
      pthread_cond_wait(&p->wake, &p->lock);
    atomic_fetch_sub(&p->parked, 1);
    pthread_mutex_unlock(&p->lock);
    leave_out(self); /* of another processor than before */
  }
  return NULL;
}

enum { PAGE = 4096, NO_ADVICE = -1 };

/* A page that the child of a fork finds zeroed. A system that takes any advice for a success only ignores it. */
static atomic_bool *fork_page(void) {
  void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return NULL;
  if (madvise(page, PAGE, NO_ADVICE) && !madvise(page, PAGE, MADV_WIPEONFORK))
    return page;
  munmap(page, PAGE);
  return NULL;
}

static bool is_owner(const onnxc_pool *p) { return p->page ? atomic_load_explicit(p->page, memory_order_relaxed) : p->owner == getpid(); }

/* The pool without threads, as after creation and in the child of a fork. */
static void reset(onnxc_pool *p) {
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  pthread_cond_init(&p->done, NULL);
  p->started = p->given_up = 0;
  p->owner = getpid();
  if (p->page)
    atomic_store(p->page, true);
  atomic_store(&p->parked, 0);
}

onnxc_pool *onnxc_pool_create(const onnxc_options *options, int32_t threads) {
  const int32_t processors = onnxc_processors();
  onnxc_pool *p = onnxc_allocate(options, (int64_t)sizeof *p + threads * (int64_t)sizeof(member));
  if (!p)
    return NULL;
  *p = (onnxc_pool){.wanted = (threads < processors ? threads : processors) - 1,
                    .page = fork_page(),
                    .processor = -1,
                    .sandboxed = prctl(PR_GET_SECCOMP) != 0};
  for (int32_t i = 0; i < threads; ++i)
    p->members[i] = (member){.pool = p, .number = i};
  reset(p);
  return p;
}

void onnxc_pool_destroy(onnxc_pool *p, const onnxc_options *options) {
  if (is_owner(p)) {
    atomic_store(&p->stop, true);
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int32_t i = 0; i < p->started; ++i)
      pthread_join(p->members[i + 1].thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
  }
  if (p->page)
    munmap(p->page, PAGE);
  onnxc_release(options, p);
}

/* Threads that take no signals, on the processors the caller may use; fewer when the system gives no more. */
static void start(onnxc_pool *p) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (member *m = p->members + 1 + p->started; p->started < p->wanted && !pthread_create(&m->thread, NULL, worker, m); ++m)
    ++p->started;
  p->given_up = p->started < p->wanted;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wake(onnxc_pool *p) {
  if (!atomic_load(&p->parked))
    return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
}

void onnxc_pool_begin(onnxc_pool *p) {
  if (!p->sandboxed)
    atomic_store(&p->processor, sched_getcpu());
  atomic_fetch_add(&p->turn, 1);
  if (is_owner(p))
    wake(p); /* awake by the first launch */
}

void onnxc_pool_end(onnxc_pool *p) { atomic_fetch_add(&p->turn, 1); }

void onnxc_pool_run(onnxc_pool *p, int32_t tasks, void (*body)(void *, int32_t), void *arg) {
  if (!is_owner(p)) {
    reset(p);
    atomic_store(&p->turn, 1);
  }
  if (p->started < p->wanted && !p->given_up)
    start(p);
  p->body = body;
  p->arg = arg;
  atomic_store(&p->pending, tasks);
  const uint64_t launch = ((atomic_load(&p->launch) >> 16) + 1) << 16 | (uint64_t)tasks;
  atomic_store(&p->launch, launch);
  wake(p);
  member *self = p->members;
  work(self, launch);
  if (caller_ready(self) || spin(self, caller_ready))
    return;
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); /* the threads work with this one's stack */
  pthread_mutex_lock(&p->lock);
  atomic_store(&p->waiting, 1);
  while (!caller_ready(self))
    pthread_cond_wait(&p->done, &p->lock);
  atomic_store(&p->waiting, 0);
  pthread_mutex_unlock(&p->lock);
  pthread_setcancelstate(before, NULL);
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
  const onnxc_float_control control = onnxc_enter_kernels();
  l->status[task] = l->kernel(l->bufs, l->dims, l->scratch + task * l->scratch_bytes, begin, end);
  onnxc_leave_kernels(control);
}

int32_t onnxc_rt_parallel(onnxc_rt *rt, onnxc_kernel_fn k, void *const *bufs, const int64_t *dims, int64_t extent, int64_t grain,
                          int64_t scratch_bytes) {
  onnxc_context *c = (onnxc_context *)rt;
  int64_t tasks = rt->num_threads < ONNXC_MAX_TASKS ? rt->num_threads : ONNXC_MAX_TASKS;
  if (grain > 0 && extent / grain < tasks)
    tasks = extent / grain;
  if (tasks < 1 || (grain > 1 && rt->num_threads <= FEW_THREADS && extent / grain < FEW_TASKS))
    tasks = 1;
  char *scratch = NULL;
  if (scratch_bytes < 0 || scratch_bytes > INT64_MAX / ONNXC_MAX_TASKS - 63)
    return ONNXC_K_MEMORY;
  scratch_bytes = (scratch_bytes + 63) & ~(int64_t)63;
  if (scratch_bytes && !(scratch = onnxc_reserve(&c->options, &c->tasks, scratch_bytes * tasks)))
    return ONNXC_K_MEMORY;
  if (tasks == 1)
    return k(bufs, dims, scratch, 0, extent);
  int32_t status[ONNXC_MAX_TASKS];
  for (int32_t i = 0; i < tasks; ++i)
    status[i] = ONNXC_K_LEFT_OUT;
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
