/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/ring.h"

#include "lib/base/clock.h"
#include "lib/base/copy.h"


#define PAGE ((size_t)4096)
#define PAGES_MANY 1 /* of head and cells, where a host has many ranks */
#define PAGES_FEW 2
#define CLASS_BITS 8        /* the first class of payload is below twice 2^8 */
#define AROUND_FROM 4u      /* the first class that goes round the caches while nothing is measured */
#define TRIES 8u            /* of each class at first, both ways in turn */
#define TIMED_EVERY 64u
#define TRIED_EVERY 512u    /* the other way once in so many */

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
    for (unsigned i = AROUND_FROM; i < VCCI_RING_CLASSES; i++)
        tx->ways[i].around = 1;
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

/* ---- payload ---- */

static unsigned class_of(size_t bytes)
{
    unsigned bits = 63 - (unsigned)__builtin_clzll(bytes | 1);
    return bits < CLASS_BITS ? 0 : bits - CLASS_BITS >= VCCI_RING_CLASSES ? VCCI_RING_CLASSES - 1 : bits - CLASS_BITS;
}

/* Dearer is believed slowly: the kernel may have taken the core away. */
static uint32_t cost_mix(uint32_t old, size_t bytes, int64_t ns)
{
    int64_t cost = (ns < 1 ? 1 : ns > 1000000 ? 1000000 : ns) * 4096 / (int64_t)bytes; /* ns per 4 KiB */
    if (cost < 1)
        cost = 1;
    return (uint32_t)(!old || cost < old ? cost : old + (cost - old + 7) / 8);
}

void vcci_ring_timed(struct vcci_ring_rx *rx, uint8_t how, size_t bytes, int64_t ns)
{
    _Atomic uint32_t *cost = &rx->head->read_cost[class_of(bytes)][(how & VCCI_HOW_AROUND) != 0];
    uint32_t old = atomic_load_explicit(cost, memory_order_relaxed);
    atomic_store_explicit(cost, cost_mix(old, bytes, ns), memory_order_relaxed);
}

/* The cheaper way by what both ends have measured. */
static int cheaper(const struct vcci_ring_tx *tx, unsigned class)
{
    const struct vcci_ring_way *way = &tx->ways[class];
    uint32_t cost[2];
    for (int i = 0; i < 2; i++) {
        uint32_t reads = atomic_load_explicit(&tx->head->read_cost[class][i], memory_order_relaxed);
        if (!reads || !way->write_cost[i])
            return way->around;
        cost[i] = reads + way->write_cost[i];
    }
    return cost[1] <= cost[0];
}

static uint8_t load_timed(struct vcci_ring_tx *tx, void *to, const void *from, size_t bytes, unsigned class)
{
    struct vcci_ring_way *way = &tx->ways[class];
    unsigned n = way->loads - 1;
    way->around = cheaper(tx, class);
    int around = n < TRIES ? (int)(n & 1) : n % TRIED_EVERY ? way->around : !way->around;
    int64_t begin = vcci_now_ns();
    if (around) {
        vcci_copy_around(to, from, bytes);
    } else {
        vcci_copy_bytes(to, from, bytes);
        atomic_exchange_explicit(&tx->head->drain, 1, memory_order_seq_cst); /* until the stores are done, which else go on unseen */
    }
    way->write_cost[around] = cost_mix(way->write_cost[around], bytes, vcci_now_ns() - begin);
    return (uint8_t)(VCCI_HOW_TIMED | (around ? VCCI_HOW_AROUND : 0));
}

/* Whether to write through the caches or round them depends on what the two cores share, which virtual machines do not tell and may change at any time. A line
 * that the receiver's core last had must be fetched from there to be written and back to be read: without a common cache that takes 5 times as long as the
 * way through memory; with one it is the faster way for a few KiB. So both are tried, and tried again now and then. */
