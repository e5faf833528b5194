/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/err.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

int vcci_random(void *buf, size_t n)
{
    for (size_t got = 0; got < n;) {
        ssize_t more = getrandom((char *)buf + got, n - got, 0);

        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "no random numbers from the kernel");
        got += (size_t)more;
    }
    return 0;
}

static void *shm_map(int fd, size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
}

/* A memfd whose size is sealed, so that nobody's access beyond its end can be made to raise SIGBUS. */
static int shm_memfd(size_t bytes)
{
    int fd = memfd_create("vccl", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "memfd_create of %zu bytes", bytes);
    if (fchmod(fd, S_IRUSR | S_IWUSR) < 0 || ftruncate(fd, (off_t)bytes) < 0 || fcntl(fd, F_ADD_SEALS, SEALS) < 0) {
        int err = errno;

        close(fd);
        return vcci_fail_errno(VCCL_ERR_SYSTEM, err, "cannot set up %zu bytes of shared memory", bytes);
    }
    return fd;
}

int vcci_shm_create(struct vcci_shm *shm, size_t bytes, struct vcci_shm_addr *addr_out)
{
    struct vcci_shm_addr addr = {.pid = (int32_t)getpid()};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int rc = vcci_random(addr.nonce, sizeof addr.nonce);

    if (rc < 0)
        return rc;
    if (bytes > SIZE_MAX / 2)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "%zu bytes of shared memory are more than there can be", bytes);
    bytes = bytes ? (bytes + page - 1) / page * page : page;
    addr.bytes = bytes;
    addr.fd = shm_memfd(bytes);
    if (addr.fd < 0)
        return addr.fd;
    void *base = shm_map(addr.fd, bytes);
    if (base == MAP_FAILED) {
        int err = errno;

        close(addr.fd);
        return vcci_fail_errno(VCCL_ERR_SYSTEM, err, "cannot map %zu bytes of shared memory", bytes);
    }
    memcpy(base, addr.nonce, sizeof addr.nonce);
    *shm = (struct vcci_shm){.base = base, .bytes = bytes, .fd = addr.fd};
    *addr_out = addr;
    return 0;
}

/* Is fd what addr says? The descriptor's number may by now stand for anything else. */
static int shm_check(int fd, const struct vcci_shm_addr *addr)
{
    struct stat st;
    uint8_t nonce[sizeof addr->nonce];

    if (fstat(fd, &st) < 0)
        return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "cannot look at the shared memory of process %d", addr->pid);
    int seals = S_ISREG(st.st_mode) ? fcntl(fd, F_GET_SEALS) : -1;
    if (seals < 0 || (seals & SEALS) != SEALS || (uint64_t)st.st_size != addr->bytes ||
        pread(fd, nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce || memcmp(nonce, addr->nonce, sizeof nonce) != 0)
        return vcci_fail(
            VCCL_ERR_LINK,
            "descriptor %d of process %d is not the shared memory it was said to be: the process is gone or lives in "
            "another pid namespace",
            addr->fd, addr->pid);
    return 0;
}

int vcci_shm_open_fd(const struct vcci_shm_addr *addr, int *fd_out)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", addr->pid, addr->fd);
    /* NONBLOCK and NOCTTY: the number may by now stand for a pipe or a terminal. */
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "cannot open the shared memory of process %d (%s)", addr->pid, path);
    int rc = shm_check(fd, addr);
    if (rc < 0)
        close(fd);
    else
        *fd_out = fd;
    return rc;
}

int vcci_shm_open(struct vcci_shm *shm, const struct vcci_shm_addr *addr)
{
    int fd, rc = vcci_shm_open_fd(addr, &fd);

    if (rc < 0)
        return rc;
    void *base = shm_map(fd, addr->bytes);
    if (base == MAP_FAILED)
        rc = vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "cannot map %zu bytes of shared memory of process %d", (size_t)addr->bytes,
                             addr->pid);
    else
        *shm = (struct vcci_shm){.base = base, .bytes = addr->bytes, .fd = -1};
    close(fd);
    return rc;
}

void vcci_shm_close(struct vcci_shm *shm)
{
    if (!shm->base)
        return;
    munmap(shm->base, shm->bytes);
    if (shm->fd >= 0)
        close(shm->fd);
    *shm = (struct vcci_shm){.fd = -1};
}
