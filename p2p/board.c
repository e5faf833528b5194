/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/board.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/base/futex.h"
#include "lib/base/log.h"
#include "lib/base/stat.h"
#include "lib/engine/engine.h"

#define MAGIC       0x76636231u /* "vcb1" */
#define UNOPENED    (-1)
#define UNREACHABLE (-2)

/* Stands at VCCI_SHM_HEADER; the entries follow at ENTRIES_AT. */
struct header {
    _Atomic uint32_t magic;
    int32_t n;
};
#define ENTRIES_AT 128
_Static_assert(sizeof(struct vcci_board_entry) == 128,
               "an entry is a pair of lines: the bell, which peers read, and what is written once");
_Static_assert(VCCI_SHM_HEADER + sizeof(struct header) <= ENTRIES_AT, "the header ends before the entries");

static size_t bytes_for(int n)
{
    return ENTRIES_AT + (size_t)n * sizeof(struct vcci_board_entry);
}

static struct header *header_of(const struct vcci_board *board)
{
    return (struct header *)((char *)board->shm.base + VCCI_SHM_HEADER);
}

static int attach(struct vcci_board *board, int n, int me)
{
    board->wake_fds = malloc((size_t)n * sizeof *board->wake_fds);
    if (!board->wake_fds) {
        vcci_shm_close(&board->shm);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the board of %d ranks", n);
    }
    for (int i = 0; i < n; i++)
        atomic_init(&board->wake_fds[i], UNOPENED);
    board->entries = (struct vcci_board_entry *)((char *)board->shm.base + ENTRIES_AT);
    board->n = n;
    board->me = me;
    return 0;
}

int vcci_board_create(struct vcci_board *board, int n, struct vcci_shm_addr *addr_out)
{
    memset(board, 0, sizeof *board);
    int err = vcci_shm_create(&board->shm, bytes_for(n), addr_out);
    if (err)
        return err;
    header_of(board)->n = n;
    atomic_store_explicit(&header_of(board)->magic, MAGIC, memory_order_release);
    return attach(board, n, 0);
}

int vcci_board_open(struct vcci_board *board, int n, int me, const struct vcci_shm_addr *addr)
{
    memset(board, 0, sizeof *board);
    int err = vcci_shm_open(&board->shm, addr);
    if (err)
        return err;
    struct header *header = header_of(board);
    if (board->shm.bytes < bytes_for(n) || atomic_load_explicit(&header->magic, memory_order_acquire) != MAGIC ||
        header->n != n) {
        vcci_shm_close(&board->shm);
        return vcci_fail(VCCL_ERR_BOOTSTRAP, "process %d's host board is not one for %d ranks of this VCCL", (int)addr->pid, n);
    }
    return attach(board, n, me);
}

void vcci_board_enter(struct vcci_board *board, int world_rank, int wake_fd, const struct vcci_shm_addr *inbox)
{
    struct vcci_board_entry *entry = &board->entries[board->me];
    struct stat st;
    entry->pid = (int32_t)getpid();
    entry->wake_fd = wake_fd;
    entry->wake_ino = fstat(wake_fd, &st) ? 0 : st.st_ino;
    entry->world_rank = world_rank;
    entry->inbox = *inbox;
    atomic_store(&entry->state, VCCI_RANK_HERE);
    if (atomic_load(&entry->awaited))
        for (int i = 0; i < board->n; i++)
            vcci_board_ring(board, i);
}

struct vcci_board_entry *vcci_board_peer(struct vcci_board *board, int local_rank)
{
    struct vcci_board_entry *entry = &board->entries[local_rank];
    return atomic_load_explicit(&entry->state, memory_order_acquire) == VCCI_RANK_ABSENT ? NULL : entry;
}

/* Against vcci_board_enter: wanted, then the state; the state, then wanted. All sequentially consistent, so one sees the other.
 */
struct vcci_board_entry *vcci_board_await(struct vcci_board *board, int local_rank)
{
    struct vcci_board_entry *entry = vcci_board_peer(board, local_rank);
    if (entry)
        return entry;
    atomic_store(&board->entries[local_rank].awaited, 1);
    return atomic_load(&board->entries[local_rank].state) == VCCI_RANK_ABSENT ? NULL : &board->entries[local_rank];
}

void vcci_board_close(struct vcci_board *board)
{
    if (!board->entries)
        return;
    atomic_store_explicit(&board->entries[board->me].state, VCCI_RANK_LEFT, memory_order_release);
    for (int i = 0; i < board->n; i++)
        if (atomic_load_explicit(&board->wake_fds[i], memory_order_relaxed) >= 0)
            close(atomic_load_explicit(&board->wake_fds[i], memory_order_relaxed));
    free(board->wake_fds);
    vcci_shm_close(&board->shm);
    memset(board, 0, sizeof *board);
}

/* ---- ringing ---- */

static int is_pipe(const struct stat *st, const struct vcci_board_entry *entry)
{
    return S_ISFIFO(st->st_mode) && (st->st_ino == entry->wake_ino || !entry->wake_ino);
}

/* The peer may have died and its pid may by now be another process, so what the path names is looked at before and after it is
 * opened. For reading too: a pipe that nobody reads would raise SIGPIPE in us when the peer has died. */
static int open_wake(const struct vcci_board_entry *entry)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)entry->pid, (int)entry->wake_fd);
    if (stat(path, &st) || !is_pipe(&st, entry))
        return UNREACHABLE;
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? UNOPENED : UNREACHABLE;
    int unknown = fstat(fd, &st);
    if (!unknown && is_pipe(&st, entry))
        return fd;
    close(fd);
    return unknown ? UNOPENED : UNREACHABLE;
}

static int wake_fd_of(struct vcci_board *board, int to)
{
    int fd = atomic_load_explicit(&board->wake_fds[to], memory_order_acquire), seen = UNOPENED;
    if (fd != UNOPENED)
        return fd;
    fd = open_wake(&board->entries[to]);
    if (fd == UNOPENED || atomic_compare_exchange_strong(&board->wake_fds[to], &seen, fd))
        return fd;
    if (fd >= 0)
        close(fd); /* another thread was first */
    return seen;
}

void vcci_board_ring_slow(struct vcci_board *board, int to)
{
    struct vcci_board_entry *entry = &board->entries[to];
    int saved = errno;
    uint32_t bell = atomic_fetch_and(&entry->bell, ~VCCI_BELL_BITS);
    if (bell & VCCI_BELL_BITS)
        VCCI_COUNT(bell_rings, 1);
    if (bell & VCCI_BELL_FUTEX)
        vcci_futex_wake_all(&entry->bell);
    if (bell & VCCI_BELL_POLL) {
        int fd = wake_fd_of(board, to);
        char byte = 0;
        /* A full pipe wakes as well as one byte more; a peer that is gone needs no waking. */
        if (fd >= 0 && write(fd, &byte, 1) < 0)
            VCCI_DEBUG("local rank %d's wake pipe: %s", to, strerror(errno));
        if (fd == UNOPENED)
            atomic_fetch_or(&entry->bell, VCCI_BELL_POLL); /* out of descriptors: the next message tries again */
    }
    errno = saved;
}
