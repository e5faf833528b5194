/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/ring.h"

#include <pthread.h>
#include <sched.h>

#include "tests/unit/unit.h"

struct pair {
    struct vcci_ring_shape shape;
    void *memory;
    struct vcci_ring_tx tx;
    struct vcci_ring_rx rx;
};

static void open_pair(struct pair *p, int ranks)
{
    vcci_ring_shape(ranks, &p->shape);
    p->memory = aligned_alloc(4096, p->shape.bytes);
    memset(p->memory, 0, p->shape.bytes);
    vcci_ring_tx_init(&p->tx, p->memory, &p->shape);
    vcci_ring_rx_init(&p->rx, p->memory, &p->shape, 1024);
}

static int put(struct vcci_ring_tx *tx, uint32_t number, size_t bytes)
{
    static _Thread_local uint8_t payload[65536];
    if (!vcci_ring_tx_room(tx, bytes))
        return 0;
    for (size_t i = 0; i < bytes; i++)
        payload[i] = (uint8_t)(number * 7 + i * 3 + (i >> 8));
    struct vcci_cell *cell = vcci_ring_tx_cell(tx);
    cell->kind = VCCI_CELL_EAGER;
    cell->how = 0;
    cell->seq = number;
    cell->total = bytes;
    vcci_ring_tx_commit(tx, payload, bytes);
    return 1;
}

/* -1: nothing there; else the next message is checked and taken, 1: the sender must be rung */
static int get(struct vcci_ring_rx *rx, uint32_t number, size_t bytes)
{
    uint8_t gathered[VCCI_TAILED_MAX];
    struct vcci_cell *cell = vcci_ring_rx_peek(rx);
    if (!cell)
        return -1;
    UNIT_HOLDS(cell->kind == VCCI_CELL_EAGER && cell->seq == number && cell->total == bytes);
    const uint8_t *payload = cell->u.bytes;
    if (bytes > VCCI_TAILED_MAX)
        payload = vcci_ring_rx_bulk(rx, bytes);
    else if (bytes > VCCI_CELL_INLINE && !vcci_ring_rx_gather(rx, gathered, bytes))
        return -1;
    else if (bytes > VCCI_CELL_INLINE)
        payload = gathered;
    for (size_t i = 0; i < bytes; i++)
        UNIT_HOLDS(payload[i] == (uint8_t)(number * 7 + i * 3 + (i >> 8)));
    return vcci_ring_rx_take(rx, bytes);
}

START_TEST(shapes)
{
    struct vcci_ring_shape one, many;
    vcci_ring_shape(2, &one);
    vcci_ring_shape(1024, &many);
    ck_assert_uint_ge(one.bulk_bytes, many.bulk_bytes);
    for (int n = 1; n <= 4096; n += 13) {
        struct vcci_ring_shape s;
        vcci_ring_shape(n, &s);
        ck_assert_uint_eq(s.bytes % 4096, 0);
        ck_assert_uint_eq(s.bulk_bytes & (s.bulk_bytes - 1), 0);
        ck_assert_uint_ge(s.cells, 4 * (1 + VCCI_TAILS_MAX));
        ck_assert_uint_ge(s.bytes - s.bulk_bytes, sizeof(struct vcci_ring_head) + s.cells * sizeof(struct vcci_cell));
    }
    ck_assert_uint_le(many.bytes, 16384); /* a million of them may be in use */
}
END_TEST

static const size_t sizes[] = {0, 1, 3, 4, 8, 15, 16, 23, 24, 25, 60, 83, 84, 85, 144, VCCI_TAILED_MAX - 1, VCCI_TAILED_MAX,
                               VCCI_TAILED_MAX + 1, 1000, 2048};

START_TEST(every_size_round_and_round)
{
    for (int ranks = 2; ranks <= 2048; ranks *= 32) {
        struct pair p;
        uint32_t number = 0;
        open_pair(&p, ranks);
        for (int lap = 0; lap < 100; lap++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, number++) {
                UNIT_HOLDS(get(&p.rx, number, sizes[i]) < 0);
                UNIT_HOLDS(put(&p.tx, number, sizes[i]));
                UNIT_HOLDS(get(&p.rx, number, sizes[i]) == 0);
            }
        free(p.memory);
    }
}
END_TEST

