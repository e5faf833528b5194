/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/match.h"

#include <string.h>

#include "lib/base/err.h"
#include "tests/unit/unit.h"

#define ANY VCCL_ANY_SOURCE
#define ANY_TAG ((uint32_t)VCCL_ANY_TAG)

static struct vcci_xfer *receive(struct vcci_match *m, struct vcci_xfer *x, int peer, uint32_t tag, uint32_t seq)
{
    memset(x, 0, sizeof *x);
    x->peer = peer;
    x->tag = tag;
    x->seq = seq;
    vcci_match_post(m, x);
    return x;
}

static struct vcci_msg message(int src, uint32_t tag, uint32_t seq)
{
    return (struct vcci_msg){.src = src, .tag = tag, .seq = seq};
}

START_TEST(posted_in_order)
{
    struct vcci_match m;
    struct vcci_xfer x[3];
    ck_assert_int_eq(vcci_match_init(&m, 0, 4), 0);
    for (int i = 0; i < 3; i++)
        receive(&m, &x[i], 2, 7, 0);
    ck_assert_ptr_null(vcci_match_find_posted(&m, 1, 7, 0));
    ck_assert_ptr_null(vcci_match_find_posted(&m, 2, 8, 0));
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_eq(vcci_match_find_posted(&m, 2, 7, 0), &x[i]);
    ck_assert_ptr_null(vcci_match_find_posted(&m, 2, 7, 0));
    vcci_match_fini(&m);
}
END_TEST

/* Whichever list a receive is on, the one posted first that fits takes the message. */
START_TEST(wildcards_by_post_order)
{
    struct vcci_match m;
    struct vcci_xfer x[5];
    ck_assert_int_eq(vcci_match_init(&m, 0, 4), 0);
    receive(&m, &x[0], ANY, 9, 0);
    receive(&m, &x[1], 1, 5, 0);
    receive(&m, &x[2], ANY, ANY_TAG, 0);
    receive(&m, &x[3], 1, 5, 0);
    receive(&m, &x[4], 1, ANY_TAG, 0);
    ck_assert_ptr_eq(vcci_match_find_posted(&m, 1, 5, 0), &x[1]);
    ck_assert_ptr_eq(vcci_match_find_posted(&m, 1, 5, 0), &x[2]);
    ck_assert_ptr_eq(vcci_match_find_posted(&m, 1, 5, 0), &x[3]);
    ck_assert_ptr_eq(vcci_match_find_posted(&m, 1, 5, 0), &x[4]);
    ck_assert_ptr_null(vcci_match_find_posted(&m, 1, 5, 0));
    ck_assert_ptr_eq(vcci_match_find_posted(&m, 3, 9, 0), &x[0]);
    vcci_match_fini(&m);
}
END_TEST

START_TEST(pops_one_source)
{
    struct vcci_match m;
    struct vcci_xfer x[4];
    ck_assert_int_eq(vcci_match_init(&m, 0, 20), 0);
    receive(&m, &x[0], 1, 5, 0);
    receive(&m, &x[1], ANY, 5, 0);
    receive(&m, &x[2], 9, 5, 0); /* in the bucket of 1 */
    receive(&m, &x[3], 1, ANY_TAG, 0);
    ck_assert_ptr_eq(vcci_match_pop_posted_of(&m, 1), &x[0]);
    ck_assert_ptr_eq(vcci_match_pop_posted_of(&m, 1), &x[3]);
    ck_assert_ptr_null(vcci_match_pop_posted_of(&m, 1));
    ck_assert_ptr_eq(vcci_match_find_posted(&m, 9, 5, 0), &x[1]);
    ck_assert_ptr_eq(vcci_match_find_posted(&m, 9, 5, 0), &x[2]);
    vcci_match_fini(&m);
}
END_TEST

