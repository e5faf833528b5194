/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/ring.h"

#define PAGE ((size_t)4096)
#define PAGES_MANY 1 /* of head and cells, where a host has many ranks */
#define PAGES_FEW 2

/* With 1,024 ranks there may be a million rings: what each touches must stay at a few pages. */
static const struct {
    int n;
    size_t bulk_bytes;
} sizes[] = {{16, 512 << 10}, {64, 128 << 10}, {256, 32 << 10}, {INT32_MAX, 8 << 10}};

void vcci_ring_shape(int n, struct vcci_ring_shape *shape_out)
{
    size_t pages = n <= sizes[0].n ? PAGES_FEW : PAGES_MANY, i = 0;
    while (n > sizes[i].n)
        i++;
    shape_out->cells = (pages * PAGE - sizeof(struct vcci_ring_head)) / sizeof(struct vcci_cell);
    shape_out->bulk_bytes = sizes[i].bulk_bytes;
    shape_out->bytes = pages * PAGE + shape_out->bulk_bytes;
}

static struct vcci_cell *cells_of(void *ring)
{
    return (struct vcci_cell *)((char *)ring + sizeof(struct vcci_ring_head));
}

static uint8_t *bulk_of(void *ring, const struct vcci_ring_shape *shape)
{
    return (uint8_t *)ring + shape->bytes - shape->bulk_bytes;
}

void vcci_ring_tx_init(struct vcci_ring_tx *tx, void *ring, const struct vcci_ring_shape *shape)
{
    *tx = (struct vcci_ring_tx){.head = ring,
                                .cells = cells_of(ring),
                                .next = cells_of(ring),
                                .bulk = bulk_of(ring, shape),
                                .n = (uint32_t)shape->cells,
                                .lap = 1,
                                .posted_max = shape->cells,
                                .filled_max = shape->bulk_bytes,
                                .bulk_bytes = shape->bulk_bytes};
}

void vcci_ring_rx_init(struct vcci_ring_rx *rx, void *ring, const struct vcci_ring_shape *shape, uint64_t credit_step)
{
    *rx = (struct vcci_ring_rx){.next = cells_of(ring),
                                .lap = 1,
                                .n = (uint32_t)shape->cells,
                                .head = ring,
                                .cells = cells_of(ring),
                                .bulk = bulk_of(ring, shape),
                                .bulk_bytes = shape->bulk_bytes,
                                .credit_step = credit_step};
}

static int look(struct vcci_ring_tx *tx, size_t bulk, memory_order order)
{
    tx->posted_max = atomic_load_explicit(&tx->head->cells_done, order) + tx->n;
    tx->filled_max = atomic_load_explicit(&tx->head->bulk_done, order) + tx->bulk_bytes;
    return tx->posted < tx->posted_max && (!bulk || vcci_ring_place(tx->filled, bulk, tx->bulk_bytes) + bulk <= tx->filled_max);
}

int vcci_ring_tx_room_slow(struct vcci_ring_tx *tx, size_t bulk)
{
    int room = look(tx, bulk, memory_order_acquire);
    if (!room) {
        /* Against vcci_ring_rx_tell: our flag, then its counters; its counters, then our flag. All sequentially consistent, so one sees the other. */
        if (!tx->stalled || !atomic_load_explicit(&tx->head->stalled, memory_order_relaxed))
            atomic_store(&tx->head->stalled, 1);
        tx->stalled = 1;
        room = look(tx, bulk, memory_order_seq_cst);
    }
    if (room && tx->stalled) {
        tx->stalled = 0;
        atomic_store_explicit(&tx->head->stalled, 0, memory_order_relaxed);
    }
    return room;
}

uint64_t vcci_ring_tx_credit(const struct vcci_ring_tx *tx)
{
    return atomic_load_explicit(&tx->head->credit_done, memory_order_acquire);
}

int vcci_ring_rx_tell(struct vcci_ring_rx *rx)
{
    rx->taken_told = rx->taken;
    rx->eaten_told = rx->eaten;
    atomic_store_explicit(&rx->head->bulk_done, rx->eaten, memory_order_release);
    atomic_store(&rx->head->cells_done, rx->taken);
    return atomic_load(&rx->head->stalled) != 0;
}
