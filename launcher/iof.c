/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/iof.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/sink.h"
#include "lib/base/err.h"

#define EVENTS_A_TURN 64
#define PROMPT_MS 100
#define SAY_BYTES 2048

/* A rank's stdout or stderr. */
struct iof_stream {
    int fd; /* -1: closed or not there */
    int rank, out;
    char *line; /* the unfinished line */
    size_t len, cap;
};
/* Where streams end: vcclrun's stdout or stderr. Its streams lie in an epoll set of its own, which is taken out of the common one while the
 * sink is full: one call, however many ranks there are. */
struct iof_out {
    struct vcci_sink *sink;
    int epoll, listening, terminal;
    const struct iof_stream *unfinished; /* whose line what was queued last has begun, NULL: nobody's */
};
struct vcci_iof {
    struct vcci_iof_conf conf;
    int epoll, wake; /* wake: eventfd of the sinks */
    int null;        /* /dev/null, the input of most ranks */
    int n_out;       /* 1 where stdout and stderr are one file: lines of both must not mix */
    struct iof_out outs[2];
    struct iof_stream *streams; /* [2 * size] */
    int n_open, n_partial;
    int input_terminal, input_listening;
    int input_pipe; /* to rank 0, -1: none */
    size_t input_len, input_at;
    char input[4096];
    char buf[VCCI_IOF_LINE];
};

/* --- set-up -------------------------------------------------------------------------------------------------------------------------- */

static int epoll_change(int epoll, int op, int fd, uint32_t events, void *ptr)
{
    struct epoll_event event = {.events = events, .data.ptr = ptr};

    return epoll_ctl(epoll, op, fd, &event);
}

static int same_file(int a, int b)
{
    struct stat x, y;

    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* mkdir -p */
static int make_dirs(const char *dir)
{
    char *path = strdup(dir);
    int err = 0;

    if (!path)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the name %s", dir);
    for (char *slash = path + 1; *path && !err; slash++) {
        char c = *slash;
        if (c != '/' && c)
            continue;
        *slash = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            err = errno;
        *slash = c;
        if (!c)
            break;
    }
    free(path);
    return err ? vcci_fail_errno(VCCL_ERR_SYSTEM, err, "--output-dir %s cannot be made", dir) : 0;
}

static int open_outs(struct vcci_iof *iof)
{
    iof->n_out = same_file(STDOUT_FILENO, STDERR_FILENO) ? 1 : 2;
    for (int i = 0; i < iof->n_out; i++) {
        struct iof_out *out = &iof->outs[i];
        int rc = vcci_sink_create(STDOUT_FILENO + i, iof->wake, &out->sink);
        if (rc)
            return rc;
        out->epoll = epoll_create1(EPOLL_CLOEXEC);
        out->listening = 1;
        out->terminal = isatty(STDOUT_FILENO + i);
        if (out->epoll < 0 || epoll_change(iof->epoll, EPOLL_CTL_ADD, out->epoll, EPOLLIN, out) < 0)
            return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "setting up the output");
    }
    return 0;
}

int vcci_iof_create(const struct vcci_iof_conf *conf, struct vcci_iof **iof_out)
{
    struct vcci_iof *iof = calloc(1, sizeof *iof);
    int rc = 0;

    if (!iof || !(iof->streams = calloc((size_t)conf->size * 2, sizeof *iof->streams))) {
        free(iof);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the output of %d ranks", conf->size);
    }
    iof->conf = *conf;
    iof->outs[0].epoll = iof->outs[1].epoll = iof->input_pipe = -1;
    for (int i = 0; i < conf->size * 2; i++)
        iof->streams[i] = (struct iof_stream){.fd = -1, .rank = i / 2};
    iof->epoll = epoll_create1(EPOLL_CLOEXEC);
    iof->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    iof->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    iof->input_terminal = isatty(STDIN_FILENO);
    if (iof->epoll < 0 || iof->wake < 0 || iof->null < 0 || epoll_change(iof->epoll, EPOLL_CTL_ADD, iof->wake, EPOLLIN, &iof->wake) < 0)
        rc = vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "setting up the output");
    if (rc == 0)
        rc = open_outs(iof);
    if (rc == 0 && conf->output_dir)
        rc = make_dirs(conf->output_dir);
    if (rc)
        vcci_iof_destroy(iof, 1);
    else
        *iof_out = iof;
    return rc;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void vcci_iof_destroy(struct vcci_iof *iof, int abandon)
{
    for (int i = 0; i < iof->n_out; i++) {
        if (iof->outs[i].sink)
            vcci_sink_destroy(iof->outs[i].sink, abandon);
        close_fd(&iof->outs[i].epoll);
    }
    for (int i = 0; i < iof->conf.size * 2; i++) {
        close_fd(&iof->streams[i].fd);
        free(iof->streams[i].line);
    }
    close_fd(&iof->input_pipe);
    close_fd(&iof->epoll);
    close_fd(&iof->null);
    if (!abandon) /* a sink that was left behind may still write to it */
        close_fd(&iof->wake);
    free(iof->streams);
    free(iof);
}