START_TEST(unexpected_by_arrival)
{
    struct vcci_match m;
    struct vcci_msg a = message(3, 1, 0), b = message(2, 1, 0), c = message(3, 2, 1);
    ck_assert_int_eq(vcci_match_init(&m, 0, 300), 0);
    ck_assert_ptr_null(vcci_match_find_msg(&m, ANY, ANY_TAG, 0));
    vcci_match_keep(&m, &a);
    vcci_match_keep(&m, &b);
    vcci_match_keep(&m, &c);
    ck_assert_ptr_eq(vcci_match_find_msg(&m, ANY, ANY_TAG, 0), &a);
    ck_assert_ptr_eq(vcci_match_find_msg(&m, 2, ANY_TAG, 0), &b);
    ck_assert_ptr_eq(vcci_match_find_msg(&m, 3, 2, 0), &c);
    ck_assert_ptr_eq(vcci_match_find_msg(&m, ANY, 2, 0), &c);
    ck_assert_ptr_null(vcci_match_find_msg(&m, 2, 2, 0));
    vcci_match_remove(&a);
    ck_assert_ptr_eq(vcci_match_find_msg(&m, ANY, ANY_TAG, 0), &b);
    ck_assert_ptr_eq(vcci_match_find_msg(&m, 3, ANY_TAG, 0), &c);
    ck_assert_ptr_eq(vcci_match_pop_msg(&m), &b);
    ck_assert_ptr_eq(vcci_match_pop_msg(&m), &c);
    ck_assert_ptr_null(vcci_match_pop_msg(&m));
    vcci_match_fini(&m);
}
END_TEST

START_TEST(exact_by_key)
{
    struct vcci_match m;
    struct vcci_xfer x[64];
    struct vcci_msg msg[64];
    ck_assert_int_eq(vcci_match_init(&m, 1, 5), 0);
    for (uint32_t i = 0; i < 64; i++)
        receive(&m, &x[i], (int)(i % 4), i / 4 % 4, i / 16);
    for (uint32_t i = 64; i-- > 0;)
        ck_assert_ptr_eq(vcci_match_find_posted(&m, (int)(i % 4), i / 4 % 4, i / 16), &x[i]);
    for (uint32_t i = 0; i < 64; i++) {
        ck_assert_ptr_null(vcci_match_find_msg(&m, (int)(i % 4), i / 4 % 4, i / 16));
        msg[i] = message((int)(i % 4), i / 4 % 4, i / 16);
        vcci_match_keep(&m, &msg[i]);
    }
    for (uint32_t i = 64; i-- > 0;) {
        ck_assert_ptr_eq(vcci_match_find_msg(&m, (int)(i % 4), i / 4 % 4, i / 16), &msg[i]);
        vcci_match_remove(&msg[i]);
    }
    ck_assert_ptr_null(vcci_match_pop_posted(&m));
    ck_assert_ptr_null(vcci_match_pop_msg(&m));
    vcci_match_fini(&m);
}
END_TEST

START_TEST(admits_in_sequence)
{
    struct vcci_match m;
    struct vcci_msg msg[4] = {message(1, 0, 0), message(1, 0, 1), message(1, 0, 2), message(1, 0, 3)};
    ck_assert_int_eq(vcci_match_init(&m, 0, 2), 0);
    ck_assert_int_eq(vcci_match_admit(&m, 1, 2), 0);
    ck_assert_int_eq(vcci_match_park(&m, &msg[2]), 0);
    ck_assert_int_eq(vcci_match_park(&m, &msg[1]), 0);
    ck_assert_int_eq(vcci_match_park(&m, &msg[3]), 0);
    ck_assert_int_eq(vcci_match_park(&m, &msg[1]), -VCCL_ERR_LINK);
    ck_assert_ptr_null(vcci_match_unpark(&m, 1));
    ck_assert_int_eq(vcci_match_admit(&m, 1, 0), 1);
    ck_assert_int_eq(vcci_match_admit(&m, 0, 0), 1);
    ck_assert_ptr_null(vcci_match_unpark(&m, 0));
    for (int i = 1; i < 4; i++)
        ck_assert_ptr_eq(vcci_match_unpark(&m, 1), &msg[i]);
    ck_assert_ptr_null(vcci_match_unpark(&m, 1));
    ck_assert_int_eq(vcci_match_park(&m, &msg[2]), -VCCL_ERR_LINK);
    ck_assert_uint_eq(m.n_parked, 0);
    vcci_match_fini(&m);
}
END_TEST

