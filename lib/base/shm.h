/* SPDX-License-Identifier: BSD-3-Clause
 * Memory that processes of one user share without a name: a sealed-size memfd, opened by a peer through /proc/<pid>/fd/<fd>, where the
 * kernel itself checks that both belong to one user. A random nonce at the start proves that it is the right one. */
#ifndef VCCI_BASE_SHM_H
#define VCCI_BASE_SHM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct vcci_shm_addr { /* travels through the bootstrap and the host board */
    int32_t pid, fd;
    uint64_t bytes;
    uint8_t nonce[16];
};
struct vcci_shm {
    void *base; /* starts with the 16-byte nonce; the owner's data begins at VCCI_SHM_HEADER */
    size_t bytes;
    int fd; /* creator: the memfd; opener: -1 */
};
#define VCCI_SHM_HEADER 64

/* Creates a sparse zeroed memfd of `bytes` (header included, rounded up to pages) and maps it. *addr_out is what peers need. */
int vcci_shm_create(struct vcci_shm *shm, size_t bytes, struct vcci_shm_addr *addr_out);
/* Maps a peer's memory. Errors: VCCL_ERR_SYSTEM with pid and errno; VCCL_ERR_LINK when the nonce differs (the process is gone or
 * lives in another pid namespace). */
int vcci_shm_open(struct vcci_shm *shm, const struct vcci_shm_addr *addr);
/* The same, but only opens it, for who maps parts of it; the descriptor is the caller's. */
int vcci_shm_open_fd(const struct vcci_shm_addr *addr, int *fd_out);
void vcci_shm_close(struct vcci_shm *shm); /* unmap, and close the memfd if creator; harmless on a zeroed or closed one */
/* `n` bytes from the kernel's random generator. */
int vcci_random(void *buf, size_t n);

#endif
