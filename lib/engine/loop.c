/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libev's side of the engine, and its only user. libev aborts the process when its own small allocations fail: it is exempt from
 * fault injection. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/engine/inside.h"
#include "lib/engine/libev.h"

#define STACK_BYTES ((size_t)256 << 10)
#define BUDGET      64 /* events of each poller in a turn of the loop */
#define YIELDS      2  /* to waiters for the baton, before the loop takes it again */
#define NAP_MIN_NS  50000
#define NAP_MAX_NS  1000000
#define OFTEN_NS    16000 /* an application that comes in more often than this moves its operations on by itself */
#define OFTEN_TURNS 4     /* seen when rung: worth a nap to find out */

struct vcci_loop {
    struct vcci_engine *engine;
    struct ev_loop *ev;
    struct vcci_list timers;
    ev_io wake;
    ev_async nudge;
    ev_prepare prepare;
    ev_check check;
    ev_idle idle; /* active: work is waiting, do not sleep */
    ev_timer nap; /* callers' mode: bounds one run */
    int pipe[2];
    int stop, no_sleep, fd_fired, rung;
    unsigned turns_seen;
    int64_t nap_ns; /* busy: what to sleep instead of an unbounded poll */
    pthread_t thread;
};

struct vcci_timer {
    ev_timer ev;
    struct vcci_list node;
    struct vcci_loop *loop;
    void (*fn)(void *arg);
    void *arg;
};

/* ---- round the kernel's poll ---- */

static void on_release(struct ev_loop *ev)
{
    struct vcci_loop *loop = ev_userdata(ev);
    if (loop->no_sleep)
        return;
    vcci_baton_unlock(&loop->engine->baton);
    if (loop->nap_ns) {
        struct timespec nap = {.tv_nsec = loop->nap_ns};
        nanosleep(&nap, NULL);
    }
}

/* Those who wait for the baton come first, also if they share our core and have not run since they were woken. */
static void on_acquire(struct ev_loop *ev)
{
    struct vcci_loop *loop = ev_userdata(ev);
    struct vcci_baton *baton = &loop->engine->baton;
    if (loop->no_sleep)
        return;
    for (int i = 0; i < YIELDS && atomic_load_explicit(&baton->waiters, memory_order_relaxed); i++)
        sched_yield();
    vcci_baton_lock(baton);
}

/* While callers poll for themselves an event on a poller's descriptor would only wake this thread again and again. */
static void watch_fds(struct vcci_loop *loop)
{
    struct vcci_engine *engine = loop->engine;
    int off = atomic_load(&engine->callers) > atomic_load(&engine->asleep);
    if (off == engine->fds_off || (off && !loop->fd_fired))
        return;
    engine->fds_off = off;
    VCCI_LIST_EACH (it, &engine->pollers) {
        struct vcci_poller *poller = VCCI_CONTAINER(it, struct vcci_poller, node);
        if (poller->ev && off)
            ev_io_stop(loop->ev, poller->ev);
        else if (poller->ev)
            ev_io_start(loop->ev, poller->ev);
    }
}

/* A peer that rings costs itself a system call and us a switch of threads. That is well spent on an application that computes,
 * and lost on one that is about to come in anyway: one that posts a window of receives, or tests in a loop. Such a one is told by
 * how often it took the baton since the last look; while it goes on so, this thread only looks in after naps that grow to a
 * millisecond. Descriptors cannot wait for that. */
static void judge_busy(struct vcci_loop *loop)
{
    struct vcci_engine *engine = loop->engine;
    unsigned turns = engine->turns - loop->turns_seen;
    int often = turns >= OFTEN_TURNS && turns >= loop->nap_ns / OFTEN_NS;
    loop->turns_seen = engine->turns;
    if (!often || atomic_load_explicit(&engine->fd_pollers, memory_order_relaxed) || !(loop->rung || loop->nap_ns))
        loop->nap_ns = 0;
    else if (loop->nap_ns)
        loop->nap_ns = loop->nap_ns * 2 < NAP_MAX_NS ? loop->nap_ns * 2 : NAP_MAX_NS;
    else
        loop->nap_ns = NAP_MIN_NS;
    loop->rung = 0;
    engine->busy = loop->nap_ns != 0;
    _Atomic uint32_t *bell = vcci_engine_bell(engine);
    if (engine->busy && atomic_load_explicit(bell, memory_order_relaxed) & VCCI_BELL_POLL)
        atomic_fetch_and(bell, ~VCCI_BELL_POLL);
}

