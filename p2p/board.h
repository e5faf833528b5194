/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host board: one shared memory object per job and host, made by the host's first rank, where every rank of the host writes
 * how to reach it and keeps its bell. Peers need no message to find each other: they read the board.
 */
#ifndef VCCI_P2P_BOARD_H
#define VCCI_P2P_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/base/shm.h"
#include "lib/engine/engine.h"

enum { VCCI_RANK_ABSENT, VCCI_RANK_HERE, VCCI_RANK_LEFT };

struct vcci_board_entry {
    _Alignas(128) _Atomic uint32_t bell; /* VCCI_BELL_ bits */
    _Alignas(64) _Atomic uint32_t state; /* VCCI_RANK_: what follows is valid from HERE on */
    int32_t pid, wake_fd, world_rank;
    uint64_t wake_ino;          /* of that pipe (0: unknown): pid and wake_fd may later name something else */
    struct vcci_shm_addr inbox; /* the rank's receive rings, p2p/link_shm.c */
    _Atomic uint32_t awaited;   /* somebody wants to be rung when this rank enters */
};
struct vcci_board {
    struct vcci_shm shm;
    struct vcci_board_entry *entries; /* by local rank */
    int n, me;
    _Atomic int *wake_fds; /* opened write ends, < 0 until first rung */
};

/* The host's first rank (me == 0) creates the board for n ranks; the others open it by address. `self` tests: any process, any
 * thread. */
int vcci_board_create(struct vcci_board *board, int n, struct vcci_shm_addr *addr_out);
int vcci_board_open(struct vcci_board *board, int n, int me, const struct vcci_shm_addr *addr);
/* Publishes this rank's entry. */
void vcci_board_enter(struct vcci_board *board, int world_rank, int wake_fd, const struct vcci_shm_addr *inbox);
/* Entry of a local rank, or NULL until it has entered. */
struct vcci_board_entry *vcci_board_peer(struct vcci_board *board, int local_rank);
/* The same; after NULL this rank's bell is rung once the other has entered. */
struct vcci_board_entry *vcci_board_await(struct vcci_board *board, int local_rank);
void vcci_board_close(struct vcci_board *board); /* marks this rank LEFT */

/* Wakes local rank `to` if its bell says that it sleeps. The caller has published with at least release order; this fences. Any
 * thread. A rank that has not entered cannot be asleep: ringing it does nothing. */
void vcci_board_ring_slow(struct vcci_board *board, int to);
static inline void vcci_board_ring(struct vcci_board *board, int to)
{
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t bell = atomic_load_explicit(&board->entries[to].bell, memory_order_relaxed);
    if (__builtin_expect(bell & VCCI_BELL_BITS, 0))
        vcci_board_ring_slow(board, to);
}

#endif
