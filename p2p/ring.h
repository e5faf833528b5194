/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A ring in shared memory from one sender to one receiver: cells of a cache line and a ring of bulk bytes. The receiver polls the stamp of the
 * next cell only, so a small message is one line handed over. Space is given back lazily, so that line is not in the way.
 *
 * Each end is one thread's at a time (the baton's holder). Nothing here blocks, allocates or rings a bell.
 */
#ifndef VCCI_P2P_RING_H
#define VCCI_P2P_RING_H

#include <string.h>

#include "p2p/wire.h"

struct vcci_ring_shape {
    size_t cells, bulk_bytes; /* bulk: a power of two */
    size_t bytes;             /* all of a ring */
};
/* For a host with n ranks: smaller where there are many. */
void vcci_ring_shape(int n, struct vcci_ring_shape *shape_out);

struct vcci_ring_tx {
    struct vcci_ring_head *head;
    struct vcci_cell *cells, *next;
    uint8_t *bulk;
    uint32_t n, at, lap;
    uint64_t posted, posted_max; /* cells */
    uint64_t filled, filled_max; /* bulk bytes */
    size_t bulk_bytes;
    uint32_t stalled;
    struct vcci_ring_way { /* how payload of a size class is written */
        unsigned loads;
        uint32_t write_cost[2]; /* as read_cost in the ring */
        int around;
    } ways[VCCI_RING_CLASSES];
};
struct vcci_ring_rx {
    struct vcci_cell *next;
    uint32_t lap, n, at;
    struct vcci_ring_head *head;
    struct vcci_cell *cells;
    const uint8_t *bulk;
    size_t bulk_bytes;
    uint64_t taken, taken_told; /* cells */
    uint64_t eaten, eaten_told; /* bulk bytes */
    uint64_t credit, credit_told;
    uint64_t credit_step;       /* how much of it may go untold */
};

void vcci_ring_tx_init(struct vcci_ring_tx *tx, void *ring, const struct vcci_ring_shape *shape);
void vcci_ring_rx_init(struct vcci_ring_rx *rx, void *ring, const struct vcci_ring_shape *shape, uint64_t credit_step);