/* --- a rank's descriptors ------------------------------------------------------------------------------------------------------------ */

static int prepare_output(struct vcci_iof *iof, int rank, int which, int *fd_out)
{
    struct iof_stream *stream = &iof->streams[rank * 2 + which];
    struct iof_out *out = &iof->outs[which % iof->n_out];
    char path[4096];
    int ends[2];

    if (iof->conf.output_dir) {
        snprintf(path, sizeof path, "%s/rank.%d.%s", iof->conf.output_dir, rank, which ? "err" : "out");
        *fd_out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
        return *fd_out < 0 ? vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "%s cannot be written", path) : 0;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "no pipe for the output of rank %d", rank);
    *fd_out = ends[1];
    stream->fd = ends[0];
    stream->out = which % iof->n_out;
    iof->n_open++;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (epoll_change(out->epoll, EPOLL_CTL_ADD, ends[0], EPOLLIN, stream) < 0)
        return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "listening to rank %d", rank);
    return 0;
}

static int prepare_input(struct vcci_iof *iof, int rank, int *fd_out)
{
    int ends[2];

    if (rank != 0) {
        *fd_out = iof->null;
    } else if (!iof->input_terminal) {
        *fd_out = STDIN_FILENO;
    } else if (pipe2(ends, O_CLOEXEC) < 0) {
        return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "no pipe for the input of rank 0");
    } else {
        *fd_out = ends[0];
        iof->input_pipe = ends[1];
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        vcci_iof_input(iof);
    }
    return 0;
}

int vcci_iof_prepare(struct vcci_iof *iof, int rank, int fds_out[3])
{
    int rc;

    fds_out[0] = fds_out[1] = fds_out[2] = -1;
    rc = prepare_input(iof, rank, &fds_out[0]);
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = prepare_output(iof, rank, i, &fds_out[1 + i]);
    if (rc)
        vcci_iof_release(iof, fds_out);
    return rc;
}

void vcci_iof_release(struct vcci_iof *iof, int fds[3])
{
    for (int i = 0; i < 3; i++)
        if (fds[i] > STDERR_FILENO && fds[i] != iof->null)
            close(fds[i]);
}

/* --- output -------------------------------------------------------------------------------------------------------------------------- */

static void out_put(struct iof_out *out, const char *data, size_t bytes)
{
    if (bytes && vcci_sink_put(out->sink, data, bytes) < 0)
        fprintf(stderr, "vcclrun: output is lost: %s\n", vcci_err_text());
}

/* Whatever comes next is not this stream's unfinished line: that gets a newline of ours, lest two ranks' lines stick together. */
static void out_take_turn(struct iof_out *out, const struct iof_stream *stream)
{
    if (out->unfinished && out->unfinished != stream) {
        out_put(out, "\n", 1);
        out->unfinished = NULL;
    }
}

/* The held beginning of the stream's line and what follows. */
static void put_text(struct vcci_iof *iof, struct iof_stream *stream, const char *data, size_t bytes)
{
    struct iof_out *out = &iof->outs[stream->out];

    if (!stream->len && !bytes)
        return;
    out_take_turn(out, stream);
    if (iof->conf.tag && !out->unfinished) {
        char tag[16];
        out_put(out, tag, (size_t)snprintf(tag, sizeof tag, "[%d] ", stream->rank));
    }
    out_put(out, stream->line, stream->len);
    out_put(out, data, bytes);
    out->unfinished = bytes && data[bytes - 1] == '\n' ? NULL : stream;
    iof->n_partial -= stream->len > 0;
    stream->len = 0;
}