static void on_prepare(struct ev_loop *ev, ev_prepare *w, int events)
{
    struct vcci_loop *loop = w->data;
    struct vcci_engine *engine = loop->engine;
    int work = 0;
    (void)events;
    if (engine->conf.threaded) {
        judge_busy(loop);
        work = engine->busy;
        if (!work && atomic_load(&engine->callers) == 0 && vcci_engine_wants(engine))
            work = vcci_engine_settle(engine);
    }
    if (atomic_load_explicit(&engine->fd_pollers, memory_order_relaxed))
        watch_fds(loop);
    loop->fd_fired = 0;
    if (work)
        ev_idle_start(ev, &loop->idle);
    else
        ev_idle_stop(ev, &loop->idle);
    if (loop->stop)
        ev_break(ev, EVBREAK_ALL);
}

static void on_check(struct ev_loop *ev, ev_check *w, int events)
{
    struct vcci_loop *loop = w->data;
    (void)ev;
    (void)events;
    vcci_engine_poll(loop->engine, BUDGET);
}

static void on_poller_fd(struct ev_loop *ev, ev_io *w, int events)
{
    struct vcci_loop *loop = w->data;
    (void)ev;
    (void)events;
    loop->fd_fired = 1;
}

static void on_wake(struct ev_loop *ev, ev_io *w, int events)
{
    struct vcci_loop *loop = w->data;
    char bytes[512];
    (void)ev;
    (void)events;
    loop->rung = 1;
    while (read(w->fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        ;
}

static void on_idle(struct ev_loop *ev, ev_idle *w, int events)
{
    (void)ev;
    (void)w;
    (void)events;
}

static void on_nudge(struct ev_loop *ev, ev_async *w, int events)
{
    (void)ev;
    (void)w;
    (void)events;
}

static void on_nap(struct ev_loop *ev, ev_timer *w, int events)
{
    (void)ev;
    (void)w;
    (void)events;
}

static void on_timer(struct ev_loop *ev, ev_timer *w, int events)
{
    struct vcci_timer *timer = w->data;
    struct vcci_engine *engine = timer->loop->engine;
    (void)ev;
    (void)events;
    timer->fn(timer->arg); /* may stop, and so free, the timer */
    vcci_engine_stir(engine);
}

void vcci_loop_nudge(struct vcci_engine *engine)
{
    ev_async_send(engine->loop->ev, &engine->loop->nudge);
}

void vcci_loop_run(struct vcci_engine *engine, int64_t timeout_ns)
{
    struct vcci_loop *loop = engine->loop;
    int running = engine->running;
    engine->running = 1;
    engine->polls = 0;
    loop->no_sleep = timeout_ns <= 0;
    ev_now_update(loop->ev);
    if (!loop->no_sleep) {
        ev_timer_set(&loop->nap, (double)timeout_ns * 1e-9, 0.);
        ev_timer_start(loop->ev, &loop->nap);
    }
    ev_run(loop->ev, loop->no_sleep ? EVRUN_NOWAIT : EVRUN_ONCE);
    ev_timer_stop(loop->ev, &loop->nap);
    loop->no_sleep = 0;
    engine->running = running;
}

/* ---- the thread ---- */

static void *thread_main(void *arg)
{
    struct vcci_loop *loop = arg;
    vcci_baton_lock(&loop->engine->baton);
    ev_run(loop->ev, 0);
    vcci_baton_unlock(&loop->engine->baton);
    return NULL;
}

/* Signals are the application's: blocked before the thread exists, so that none hits it even at its birth. */
static int thread_start(struct vcci_loop *loop)
{
    pthread_attr_t attr;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    int err = pthread_create(&loop->thread, &attr, thread_main, loop);
    if (err == EINVAL) /* the program's thread-local data does not fit in it */
        err = pthread_create(&loop->thread, NULL, thread_main, loop);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err)
        return vcci_fail_errno(VCCL_ERR_SYSTEM, err, "cannot start the progress thread");
    pthread_setname_np(loop->thread, "vccl-engine");
    return 0;
}

static void watchers_start(struct vcci_loop *loop)
{
    ev_io_init(&loop->wake, on_wake, loop->pipe[0], EV_READ);
    ev_async_init(&loop->nudge, on_nudge);
    ev_prepare_init(&loop->prepare, on_prepare);
    ev_check_init(&loop->check, on_check);
    ev_idle_init(&loop->idle, on_idle);
    ev_init(&loop->nap, on_nap);
    loop->wake.data = loop->prepare.data = loop->check.data = loop;
    ev_io_start(loop->ev, &loop->wake);
    ev_async_start(loop->ev, &loop->nudge);
    ev_prepare_start(loop->ev, &loop->prepare);
    ev_check_start(loop->ev, &loop->check);
}

static void loop_free(struct vcci_loop *loop)
{
    if (loop->ev)
        ev_loop_destroy(loop->ev);
    for (int i = 0; i < 2; i++)
        if (loop->pipe[i] >= 0)
            close(loop->pipe[i]);
    free(loop);
}

int vcci_loop_create(struct vcci_engine *engine)
{
    struct vcci_loop *loop;
    int err = vcci_libev_load();
    if (err)
        return err;
    loop = calloc(1, sizeof *loop);
    if (!loop)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the progress engine");
    loop->engine = engine;
    loop->pipe[0] = loop->pipe[1] = -1;
    vcci_list_init(&loop->timers);
    if (pipe2(loop->pipe, O_CLOEXEC | O_NONBLOCK))
        err = vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "cannot make the pipe that wakes the progress engine");
    else if (!(loop->ev = ev_loop_new(EVFLAG_NOENV | EVFLAG_NOSIGMASK | EVBACKEND_EPOLL)))
        err = vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "libev cannot make a loop over epoll");
    if (!err) {
        ev_set_userdata(loop->ev, loop);
        ev_set_loop_release_cb(loop->ev, on_release, on_acquire);
        watchers_start(loop);
        engine->loop = loop;
        engine->running = engine->conf.threaded;
        if (engine->conf.threaded)
            err = thread_start(loop);
    }
    if (err)
        loop_free(loop);
    return err;
}