/* A full ring stalls the sender, who is to be rung once there is room again. */
static void fill_and_drain(size_t bytes)
{
    struct pair p;
    uint32_t in = 0, out = 0, rung = 0;
    open_pair(&p, 2);
    for (int lap = 0; lap < 5; lap++) {
        while (put(&p.tx, in, bytes))
            in++;
        ck_assert_uint_gt(in, out);
        ck_assert_uint_eq(atomic_load(&p.tx.head->stalled), 1);
        rung = 0;
        for (int r; (r = get(&p.rx, out, bytes)) >= 0; out++)
            rung += (uint32_t)r;
        ck_assert_uint_eq(in, out);
        ck_assert_uint_gt(rung, 0);
        ck_assert(put(&p.tx, in++, bytes));
        ck_assert_uint_eq(atomic_load(&p.tx.head->stalled), 0);
    }
    free(p.memory);
}

START_TEST(full)
{
    fill_and_drain(8);
    fill_and_drain(200);
    fill_and_drain(1000);
    fill_and_drain(65536);
}
END_TEST

/* Stamps are laps: they go round, and fresh memory is never taken for a cell. */
START_TEST(laps_wrap)
{
    struct pair p;
    uint32_t number = 0;
    open_pair(&p, 2);
    p.tx.lap = p.rx.lap = UINT32_MAX - 1;
    for (size_t i = 0; i < p.shape.cells * 5; i++, number++) {
        UNIT_HOLDS(put(&p.tx, number, i % 3 ? 8 : 100));
        UNIT_HOLDS(get(&p.rx, number, i % 3 ? 8 : 100) >= 0);
    }
    ck_assert_uint_gt(p.tx.lap, 0);
    ck_assert_uint_lt(p.tx.lap, 10);
    free(p.memory);
}
END_TEST

START_TEST(half_a_message_is_none)
{
    struct pair p;
    uint8_t to[VCCI_TAILED_MAX];
    open_pair(&p, 2);
    ck_assert(put(&p.tx, 0, 200));
    struct vcci_tail *second = (struct vcci_tail *)(p.rx.cells + 2);
    uint32_t stamp = atomic_load(&second->stamp);
    atomic_store(&second->stamp, 0);
    ck_assert_int_eq(vcci_ring_rx_gather(&p.rx, to, 200), 0);
    ck_assert_int_eq(get(&p.rx, 0, 200), -1);
    atomic_store(&second->stamp, stamp);
    ck_assert_int_eq(get(&p.rx, 0, 200), 0);
    free(p.memory);
}
END_TEST

START_TEST(credit_comes_in_steps)
{
    struct pair p;
    open_pair(&p, 2);
    vcci_ring_rx_credit(&p.rx, 1000);
    ck_assert_uint_eq(vcci_ring_tx_credit(&p.tx), 0);
    vcci_ring_rx_credit(&p.rx, 100);
    ck_assert_uint_eq(vcci_ring_tx_credit(&p.tx), 1100);
    free(p.memory);
}
END_TEST

/* The way that measured cheaper is taken, and the other is still tried now and then. */
START_TEST(learns_which_way_is_cheaper)
{
    for (int cheap = 0; cheap < 2; cheap++) {
        struct pair p;
        unsigned ways[2] = {0, 0};
        open_pair(&p, 2);
        for (uint32_t number = 0; number < 4000; number++) {
            UNIT_HOLDS(put(&p.tx, number, 8192));
            const struct vcci_cell *cell = vcci_ring_rx_peek(&p.rx);
            int around = (cell->how & VCCI_HOW_AROUND) != 0;
            ways[around]++;
            if (cell->how & VCCI_HOW_TIMED)
                vcci_ring_timed(&p.rx, cell->how, 8192, around == cheap ? 1000 : 1000000);
            UNIT_HOLDS(get(&p.rx, number, 8192) == 0);
        }
        ck_assert_uint_gt(ways[cheap], 3900);
        ck_assert_uint_gt(ways[!cheap], 4);
        free(p.memory);
    }
}
END_TEST

enum { MANY = 200000 };

static size_t nth_size(uint32_t number)
{
    return sizes[(number * 2654435761u >> 16) % (sizeof sizes / sizeof *sizes)];
}

static void *sender(void *arg)
{
    struct pair *p = arg;
    for (uint32_t number = 0; number < MANY;)
        if (put(&p->tx, number, nth_size(number)))
            number++;
        else
            sched_yield();
    return NULL;
}

START_TEST(two_threads)
{
    struct pair p;
    pthread_t thread;
    open_pair(&p, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, sender, &p), 0);
    for (uint32_t number = 0; number < MANY;)
        if (get(&p.rx, number, nth_size(number)) >= 0)
            number++;
        else
            sched_yield();
    pthread_join(thread, NULL);
    free(p.memory);
}
END_TEST

UNIT_MAIN("ring", shapes, every_size_round_and_round, full, laps_wrap, half_a_message_is_none, credit_comes_in_steps,
          learns_which_way_is_cheaper, two_threads)
