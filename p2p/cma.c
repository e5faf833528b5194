/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Single copy: reading another process's memory with process_vm_readv, where the kernel allows it. */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/base/log.h"
#include "p2p/inside.h"

static long readv_now(int pid, const struct iovec *local, unsigned long n_local, const struct iovec *remote, unsigned long n_remote,
                      unsigned long flags)
{
    return process_vm_readv(pid, local, n_local, remote, n_remote, flags);
}

long (*vcci_cma_readv)(int pid, const struct iovec *local, unsigned long n_local, const struct iovec *remote, unsigned long n_remote,
                       unsigned long flags) = readv_now;

static int peer_pid(const struct vcci_peer *peer)
{
    return peer->p2p->board->entries[peer->local].pid;
}

/* Reads a number that only the right process has at that address. The pidfd is opened before: so it is that process's. */
static int probe(struct vcci_peer *peer, const char **why_out)
{
    uint64_t got = 0;
    *why_out = "pidfd_open";
    peer->pidfd = (int)syscall(SYS_pidfd_open, peer_pid(peer), 0);
    if (peer->pidfd < 0)
        return errno;
    struct iovec local = {.iov_base = &got, .iov_len = sizeof got};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)(peer->inbox->self + offsetof(struct vcci_inbox, probe)), .iov_len = sizeof got};
    *why_out = "process_vm_readv";
    if (vcci_cma_readv(peer_pid(peer), &local, 1, &remote, 1, 0) != (long)sizeof got)
        return errno ? errno : EFAULT;
    return got == peer->inbox->probe ? 0 : ESRCH;
}

int vcci_cma_usable(struct vcci_peer *peer)
{
    if (peer->cma != VCCI_CMA_UNKNOWN)
        return peer->cma == VCCI_CMA_YES;
    if (!peer->inbox && !vcci_peer_ready(peer))
        return 0;
    const char *what;
    errno = 0;
    int err = probe(peer, &what);
    peer->cma = err ? VCCI_CMA_NO : VCCI_CMA_YES;
    if (err) {
        VCCI_DEBUG("no single copy from rank %d: %s gave errno %d", peer->world, what, err);
        vcci_cma_close(peer);
    }
    return !err;
}

int vcci_cma_read(struct vcci_peer *peer, void *dst, uint64_t src, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        struct iovec local = {.iov_base = (char *)dst + done, .iov_len = bytes - done};
        struct iovec remote = {.iov_base = (void *)(uintptr_t)(src + done), .iov_len = bytes - done};
        long n = vcci_cma_readv(peer_pid(peer), &local, 1, &remote, 1, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            peer->cma = VCCI_CMA_NO;
            return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "reading %zu bytes from rank %d's memory", bytes, peer->world);
        }
        done += (size_t)n;
    }
    return 0;
}

int vcci_cma_check(struct vcci_peer *peer)
{
    struct pollfd fd = {.fd = peer->pidfd, .events = POLLIN};
    if (poll(&fd, 1, 0) == 0)
        return 0;
    return vcci_fail(VCCL_ERR_PROC_FAILED, "rank %d died while its message was read", peer->world);
}

void vcci_cma_close(struct vcci_peer *peer)
{
    if (peer->pidfd >= 0)
        close(peer->pidfd);
    peer->pidfd = -1;
}