static void put_lines(struct vcci_iof *iof, struct iof_stream *stream, const char *data, size_t bytes)
{
    while (iof->conf.tag && bytes) {
        const char *end = memchr(data, '\n', bytes);
        size_t n = end ? (size_t)(end - data) + 1 : bytes;
        put_text(iof, stream, data, n);
        data += n;
        bytes -= n;
    }
    put_text(iof, stream, data, bytes);
}

static int keep_partial(struct vcci_iof *iof, struct iof_stream *stream, const char *data, size_t bytes)
{
    if (!bytes)
        return 0;
    if (stream->len + bytes > stream->cap) {
        size_t cap = stream->len + bytes < 256 ? 256 : (stream->len + bytes) * 2;
        char *grown = realloc(stream->line, cap);
        if (!grown)
            return -1;
        stream->line = grown;
        stream->cap = cap;
    }
    iof->n_partial += stream->len == 0;
    memcpy(stream->line + stream->len, data, bytes);
    stream->len += bytes;
    return 0;
}

static void stream_data(struct vcci_iof *iof, struct iof_stream *stream, const char *data, size_t bytes)
{
    const char *last = memrchr(data, '\n', bytes);
    size_t whole = last ? (size_t)(last - data) + 1 : 0;

    if (!whole && stream->len + bytes >= VCCI_IOF_LINE)
        whole = bytes;
    if (whole)
        put_lines(iof, stream, data, whole);
    if (keep_partial(iof, stream, data + whole, bytes - whole) < 0)
        put_lines(iof, stream, data + whole, bytes - whole);
}

/* A child of vfork shares our open files until its exec is through, and a set keeps a file that is open anywhere: so closing is not enough. */
static void stream_close(struct vcci_iof *iof, struct iof_stream *stream)
{
    put_text(iof, stream, NULL, 0);
    epoll_change(iof->outs[stream->out].epoll, EPOLL_CTL_DEL, stream->fd, 0, NULL);
    close_fd(&stream->fd);
    free(stream->line);
    stream->line = NULL;
    stream->cap = 0;
    iof->n_open--;
}