uint8_t vcci_ring_load(struct vcci_ring_tx *tx, void *to, const void *from, size_t bytes)
{
    unsigned class = class_of(bytes), n = tx->ways[class].loads++;
    if (n < TRIES || n % TIMED_EVERY == 0)
        return load_timed(tx, to, from, bytes, class);
    if (tx->ways[class].around) {
        vcci_copy_around(to, from, bytes);
        return VCCI_HOW_AROUND;
    }
    vcci_copy_bytes(to, from, bytes);
    return 0;
}

/* ---- room ---- */

static int look(struct vcci_ring_tx *tx, size_t bytes, memory_order order)
{
    size_t bulk = vcci_ring_bulk(bytes);
    tx->posted_max = atomic_load_explicit(&tx->head->cells_done, order) + tx->n;
    tx->filled_max = atomic_load_explicit(&tx->head->bulk_done, order) + tx->bulk_bytes;
    return tx->posted + vcci_ring_tails(bytes) < tx->posted_max &&
           (!bulk || vcci_ring_place(tx->filled, bulk, tx->bulk_bytes) + bulk <= tx->filled_max);
}

int vcci_ring_tx_room_slow(struct vcci_ring_tx *tx, size_t bytes)
{
    int room = look(tx, bytes, memory_order_acquire);
    if (!room) {
        /* Against vcci_ring_rx_tell: our flag, then its counters; its counters, then our flag. All sequentially consistent, so one sees the other. */
        if (!tx->stalled)
            atomic_store(&tx->head->stalled, 1);
        tx->stalled = 1;
        room = look(tx, bytes, memory_order_seq_cst);
    }
    if (room && tx->stalled) {
        tx->stalled = 0;
        atomic_store_explicit(&tx->head->stalled, 0, memory_order_relaxed);
    }
    return room;
}

void vcci_ring_tx_commit_long(struct vcci_ring_tx *tx, const void *payload, size_t bytes)
{
    struct vcci_cell *cell = tx->next;
    const char *from = payload;
    if (bytes > VCCI_TAILED_MAX) {
        uint64_t at = vcci_ring_place(tx->filled, bytes, tx->bulk_bytes);
        cell->how |= vcci_ring_load(tx, tx->bulk + (at & (tx->bulk_bytes - 1)), payload, bytes);
        tx->filled = at + vcci_ring_rounded(bytes);
        vcci_ring_tx_step(tx);
        return;
    }
    /* Front to back and each with its stamp, so that the receiver reads the first lines while we write the last. */
    memcpy(cell->u.bytes, from, VCCI_CELL_INLINE);
    vcci_ring_tx_step(tx);
    for (from += VCCI_CELL_INLINE, bytes -= VCCI_CELL_INLINE; bytes > 0;) {
        size_t n = bytes < VCCI_TAIL_BYTES ? bytes : VCCI_TAIL_BYTES;
        memcpy(((struct vcci_tail *)tx->next)->bytes, from, n);
        vcci_ring_tx_step(tx);
        from += n;
        bytes -= n;
    }
}

int vcci_ring_rx_gather(const struct vcci_ring_rx *rx, void *to, size_t bytes)
{
    char *t = to;
    uint32_t at = rx->at, lap = rx->lap;
    memcpy(t, rx->next->u.bytes, VCCI_CELL_INLINE);
    for (t += VCCI_CELL_INLINE, bytes -= VCCI_CELL_INLINE; bytes > 0;) {
        if (++at == rx->n) {
            at = 0;
            lap = lap == UINT32_MAX ? 1 : lap + 1;
        }
        const struct vcci_tail *tail = (const struct vcci_tail *)&rx->cells[at];
        size_t n = bytes < VCCI_TAIL_BYTES ? bytes : VCCI_TAIL_BYTES;
        if (atomic_load_explicit(&tail->stamp, memory_order_acquire) != lap)
            return 0;
        memcpy(t, tail->bytes, n);
        t += n;
        bytes -= n;
    }
    return 1;
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
