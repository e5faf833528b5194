/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/sink.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/err.h"

#define QUEUE_FULL (256u << 10)
#define STACK_BYTES (64u << 10)

struct sink_buf {
    char *data;
    size_t len, cap;
};
struct vcci_sink {
    int fd, wake_fd;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct sink_buf queued;
    struct sink_buf writing; /* the thread's */
    int busy, stop, abandon, was_full, err;
};

static void sink_wake(struct vcci_sink *sink)
{
    uint64_t one = 1;

    if (write(sink->wake_fd, &one, sizeof one) < 0)
        VCCI_ASSERT(errno == EAGAIN);
}

static int sink_abandoned(struct vcci_sink *sink)
{
    pthread_mutex_lock(&sink->mutex);
    int abandoned = sink->abandon;
    pthread_mutex_unlock(&sink->mutex);
    return abandoned;
}

/* 0 or errno. The descriptor may have been made non-blocking by whoever shares it. */
static int sink_write(struct vcci_sink *sink, const struct sink_buf *buf)
{
    size_t at = 0;

    while (at < buf->len) {
        ssize_t n = write(sink->fd, buf->data + at, buf->len - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno == EAGAIN) {
            struct pollfd ready = {.fd = sink->fd, .events = POLLOUT};
            poll(&ready, 1, 100);
        } else if (errno != EINTR) {
            return errno;
        }
        if (at < buf->len && sink_abandoned(sink))
            return 0;
    }
    return 0;
}

static void *sink_thread(void *arg)
{
    struct vcci_sink *sink = arg;
    int err;

    pthread_mutex_lock(&sink->mutex);
    for (;;) {
        while (!sink->queued.len && !sink->stop)
            pthread_cond_wait(&sink->changed, &sink->mutex);
        if (!sink->queued.len || sink->abandon)
            break;
        struct sink_buf full = sink->queued;
        sink->queued = sink->writing;
        sink->queued.len = 0;
        sink->writing = full;
        sink->busy = 1;
        int tell = sink->was_full;
        sink->was_full = 0;
        pthread_mutex_unlock(&sink->mutex);
        if (tell)
            sink_wake(sink);
        err = sink->err ? sink->err : sink_write(sink, &sink->writing);
        pthread_mutex_lock(&sink->mutex);
        sink->busy = 0;
        if ((err && !sink->err) || !sink->queued.len)
            sink_wake(sink);
        sink->err = err;
    }
    pthread_mutex_unlock(&sink->mutex);
    return NULL;
}

int vcci_sink_create(int fd, int wake_fd, struct vcci_sink **sink_out)
{
    struct vcci_sink *sink = calloc(1, sizeof *sink);
    pthread_attr_t attr;
    sigset_t all, old;
    int err;

    if (!sink)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for an output");
    sink->fd = fd;
    sink->wake_fd = wake_fd;
    pthread_mutex_init(&sink->mutex, NULL);
    pthread_cond_init(&sink->changed, NULL);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    err = pthread_create(&sink->thread, &attr, sink_thread, sink);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (err) {
        free(sink);
        return vcci_fail_errno(VCCL_ERR_SYSTEM, err, "no thread for an output");
    }
    *sink_out = sink;
    return 0;
}

void vcci_sink_destroy(struct vcci_sink *sink, int abandon)
{
    pthread_mutex_lock(&sink->mutex);
    sink->stop = 1;
    sink->abandon = abandon;
    pthread_cond_signal(&sink->changed);
    int stuck = abandon && sink->busy;
    pthread_mutex_unlock(&sink->mutex);
    if (stuck) { /* perhaps for ever, inside write: it goes with the process, and so must its memory */
        pthread_detach(sink->thread);
        return;
    }
    pthread_join(sink->thread, NULL);
    pthread_cond_destroy(&sink->changed);
    pthread_mutex_destroy(&sink->mutex);
    free(sink->queued.data);
    free(sink->writing.data);
    free(sink);
}

int vcci_sink_put(struct vcci_sink *sink, const char *data, size_t bytes)
{
    struct sink_buf *buf = &sink->queued;
    int rc = 0;

    pthread_mutex_lock(&sink->mutex);
    if (buf->len + bytes > buf->cap) {
        size_t cap = buf->cap ? buf->cap : 16384;
        while (cap < buf->len + bytes)
            cap *= 2;
        char *grown = realloc(buf->data, cap);
        if (grown) {
            buf->data = grown;
            buf->cap = cap;
        } else {
            rc = vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for %zu bytes of output", bytes);
        }
    }
    if (rc == 0 && !sink->err) {
        memcpy(buf->data + buf->len, data, bytes);
        buf->len += bytes;
        pthread_cond_signal(&sink->changed);
    }
    pthread_mutex_unlock(&sink->mutex);
    return rc;
}

int vcci_sink_full(struct vcci_sink *sink)
{
    pthread_mutex_lock(&sink->mutex);
    int full = sink->queued.len >= QUEUE_FULL;
    sink->was_full |= full;
    pthread_mutex_unlock(&sink->mutex);
    return full;
}

int vcci_sink_empty(struct vcci_sink *sink)
{
    pthread_mutex_lock(&sink->mutex);
    int empty = !sink->queued.len && !sink->busy;
    pthread_mutex_unlock(&sink->mutex);
    return empty;
}

int vcci_sink_error(struct vcci_sink *sink)
{
    pthread_mutex_lock(&sink->mutex);
    int err = sink->err;
    pthread_mutex_unlock(&sink->mutex);
    return err;
}
