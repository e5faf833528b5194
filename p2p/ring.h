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

/* Reads the receiver's line again and looks for room; if there is none, says so in the ring and looks once more. */
int vcci_ring_tx_room_slow(struct vcci_ring_tx *tx, size_t bulk);
/* 1: a cell and `bulk` bytes (at most a quarter of the ring) can be written. 0: the receiver will ring once there is room. */
static inline int vcci_ring_tx_room(struct vcci_ring_tx *tx, size_t bulk)
{
    if (__builtin_expect(tx->posted < tx->posted_max, 1) &&
        (!bulk || vcci_ring_place(tx->filled, bulk, tx->bulk_bytes) + bulk <= tx->filled_max))
        return 1;
    return vcci_ring_tx_room_slow(tx, bulk);
}
/* After room said yes: the cell to fill, then commit. Payload of `bulk` bytes is copied into bulk memory. */
static inline struct vcci_cell *vcci_ring_tx_cell(struct vcci_ring_tx *tx)
{
    return tx->next;
}
static inline void vcci_ring_tx_commit(struct vcci_ring_tx *tx, const void *payload, size_t bulk)
{
    struct vcci_cell *cell = tx->next;
    if (bulk) {
        uint64_t from = vcci_ring_place(tx->filled, bulk, tx->bulk_bytes);
        memcpy(tx->bulk + (from & (tx->bulk_bytes - 1)), payload, bulk);
        tx->filled = from + vcci_ring_rounded(bulk);
    }
    atomic_store_explicit(&cell->stamp, tx->lap, memory_order_release);
    tx->posted++;
    tx->next++;
    if (++tx->at == tx->n) {
        tx->at = 0;
        tx->next = tx->cells;
        tx->lap = tx->lap == UINT32_MAX ? 1 : tx->lap + 1;
    }
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
/* Tells the sender what was consumed. 1: it is stalled, ring its bell. */
int vcci_ring_rx_tell(struct vcci_ring_rx *rx);
/* The peeked cell and its `bulk` bytes may be overwritten. 1: ring the sender's bell. */
static inline int vcci_ring_rx_take(struct vcci_ring_rx *rx, size_t bulk)
{
    if (bulk)
        rx->eaten = vcci_ring_place(rx->eaten, bulk, rx->bulk_bytes) + vcci_ring_rounded(bulk);
    rx->taken++;
    rx->next++;
    if (++rx->at == rx->n) {
        rx->at = 0;
        rx->next = rx->cells;
        rx->lap = rx->lap == UINT32_MAX ? 1 : rx->lap + 1;
    }
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