/* 1: there may be more. */
static int stream_read(struct vcci_iof *iof, struct iof_stream *stream)
{
    ssize_t n = read(stream->fd, iof->buf, sizeof iof->buf);

    if (n > 0)
        stream_data(iof, stream, iof->buf, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        stream_close(iof, stream);
    return n > 0;
}

/* The reader of our output has gone: the ranks' writes shall fail as ours did. */
static void out_close(struct vcci_iof *iof, int index)
{
    for (int i = 0; i < iof->conf.size * 2; i++)
        if (iof->streams[i].fd >= 0 && iof->streams[i].out == index)
            stream_close(iof, &iof->streams[i]);
}

static void out_serve(struct vcci_iof *iof, struct iof_out *out)
{
    struct epoll_event events[EVENTS_A_TURN];
    int n = epoll_wait(out->epoll, events, EVENTS_A_TURN, 0);

    for (int i = 0; i < n; i++)
        stream_read(iof, events[i].data.ptr);
    if (vcci_sink_full(out->sink) && epoll_change(iof->epoll, EPOLL_CTL_DEL, out->epoll, 0, NULL) == 0)
        out->listening = 0;
}

/* A sink has something to tell. */
static void outs_check(struct vcci_iof *iof)
{
    uint64_t count;

    if (read(iof->wake, &count, sizeof count) < 0)
        VCCI_ASSERT(errno == EAGAIN);
    for (int i = 0; i < iof->n_out; i++) {
        struct iof_out *out = &iof->outs[i];
        if (vcci_sink_error(out->sink))
            out_close(iof, i);
        if (!out->listening && !vcci_sink_full(out->sink) && epoll_change(iof->epoll, EPOLL_CTL_ADD, out->epoll, EPOLLIN, out) == 0)
            out->listening = 1;
    }
}

void vcci_iof_flush(struct vcci_iof *iof)
{
    for (int i = 0; i < iof->conf.size * 2 && iof->n_partial; i++) {
        struct iof_stream *stream = &iof->streams[i];
        if (stream->len && iof->outs[stream->out].terminal)
            put_text(iof, stream, NULL, 0);
    }
}

int vcci_iof_timeout_ms(const struct vcci_iof *iof)
{
    return iof->n_partial && (iof->outs[0].terminal || iof->outs[1].terminal) ? PROMPT_MS : -1;
}

/* --- input --------------------------------------------------------------------------------------------------------------------------- */

/* A background job that reads its terminal would be stopped. */
void vcci_iof_input(struct vcci_iof *iof)
{
    int may = iof->input_pipe >= 0 && iof->input_at == iof->input_len && tcgetpgrp(STDIN_FILENO) == getpgrp();

    if (may == iof->input_listening)
        return;
    if (epoll_change(iof->epoll, may ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, STDIN_FILENO, EPOLLIN, iof->input) == 0)
        iof->input_listening = may;
}

static void input_end(struct vcci_iof *iof)
{
    epoll_change(iof->epoll, EPOLL_CTL_DEL, iof->input_pipe, 0, NULL); /* it may not be in it */
    close_fd(&iof->input_pipe);
    iof->input_at = iof->input_len = 0;
    vcci_iof_input(iof);
}

/* As much as rank 0's pipe takes; the rest when it has room. */
static void input_push(struct vcci_iof *iof)
{
    while (iof->input_at < iof->input_len) {
        ssize_t n = write(iof->input_pipe, iof->input + iof->input_at, iof->input_len - iof->input_at);
        if (n >= 0) {
            iof->input_at += (size_t)n;
        } else if (errno == EAGAIN) {
            epoll_change(iof->epoll, EPOLL_CTL_ADD, iof->input_pipe, EPOLLOUT, &iof->input_pipe);
            break;
        } else if (errno != EINTR) { /* rank 0 no longer reads */
            input_end(iof);
            return;
        }
    }
    if (iof->input_at == iof->input_len)
        epoll_change(iof->epoll, EPOLL_CTL_DEL, iof->input_pipe, 0, NULL);
    vcci_iof_input(iof);
}

static void input_serve(struct vcci_iof *iof)
{
    ssize_t n;

    if (tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        vcci_iof_input(iof);
        return;
    }
    n = read(STDIN_FILENO, iof->input, sizeof iof->input);
    if (n > 0) {
        iof->input_at = 0;
        iof->input_len = (size_t)n;
        input_push(iof);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        input_end(iof);
    }
}

/* --- the loop's calls ---------------------------------------------------------------------------------------------------------------- */

int vcci_iof_fd(const struct vcci_iof *iof)
{
    return iof->epoll;
}

void vcci_iof_serve(struct vcci_iof *iof)
{
    struct epoll_event events[8];
    int n = epoll_wait(iof->epoll, events, 8, 0);

    for (int i = 0; i < n; i++) {
        void *what = events[i].data.ptr;
        if (what == &iof->wake)
            outs_check(iof);
        else if (what == iof->input)
            input_serve(iof);
        else if (what == &iof->input_pipe)
            input_push(iof);
        else
            out_serve(iof, what);
    }
}

int vcci_iof_ended(const struct vcci_iof *iof)
{
    return iof->n_open == 0;
}

void vcci_iof_cut(struct vcci_iof *iof)
{
    for (int i = 0; i < iof->conf.size * 2; i++) {
        struct iof_stream *stream = &iof->streams[i];
        for (int turns = 0; stream->fd >= 0 && turns < 64 && stream_read(iof, stream); turns++)
            ;
        if (stream->fd >= 0)
            stream_close(iof, stream);
    }
}

int vcci_iof_idle(struct vcci_iof *iof)
{
    for (int i = 0; i < iof->n_out; i++)
        if (!vcci_sink_empty(iof->outs[i].sink))
            return 0;
    return 1;
}

int vcci_iof_error(struct vcci_iof *iof)
{
    for (int i = 0; i < iof->n_out; i++) {
        int err = vcci_sink_error(iof->outs[i].sink);
        if (err && err != EPIPE)
            return err;
    }
    return 0;
}

void vcci_iof_say(struct vcci_iof *iof, const char *fmt, ...)
{
    char line[SAY_BYTES];
    va_list args;
    int n = snprintf(line, sizeof line, "vcclrun: ");

    va_start(args, fmt);
    n += vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, args);
    va_end(args);
    if (n > SAY_BYTES - 2)
        n = SAY_BYTES - 2;
    for (int i = 0; i < n; i++) /* one line, whatever a rank's abort text holds */
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    line[n++] = '\n';
    out_take_turn(&iof->outs[iof->n_out - 1], NULL);
    if (vcci_sink_put(iof->outs[iof->n_out - 1].sink, line, (size_t)n) < 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* there is nobody left to tell */
}