void vcci_loop_stop(struct vcci_engine *engine)
{
    struct vcci_loop *loop = engine->loop;
    if (!engine->conf.threaded)
        return;
    vcci_baton_lock(&engine->baton);
    loop->stop = 1;
    vcci_baton_unlock(&engine->baton);
    vcci_loop_nudge(engine);
    pthread_join(loop->thread, NULL);
}

void vcci_loop_destroy(struct vcci_engine *engine)
{
    struct vcci_loop *loop = engine->loop;
    VCCI_LIST_EACH_SAFE (it, tmp, &loop->timers)
        vcci_timer_stop(VCCI_CONTAINER(it, struct vcci_timer, node));
    loop_free(loop);
}

int vcci_engine_wake_fd(const struct vcci_engine *engine)
{
    return engine->loop->pipe[1];
}

/* ---- pollers' descriptors ---- */

int vcci_engine_add(struct vcci_engine *engine, struct vcci_poller *poller)
{
    struct vcci_loop *loop = engine->loop;
    VCCI_ASSERT(vcci_engine_locked(engine));
    int fd = poller->ops->fd(poller);
    poller->ev = NULL;
    if (fd >= 0) {
        ev_io *io = calloc(1, sizeof *io);
        if (!io)
            return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory to watch the descriptor of %s", poller->ops->name);
        ev_io_init(io, on_poller_fd, fd, EV_READ);
        io->data = loop;
        poller->ev = io;
        if (!engine->fds_off)
            ev_io_start(loop->ev, io);
        atomic_fetch_add(&engine->fd_pollers, 1);
        vcci_loop_nudge(engine);
    }
    vcci_list_push(&engine->pollers, &poller->node);
    return 0;
}

void vcci_engine_remove(struct vcci_engine *engine, struct vcci_poller *poller)
{
    VCCI_ASSERT(vcci_engine_locked(engine));
    vcci_list_remove(&poller->node);
    if (!poller->ev)
        return;
    ev_io_stop(engine->loop->ev, poller->ev);
    free(poller->ev);
    poller->ev = NULL;
    atomic_fetch_sub(&engine->fd_pollers, 1);
    vcci_loop_nudge(engine);
}

/* ---- timers ---- */

int vcci_timer_start(struct vcci_engine *engine, int64_t period_ns, void (*fn)(void *arg), void *arg,
                     struct vcci_timer **timer_out)
{
    struct vcci_loop *loop = engine->loop;
    struct vcci_timer *timer = calloc(1, sizeof *timer);
    VCCI_ASSERT(vcci_engine_locked(engine));
    if (!timer)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a timer");
    timer->loop = loop;
    timer->fn = fn;
    timer->arg = arg;
    ev_timer_init(&timer->ev, on_timer, (double)period_ns * 1e-9, (double)period_ns * 1e-9);
    timer->ev.data = timer;
    ev_now_update(loop->ev); /* the loop may have slept for long: its own idea of now is old */
    ev_timer_start(loop->ev, &timer->ev);
    vcci_list_push(&loop->timers, &timer->node);
    vcci_loop_nudge(engine);
    *timer_out = timer;
    return 0;
}

void vcci_timer_stop(struct vcci_timer *timer)
{
    ev_timer_stop(timer->loop->ev, &timer->ev);
    vcci_list_remove(&timer->node);
    free(timer);
}