/* Where `bytes` begin: never across the end. Both ends compute the same. */
static inline uint64_t vcci_ring_place(uint64_t cursor, size_t bytes, size_t size)
{
    size_t left = size - (size_t)(cursor & (size - 1));
    return bytes > left ? cursor + left : cursor;
}
static inline size_t vcci_ring_rounded(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* Writes payload for the receiver's core to read, the way that measures faster. Returns VCCI_HOW_ bits for the cell. */
uint8_t vcci_ring_load(struct vcci_ring_tx *tx, void *to, const void *from, size_t bytes);
/* The receiver's time for a payload that was to be timed. */
void vcci_ring_timed(struct vcci_ring_rx *rx, uint8_t how, size_t bytes, int64_t ns);

/* Where the bytes of a payload lie. */
static inline uint32_t vcci_ring_tails(size_t bytes)
{
    return bytes <= VCCI_CELL_INLINE || bytes > VCCI_TAILED_MAX
               ? 0
               : (uint32_t)((bytes - VCCI_CELL_INLINE + VCCI_TAIL_BYTES - 1) / VCCI_TAIL_BYTES);
}
static inline size_t vcci_ring_bulk(size_t bytes)
{
    return bytes > VCCI_TAILED_MAX ? bytes : 0;
}

/* A few bytes without a call: moves that may overlap. */
static inline void vcci_copy_small(void *to, const void *from, size_t bytes)
{
    char *t = to;
    const char *f = from;
    if (bytes >= 16) {
        memcpy(t, f, 16);
        memcpy(t + bytes - 8, f + bytes - 8, 8);
    } else if (bytes >= 8) {
        memcpy(t, f, 8);
        memcpy(t + bytes - 8, f + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(t, f, 4);
        memcpy(t + bytes - 4, f + bytes - 4, 4);
    } else {
        for (size_t i = 0; i < bytes; i++)
            t[i] = f[i];
    }
}

/* Reads the receiver's line again and looks for room; if there is none, says so in the ring and looks once more. */
int vcci_ring_tx_room_slow(struct vcci_ring_tx *tx, size_t bytes);
/* 1: a cell and `bytes` of payload (at most a quarter of the bulk ring) can be written. 0: the receiver will ring once there is room. */
static inline int vcci_ring_tx_room(struct vcci_ring_tx *tx, size_t bytes)
{
    size_t bulk = vcci_ring_bulk(bytes);
    if (__builtin_expect(tx->posted + vcci_ring_tails(bytes) < tx->posted_max, 1) &&
        (!bulk || vcci_ring_place(tx->filled, bulk, tx->bulk_bytes) + bulk <= tx->filled_max))
        return 1;
    return vcci_ring_tx_room_slow(tx, bytes);
}
/* After room said yes: the cell to fill, then commit. The payload is copied. */
static inline struct vcci_cell *vcci_ring_tx_cell(struct vcci_ring_tx *tx)
{
    return tx->next;
}
static inline void vcci_ring_tx_step(struct vcci_ring_tx *tx)
{
    atomic_store_explicit(&tx->next->stamp, tx->lap, memory_order_release);
    tx->posted++;
    tx->next++;
    if (++tx->at == tx->n) {
        tx->at = 0;
        tx->next = tx->cells;
        tx->lap = tx->lap == UINT32_MAX ? 1 : tx->lap + 1;
    }
}
void vcci_ring_tx_commit_long(struct vcci_ring_tx *tx, const void *payload, size_t bytes);
static inline void vcci_ring_tx_commit(struct vcci_ring_tx *tx, const void *payload, size_t bytes)
{
    if (bytes > VCCI_CELL_INLINE) {
        vcci_ring_tx_commit_long(tx, payload, bytes);
        return;
    }
    vcci_copy_small(tx->next->u.bytes, payload, bytes); /* 0 where the cell carries something else */
    vcci_ring_tx_step(tx);
}
uint64_t vcci_ring_tx_credit(const struct vcci_ring_tx *tx); /* what the receiver has given back so far */

static inline struct vcci_cell *vcci_ring_rx_peek(const struct vcci_ring_rx *rx)
{
    return atomic_load_explicit(&rx->next->stamp, memory_order_acquire) == rx->lap ? rx->next : NULL;
}
static inline const void *vcci_ring_rx_bulk(const struct vcci_ring_rx *rx, size_t bulk)
{
    return rx->bulk + (vcci_ring_place(rx->eaten, bulk, rx->bulk_bytes) & (rx->bulk_bytes - 1));
}
/* Copies the peeked cell's payload of `bytes`, which has tails, to `to`. 0: not all of it is there yet. */
int vcci_ring_rx_gather(const struct vcci_ring_rx *rx, void *to, size_t bytes);
/* Tells the sender what was consumed. 1: it is stalled, ring its bell. */
int vcci_ring_rx_tell(struct vcci_ring_rx *rx);
/* The peeked cell and its `bytes` of payload may be overwritten. 1: ring the sender's bell. */
static inline int vcci_ring_rx_take(struct vcci_ring_rx *rx, size_t bytes)
{
    uint32_t cells = 1 + vcci_ring_tails(bytes);
    size_t bulk = vcci_ring_bulk(bytes);
    if (bulk)
        rx->eaten = vcci_ring_place(rx->eaten, bulk, rx->bulk_bytes) + vcci_ring_rounded(bulk);
    rx->taken += cells;
    rx->at += cells;
    if (rx->at >= rx->n) {
        rx->at -= rx->n;
        rx->lap = rx->lap == UINT32_MAX ? 1 : rx->lap + 1;
    }
    rx->next = &rx->cells[rx->at];
    if ((rx->taken - rx->taken_told) * 4 >= rx->n || (rx->eaten - rx->eaten_told) * 8 >= rx->bulk_bytes)
        return vcci_ring_rx_tell(rx);
    return 0;
}
/* Gives back eager credit. */
static inline void vcci_ring_rx_credit(struct vcci_ring_rx *rx, uint64_t cost)
{
    rx->credit += cost;
    if (rx->credit - rx->credit_told >= rx->credit_step) {
        rx->credit_told = rx->credit;
        atomic_store_explicit(&rx->head->credit_done, rx->credit, memory_order_release);
    }
}

#endif