START_TEST(reordering_is_bounded)
{
    struct vcci_match m;
    struct vcci_msg *msgs = calloc(VCCI_PARKED_MAX + 1, sizeof *msgs);
    ck_assert_int_eq(vcci_match_init(&m, 0, 1), 0);
    for (uint32_t i = 0; i <= VCCI_PARKED_MAX; i++) {
        msgs[i] = message(0, 0, i + 1);
        UNIT_HOLDS(vcci_match_park(&m, &msgs[i]) == (i < VCCI_PARKED_MAX ? 0 : -VCCL_ERR_LINK));
    }
    for (uint32_t i = 0; i < VCCI_PARKED_MAX; i++)
        UNIT_HOLDS(vcci_match_pop_msg(&m) == &msgs[i]);
    ck_assert_ptr_null(vcci_match_pop_msg(&m));
    vcci_match_fini(&m);
    free(msgs);
}
END_TEST

/* The numbers go round: 2^32 messages are not the end. */
START_TEST(sequence_wraps)
{
    struct vcci_match m;
    struct vcci_msg late = message(0, 0, 1);
    ck_assert_int_eq(vcci_match_init(&m, 0, 1), 0);
    m.seq_in[0] = UINT32_MAX;
    ck_assert_int_eq(vcci_match_park(&m, &late), 0);
    ck_assert_int_eq(vcci_match_admit(&m, 0, UINT32_MAX), 1);
    ck_assert_ptr_null(vcci_match_unpark(&m, 0));
    ck_assert_int_eq(vcci_match_admit(&m, 0, 0), 1);
    ck_assert_ptr_eq(vcci_match_unpark(&m, 0), &late);
    vcci_match_fini(&m);
}
END_TEST

/* Against the definition: a list of receives and one of messages, searched from the front. */
START_TEST(random_against_lists)
{
    enum { N = 400, STEPS = 20000 };
    static struct vcci_xfer x[N];
    static struct vcci_msg msg[N];
    struct vcci_xfer *posted[N];
    struct vcci_msg *kept[N];
    int n_posted = 0, n_kept = 0;
    unsigned seed = 1;
    struct vcci_match m;
    ck_assert_int_eq(vcci_match_init(&m, 0, 12), 0);
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1103515245u + 12345u;
        int peer = (int)(seed >> 16) % 12, any = seed >> 8 & 1, i = 0;
        uint32_t tag = seed >> 20 & 3;
        if (seed >> 28 & 1 && n_kept < N) { /* a message */
            while (i < n_posted && !((posted[i]->peer == ANY || posted[i]->peer == peer) &&
                                     (posted[i]->tag == ANY_TAG || posted[i]->tag == tag)))
                i++;
            struct vcci_xfer *found = vcci_match_find_posted(&m, peer, tag, 0);
            UNIT_HOLDS(found == (i < n_posted ? posted[i] : NULL));
            if (found) {
                memmove(&posted[i], &posted[i + 1], (size_t)(--n_posted - i) * sizeof *posted);
                found->buf = NULL;
                continue;
            }
            struct vcci_msg *free_msg = msg;
            while (free_msg->cost)
                free_msg++;
            *free_msg = message(peer, tag, 0);
            free_msg->cost = 1;
            vcci_match_keep(&m, free_msg);
            kept[n_kept++] = free_msg;
        } else if (n_posted < N) { /* a receive */
            peer = any ? ANY : peer;
            tag = seed >> 9 & 1 ? ANY_TAG : tag;
            while (i < n_kept && !((peer == ANY || kept[i]->src == peer) && (tag == ANY_TAG || kept[i]->tag == tag)))
                i++;
            struct vcci_msg *found = vcci_match_find_msg(&m, peer, tag, 0);
            UNIT_HOLDS(found == (i < n_kept ? kept[i] : NULL));
            if (found) {
                vcci_match_remove(found);
                memmove(&kept[i], &kept[i + 1], (size_t)(--n_kept - i) * sizeof *kept);
                found->cost = 0;
                continue;
            }
            struct vcci_xfer *free_x = x;
            while (free_x->buf)
                free_x++;
            posted[n_posted++] = receive(&m, free_x, peer, tag, 0);
            free_x->buf = free_x;
        }
    }
    vcci_match_fini(&m);
}
END_TEST

UNIT_MAIN("match", posted_in_order, wildcards_by_post_order, pops_one_source, unexpected_by_arrival, exact_by_key, admits_in_sequence,
          reordering_is_bounded, sequence_wraps, random_against_lists)
