/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fault/nth.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/err.h"

#define CALLS_MAX 100000 /* a scenario with more never ends in a clean run */

static _Atomic long calls_left; /* 0: not armed */
static _Atomic int failing, hits;
static _Atomic int stay;
static _Atomic(const char *) last;

void nth_arm(long n, enum nth_mode mode)
{
    atomic_store(&hits, 0);
    atomic_store(&failing, 0);
    atomic_store(&stay, mode == NTH_FOREVER);
    atomic_store(&calls_left, n);
}

int nth_disarm(void)
{
    atomic_store(&calls_left, 0);
    atomic_store(&failing, 0);
    return atomic_load(&hits);
}

const char *nth_what(void)
{
    const char *what = atomic_load(&last);

    return what ? what : "nothing";
}

/* Must this call fail? */
static int nth_now(const char *what, int err)
{
    int now = atomic_load(&failing);
    long left = atomic_load(&calls_left);

    while (!now && left > 0 && !atomic_compare_exchange_weak(&calls_left, &left, left - 1))
        ;
    if (!now && left == 1) {
        now = 1;
        atomic_store(&failing, atomic_load(&stay));
    }
    if (now) {
        atomic_fetch_add(&hits, 1);
        atomic_store(&last, what);
        errno = err;
    }
    return now;
}

/* One wrapper: the linker calls it for name, and __real_name is the function itself. */
#define WRAP(result, name, params, args, bad, err)                                                                               \
    result __real_##name params;                                                                                                 \
    result __wrap_##name params;                                                                                                 \
    result __wrap_##name params                                                                                                  \
    {                                                                                                                            \
        return nth_now(#name, err) ? (bad) : __real_##name args;                                                                 \
    }

WRAP(void *, malloc, (size_t n), (n), NULL, ENOMEM)
WRAP(void *, calloc, (size_t k, size_t n), (k, n), NULL, ENOMEM)
WRAP(void *, realloc, (void *p, size_t n), (p, n), NULL, ENOMEM)
WRAP(void *, aligned_alloc, (size_t a, size_t n), (a, n), NULL, ENOMEM)
WRAP(char *, strdup, (const char *s), (s), NULL, ENOMEM)
WRAP(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at), (p, n, prot, flags, fd, at), MAP_FAILED, ENOMEM)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), -1, ENOSPC)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EPERM)
WRAP(int, fstat, (int fd, struct stat *st), (fd, st), -1, EIO)
WRAP(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), -1, EIO)
WRAP(ssize_t, getrandom, (void *p, size_t n, unsigned flags), (p, n, flags), -1, ENOSYS)
WRAP(int, pipe2, (int *fds, int flags), (fds, flags), -1, EMFILE)
WRAP(int, eventfd, (unsigned n, int flags), (n, flags), -1, EMFILE)
WRAP(int, epoll_create1, (int flags), (flags), -1, EMFILE)
WRAP(int, socketpair, (int d, int t, int p, int *fds), (d, t, p, fds), -1, EMFILE)
WRAP(int, pidfd_open, (pid_t pid, unsigned flags), (pid, flags), -1, EMFILE)
/* pthread_create returns its error */
WRAP(int, pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*fn)(void *), void *arg), (t, a, fn, arg), EAGAIN,
     EAGAIN)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    return nth_now("open", EMFILE) ? -1 : __real_open(path, flags, mode);
}

int __real_fcntl(int fd, int cmd, ...);
int __wrap_fcntl(int fd, int cmd, ...);
int __wrap_fcntl(int fd, int cmd, ...)
{
    va_list args;

    va_start(args, cmd);
    void *arg = va_arg(args, void *);
    va_end(args);
    return nth_now("fcntl", EINVAL) ? -1 : __real_fcntl(fd, cmd, arg);
}

static int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    if (!dir)
        return -1;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void complain(const char *name, long n, const char *why)
{
    fprintf(stderr, "%s, call %ld (%s): %s: %s\n", name, n, nth_what(), why, vcci_err_text());
    abort();
}

void nth_loop(const char *name, int (*scenario)(void *arg), void *arg)
{
    for (int mode = NTH_ONCE; mode <= NTH_FOREVER; mode++) {
        int hit = 1;

        for (long n = 1; hit; n++) {
            int before = open_descriptors();

            if (n > CALLS_MAX)
                complain(name, n, "never a clean run");
            vcci_err_set_text("");
            nth_arm(n, (enum nth_mode)mode);
            int rc = scenario(arg);
            hit = nth_disarm();
            if (rc > 0 || (!hit && rc != 0))
                complain(name, n, "wrong result");
            if (rc < 0 && vcci_err_text()[0] == '\0')
                complain(name, n, "an error without a sentence");
            if (open_descriptors() != before)
                complain(name, n, "a descriptor was left open");
        }
    }
}
