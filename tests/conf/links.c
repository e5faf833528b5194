/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The conformance list: what every link must do, run over each way to reach a peer. Rank r sends to its right and receives from its left; with one rank both
 * are itself. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/stat.h"
#include "p2p/inside.h"
#include "tests/conf/rig.h"

static int right_of(const struct rig *rig)
{
    return (rig->me + 1) % rig->n;
}
static int left_of(const struct rig *rig)
{
    return (rig->me + rig->n - 1) % rig->n;
}
static unsigned key_of(int rank, int tag)
{
    return (unsigned)(rank * 31 + tag * 7);
}

/* ---- every size, expected and unexpected ---- */

static size_t eager_of(struct rig *rig)
{
    size_t ring = rig->p2p->shape.bulk_bytes / 4;
    return rig->p2p->eager_max < ring ? rig->p2p->eager_max : ring;
}

static void one_size(struct rig *rig, size_t bytes, int tag, int late)
{
    int to = right_of(rig), from = left_of(rig);
    struct rig_op out, in;
    char *sends = rig_alloc(rig, bytes + 1), *receives = rig_alloc(rig, bytes + 1);
    rig_fill(sends, bytes, key_of(rig->me, tag));
    memset(receives, 0xee, bytes + 1);
    if (!late)
        rig_recv(rig, rig->port, &in, receives, bytes, from, tag);
    rig_barrier(rig);
    rig_send(rig, rig->port, &out, sends, bytes, to, tag);
    if (late) {
        UNIT_HOLDS(rig_find(rig, &in, from, tag) && in.x.got_bytes == bytes);
        rig_recv(rig, rig->port, &in, receives, bytes, from, tag);
    }
    UNIT_HOLDS(rig_wait(rig, &in) == 0);
    UNIT_HOLDS(rig_wait(rig, &out) == 0);
    UNIT_HOLDS(in.x.got_bytes == bytes && in.x.got_peer == from && in.x.got_tag == (uint32_t)tag && in.x.got_sig == (uint32_t)tag * 3 + 1);
    UNIT_HOLDS(rig_is(receives, bytes, key_of(from, tag)) && (unsigned char)receives[bytes] == 0xee);
    rig_barrier(rig);
    rig_free(rig, sends);
    rig_free(rig, receives);
}

static void sizes(struct rig *rig)
{
    size_t eager = eager_of(rig), ring = rig->p2p->shape.bulk_bytes ? rig->p2p->shape.bulk_bytes : 65536;
    size_t list[] = {0,         1,     7,         8,        23,       24,       25,      59,        84,       85,
                     VCCI_TAILED_MAX - 1, VCCI_TAILED_MAX, VCCI_TAILED_MAX + 1, 1000, 1024, 4096, 4097,
                     eager - 1, eager, eager + 1, ring / 4 - 1, ring / 4, ring / 4 + 1, ring - 1, ring, ring + 1, ((size_t)1 << 20) + 1, 3000001};
    for (int late = 0; late < 2; late++)
        for (size_t i = 0; i < sizeof list / sizeof *list; i++)
            one_size(rig, list[i], (int)i, late);
}

/* ---- order ---- */

static size_t mixed_size(struct rig *rig, int i)
{
    static const size_t few[] = {0, 8, 100, 300, 1000, 3000};
    unsigned hash = (unsigned)i * 2654435761u >> 8;
    return hash % 16 == 0 ? eager_of(rig) + 1 + hash % 5000 : few[hash % 6];
}

/* Messages of one sender are received in the order they were sent, whatever way each takes. */
static void order(struct rig *rig)
{
    enum { N = 600 / RIG_SCALE };
    static _Thread_local struct rig_op out[N], in[N];
    static _Thread_local char *sends[N], *receives[N];
    for (int i = 0; i < N; i++) {
        size_t bytes = mixed_size(rig, i) + 4;
        sends[i] = rig_alloc(rig, bytes);
        receives[i] = rig_alloc(rig, 65536);
        rig_fill(sends[i], bytes, key_of(rig->me, i));
        rig_send(rig, rig->port, &out[i], sends[i], bytes, right_of(rig), 5);
        if (i % 3)
            rig_poll(rig);
    }
    for (int i = 0; i < N; i++)
        rig_recv(rig, rig->port, &in[i], receives[i], 65536, i % 4 ? left_of(rig) : VCCL_ANY_SOURCE, i % 5 ? 5 : VCCL_ANY_TAG);
    for (int i = 0; i < N; i++) {
        UNIT_HOLDS(rig_wait(rig, &in[i]) == 0);
        UNIT_HOLDS(in[i].x.got_bytes == mixed_size(rig, i) + 4);
        UNIT_HOLDS(rig_is(receives[i], in[i].x.got_bytes, key_of(left_of(rig), i)));
    }
    for (int i = 0; i < N; i++) {
        UNIT_HOLDS(rig_wait(rig, &out[i]) == 0);
        rig_free(rig, receives[i]);
    }
    rig_barrier(rig);
    for (int i = 0; i < N; i++)
        rig_free(rig, sends[i]);
}

/* ---- wildcards, tags, probe, cancel ---- */

static void wildcards(struct rig *rig)
{
    struct rig_op out[RIG_MAX], in[RIG_MAX];
    int value[RIG_MAX], seen[RIG_MAX] = {0};
    for (int i = 0; i < rig->n; i++)
        rig_recv(rig, rig->port, &in[i], &value[i], sizeof value[i], VCCL_ANY_SOURCE, VCCL_ANY_TAG);
    for (int i = 0; i < rig->n; i++)
        rig_send(rig, rig->port, &out[i], &rig->me, sizeof rig->me, i, 100 + rig->me);
    for (int i = 0; i < rig->n; i++) {
        UNIT_HOLDS(rig_wait(rig, &in[i]) == 0 && rig_wait(rig, &out[i]) == 0);
        UNIT_HOLDS(in[i].x.got_peer == value[i] && in[i].x.got_tag == (uint32_t)(100 + value[i]));
        UNIT_HOLDS(!seen[value[i]]++);
    }
}

/* The last of many offers is taken first: what waits for a receive is never what blocks it. */
static void late_tags(struct rig *rig)
{
    enum { N = 300 / RIG_SCALE };
    static _Thread_local struct rig_op out[N];
    size_t bytes = eager_of(rig) + 77;
    char *sends = rig_alloc(rig, bytes), *receives = rig_alloc(rig, bytes);
    struct rig_op in;
    rig_fill(sends, bytes, key_of(rig->me, 0));
    for (int i = 0; i < N; i++)
        rig_send(rig, rig->port, &out[i], sends, bytes, right_of(rig), i);
    for (int i = N; i-- > 0;) {
        memset(receives, 0, bytes);
        rig_recv(rig, rig->port, &in, receives, bytes, left_of(rig), i);
        UNIT_HOLDS(rig_wait(rig, &in) == 0 && rig_is(receives, bytes, key_of(left_of(rig), 0)));
    }
    for (int i = 0; i < N; i++)
        UNIT_HOLDS(rig_wait(rig, &out[i]) == 0);
    rig_barrier(rig);
    rig_free(rig, sends);
    rig_free(rig, receives);
}

static void truncation(struct rig *rig)
{
    size_t list[] = {20, 200, 2000, eager_of(rig) + 100, 500000};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int late = 0; late < 2; late++) {
            size_t bytes = list[i], cap = i % 2 ? 0 : bytes / 3;
            char *sends = rig_alloc(rig, bytes), *receives = rig_alloc(rig, bytes);
            struct rig_op out, in, probe;
            rig_fill(sends, bytes, key_of(rig->me, 1));
            memset(receives, 0xee, bytes);
            if (!late)
                rig_recv(rig, rig->port, &in, receives, cap, left_of(rig), 1);
            rig_barrier(rig);
            rig_send(rig, rig->port, &out, sends, bytes, right_of(rig), 1);
            if (late) {
                UNIT_HOLDS(rig_find(rig, &probe, left_of(rig), 1));
                rig_recv(rig, rig->port, &in, receives, cap, left_of(rig), 1);
            }
            UNIT_HOLDS(rig_wait(rig, &in) == -VCCL_ERR_TRUNCATE);
            UNIT_HOLDS(in.x.got_bytes == bytes && rig_is(receives, cap, key_of(left_of(rig), 1)));
            for (size_t k = cap; k < bytes; k++)
                UNIT_HOLDS((unsigned char)receives[k] == 0xee);
            UNIT_HOLDS(rig_wait(rig, &out) == 0);
            rig_barrier(rig);
            rig_free(rig, sends);
            rig_free(rig, receives);
        }
}

static int probe_now(struct rig *rig, struct rig_op *op, int from, int tag)
{
    memset(op, 0, sizeof *op);
    op->x.peer = from;
    op->x.tag = (uint32_t)tag;
    vcci_engine_lock(rig->engine);
    int found = vcci_p2p_probe(rig->port, &op->x);
    vcci_engine_unlock(rig->engine);
    return found;
}

static void probe_and_cancel(struct rig *rig)
{
    struct rig_op out, in, never, p;
    int from = left_of(rig), got = -1, unused = -1;
    UNIT_HOLDS(rig_recv(rig, rig->port, &never, &unused, sizeof unused, from, 99) == 1);
    UNIT_HOLDS(!probe_now(rig, &p, from, 7));
    rig_barrier(rig);
    rig_send(rig, rig->port, &out, &rig->me, sizeof rig->me, right_of(rig), 7);
    UNIT_HOLDS(rig_find(rig, &p, VCCL_ANY_SOURCE, VCCL_ANY_TAG));
    UNIT_HOLDS(p.x.got_peer == from && p.x.got_tag == 7 && p.x.got_bytes == sizeof got);
    UNIT_HOLDS(probe_now(rig, &p, from, 7) && !probe_now(rig, &p, from, 8));
    rig_recv(rig, rig->port, &in, &got, sizeof got, from, 7);
    UNIT_HOLDS(rig_wait(rig, &in) == 0 && rig_wait(rig, &out) == 0 && got == from);
    UNIT_HOLDS(!probe_now(rig, &p, from, 7));
    vcci_engine_lock(rig->engine);
    UNIT_HOLDS(vcci_p2p_cancel(&never.x) == 1);
    UNIT_HOLDS(vcci_p2p_cancel(&in.x) == 0);
    vcci_engine_unlock(rig->engine);
    rig_barrier(rig);
    rig_send(rig, rig->port, &out, &rig->me, sizeof rig->me, right_of(rig), 99);
    rig_recv(rig, rig->port, &in, &got, sizeof got, from, 99);
    UNIT_HOLDS(rig_wait(rig, &in) == 0 && rig_wait(rig, &out) == 0 && unused == -1 && !never.calls);
}

/* ---- message spaces ---- */

/* Collective messages are known by peer, tag and number, in any order; those for a space that is not open yet are kept. */
static void exact_and_early(struct rig *rig)
{
    enum { N = 40 };
    struct vcci_port *port;
    static _Thread_local struct rig_op out[N], in[N];
    size_t big = eager_of(rig) + 10;
    char *sends = rig_alloc(rig, big * N), *receives = rig_alloc(rig, big * N);
    for (int open = 0; open < 2; open++) {
        if (open == rig->me % 2)
            rig_barrier(rig); /* the others open and send meanwhile */
        vcci_engine_lock(rig->engine);
        UNIT_HOLDS(vcci_port_open(rig->p2p, 100 + (uint64_t)open, rig->world, rig->me, rig->n, 1, &port) == 0);
        vcci_engine_unlock(rig->engine);
        for (int i = 0; i < N; i++) {
            memset(&out[i], 0, sizeof out[i]);
            rig_fill(sends + (size_t)i * big, big, key_of(rig->me, i));
            rig_send(rig, port, &out[i], sends + (size_t)i * big, i % 4 ? 16 : big, right_of(rig), i);
        }
        if (open != rig->me % 2)
            rig_barrier(rig);
        for (int i = N; i-- > 0;)
            rig_recv(rig, port, &in[i], receives + (size_t)i * big, i % 4 ? 16 : big, left_of(rig), i);
        for (int i = 0; i < N; i++) {
            UNIT_HOLDS(rig_wait(rig, &in[i]) == 0 && rig_wait(rig, &out[i]) == 0);
            UNIT_HOLDS(rig_is(receives + (size_t)i * big, in[i].x.got_bytes, key_of(left_of(rig), i)));
        }
        rig_barrier(rig);
        vcci_engine_lock(rig->engine);
        vcci_port_close(port);
        vcci_engine_unlock(rig->engine);
        rig_barrier(rig);
    }
    rig_free(rig, sends);
    rig_free(rig, receives);
}

/* What comes for a closed space is dropped; whoever waits for it to be taken is told. */
static void closed_space(struct rig *rig)
{
    struct vcci_port *port;
    struct rig_op small, large;
    size_t big = eager_of(rig) + 10;
    char *buf = rig_alloc(rig, big);
    uint64_t dropped;
    int sender = rig->me % 2, receiver = rig->n > 1 && !sender;
    vcci_engine_lock(rig->engine);
    UNIT_HOLDS(vcci_port_open(rig->p2p, 200, rig->world, rig->me, rig->n, 0, &port) == 0);
    if (receiver)
        vcci_port_close(port);
    dropped = rig->p2p->dropped;
    vcci_engine_unlock(rig->engine);
    rig_barrier(rig);
    if (sender) {
        memset(buf, 1, big);
        rig_send(rig, port, &small, buf, 4, left_of(rig), 1);
        rig_send(rig, port, &large, buf, big, left_of(rig), 1);
        UNIT_HOLDS(rig_wait(rig, &small) == 0 && rig_wait(rig, &large) == -VCCL_ERR_REVOKED);
    }
    rig_barrier(rig);
    if (receiver && rig->me + 1 < rig->n)
        UNIT_HOLDS(rig->p2p->dropped == dropped + 2);
    if (!receiver) {
        vcci_engine_lock(rig->engine);
        vcci_port_close(port);
        vcci_engine_unlock(rig->engine);
    }
    rig_barrier(rig);
    rig_free(rig, buf);
}

/* ---- many at once ---- */

/* Everybody sends everything to everybody before anybody receives. */
static void flood(struct rig *rig)
{
    enum { N = 40 / (RIG_SCALE > 4 ? 4 : 1) };
    size_t cap = 200000, each[] = {8, 300, 5000, cap};
    struct rig_op *out = calloc((size_t)rig->n * N, sizeof *out), *in = calloc((size_t)rig->n * N, sizeof *in);
    char *sends = rig_alloc(rig, cap), *receives = rig_alloc(rig, cap * (size_t)rig->n * 4);
    rig_fill(sends, cap, key_of(rig->me, 0));
    for (int i = 0; i < N; i++)
        for (int to = 0; to < rig->n; to++)
            rig_send(rig, rig->port, &out[to * N + i], sends, each[i % 4], to, i);
    for (int i = 0; i < N; i++)
        for (int from = 0; from < rig->n; from++)
            rig_recv(rig, rig->port, &in[from * N + i], receives + cap * (size_t)(from * 4 + i % 4), cap, from, i);
    for (int i = 0; i < N * rig->n; i++) {
        UNIT_HOLDS(rig_wait(rig, &in[i]) == 0 && rig_wait(rig, &out[i]) == 0);
        UNIT_HOLDS(in[i].x.got_bytes == each[i % N % 4]);
    }
    for (int from = 0; from < rig->n; from++)
        for (int k = 0; k < 4; k++)
            UNIT_HOLDS(rig_is(receives + cap * (size_t)(from * 4 + k), each[k], key_of(from, 0)));
    rig_barrier(rig);
    rig_free(rig, sends);
    rig_free(rig, receives);
    free(out);
    free(in);
}

/* A sender far ahead of a receiver that does not receive costs neither of them memory. */
static void run_ahead(struct rig *rig)
{
    enum { N = 300000 / RIG_SCALE };
    struct rig_op op;
    uint64_t value = 0;
    if (rig->n < 2 || rig->me > 1) {
        rig_barrier(rig);
        return;
    }
    size_t before = rig_resident(), most = 0;
    for (uint64_t i = 0; i < N; i++) {
        if (rig->me == 0) {
            rig_send(rig, rig->port, &op, &i, sizeof i, 1, 3);
            UNIT_HOLDS(rig_wait(rig, &op) == 0);
            continue;
        }
        if (i == 0) { /* messages pile up as far as they may */
            for (int k = 0; k < 200; k++, usleep(1000))
                rig_poll(rig);
            most = rig_resident();
        }
        rig_recv(rig, rig->port, &op, &value, sizeof value, 0, 3);
        UNIT_HOLDS(rig_wait(rig, &op) == 0 && value == i);
    }
    if (rig_resident() > most)
        most = rig_resident();
    UNIT_HOLDS(RIG_SCALE > 1 || most < before + (3u << 20));
    rig_barrier(rig);
}

/* One byte to and fro between ranks that sleep whenever they wait. */
static void asleep(struct rig *rig)
{
    struct rig_op out, in;
    uint64_t token = 0;
    int rounds = 2000 / RIG_SCALE / rig->n;
    for (int i = 0; i < rounds; i++) {
        if (rig->me == 0)
            rig_send(rig, rig->port, &out, &token, sizeof token, right_of(rig), 1);
        rig_recv(rig, rig->port, &in, &token, sizeof token, left_of(rig), 1);
        UNIT_HOLDS(rig_wait(rig, &in) == 0);
        if (rig->me)
            rig_send(rig, rig->port, &out, &token, sizeof token, right_of(rig), 1);
        UNIT_HOLDS(rig_wait(rig, &out) == 0);
        if (i % 64 == 0)
            usleep(300);
    }
    rig_barrier(rig);
}

/* Nobody is inside the library: the background threads bring a large message over. */
static void in_the_background(struct rig *rig)
{
    size_t bytes = 2000000;
    char *sends = rig_alloc(rig, bytes), *receives = rig_alloc(rig, bytes);
    struct rig_op out, in;
    int64_t end = vcci_now_ns() + 60000000000;
    rig_fill(sends, bytes, key_of(rig->me, 0));
    rig_recv(rig, rig->port, &in, receives, bytes, left_of(rig), 1);
    rig_send(rig, rig->port, &out, sends, bytes, right_of(rig), 1);
    while (!(atomic_load(&in.over) && atomic_load(&out.over)) && vcci_now_ns() < end)
        usleep(1000);
    UNIT_HOLDS(rig_wait(rig, &in) == 0 && rig_wait(rig, &out) == 0 && rig_is(receives, bytes, key_of(left_of(rig), 0)));
    rig_barrier(rig);
    rig_free(rig, sends);
    rig_free(rig, receives);
}

/* ---- revoke ---- */

static const int revoked_with = -VCCL_ERR_TIMEOUT;

/* Some rank revokes in the middle of everything; every operation ends, once, and later ones are refused. */
static void revoked(struct rig *rig)
{
    enum { N = 24 };
    size_t each[] = {8, 2000, 100000, 3000000};
    static _Thread_local struct rig_op out[N], in[N];
    char *sends = rig_alloc(rig, 3000000), *receives = rig_alloc(rig, (size_t)3000000 * 4);
    memset(sends, 1, 3000000);
    for (int round = 0; round < 12 / (RIG_SCALE > 4 ? 4 : 1); round++) {
        struct vcci_port *port;
        vcci_engine_lock(rig->engine);
        UNIT_HOLDS(vcci_port_open(rig->p2p, 1000 + (uint64_t)round, rig->world, rig->me, rig->n, 0, &port) == 0);
        vcci_engine_unlock(rig->engine);
        rig_barrier(rig);
        for (int i = 0; i < N; i++) {
            rig_send(rig, port, &out[i], sends, each[i % 4], right_of(rig), i);
            rig_recv(rig, port, &in[i], receives + (size_t)3000000 * (size_t)(i % 4), each[i % 4], left_of(rig), i + (i % 5 == 4 ? 100 : 0));
        }
        for (int i = 0; i < round * 3; i++)
            rig_poll(rig);
        if ((rig->me + round) % 2 == 0)
            usleep((useconds_t)(round * 100));
        vcci_engine_lock(rig->engine);
        vcci_port_revoke(port, revoked_with);
        vcci_engine_unlock(rig->engine);
        for (int i = 0; i < N; i++) {
            int got = rig_wait(rig, &in[i]), sent = rig_wait(rig, &out[i]);
            UNIT_HOLDS(got == 0 || got == revoked_with || got == -VCCL_ERR_REVOKED);
            UNIT_HOLDS(sent == 0 || sent == revoked_with || sent == -VCCL_ERR_REVOKED);
            UNIT_HOLDS(i % 5 != 4 || got == revoked_with);
        }
        struct rig_op late;
        UNIT_HOLDS(rig_send(rig, port, &late, sends, 8, right_of(rig), 1) == revoked_with);
        UNIT_HOLDS(rig_recv(rig, port, &late, receives, 8, left_of(rig), 1) == revoked_with);
        rig_barrier(rig);
        vcci_engine_lock(rig->engine);
        vcci_port_close(port);
        vcci_engine_unlock(rig->engine);
    }
    one_size(rig, 100000, 1, 0); /* other spaces live on */
    rig_free(rig, sends);
    rig_free(rig, receives);
}

/* ---- leaving ---- */

/* An offer to a rank that has left fails; it does not wait for ever. */
static void left(struct rig *rig)
{
    struct rig_op op, out, in;
    size_t big = eager_of(rig) + 10;
    char *buf = rig_alloc(rig, big);
    int value;
    one_size(rig, 8, 1, 0);
    if (rig->me == 0 && rig->n > 1) {
        memset(buf, 1, big);
        rig_recv(rig, rig->port, &in, &value, sizeof value, 1, 51);
        rig_send(rig, rig->port, &out, buf, big, 1, 50);
        atomic_store(&rig->common->words[0], 1);
        UNIT_HOLDS(rig_wait(rig, &out) == -VCCL_ERR_PROC_FAILED);
        UNIT_HOLDS(rig_wait(rig, &in) == -VCCL_ERR_PROC_FAILED);
        UNIT_HOLDS(rig_send(rig, rig->port, &op, buf, big, 1, 50) == -VCCL_ERR_PROC_FAILED);
    }
    if (rig->me == 1) { /* as vcci_board_close says it */
        while (!atomic_load(&rig->common->words[0]))
            usleep(100);
        atomic_store(&rig->board.entries[1].state, VCCI_RANK_LEFT);
    }
    rig_barrier(rig);
    rig_free(rig, buf);
}

/* ---- beyond 4 GiB ---- */

/* 4 GiB of addresses over a few pages. */
static char *folded(size_t bytes)
{
    size_t window = (size_t)2 << 20;
    int fd = memfd_create("fold", MFD_CLOEXEC);
    UNIT_HOLDS(fd >= 0 && ftruncate(fd, (off_t)window) == 0);
    char *base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    UNIT_HOLDS(base != MAP_FAILED);
    for (size_t at = 0; at < bytes; at += window)
        UNIT_HOLDS(mmap(base + at, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
    close(fd);
    return base;
}

static void beyond_4g(struct rig *rig)
{
    size_t room = ((size_t)4 << 30) + ((size_t)2 << 20), bytes = ((size_t)4 << 30) + 12345;
    struct rig_op out, in;
    if (RIG_SCALE > 1 || rig->n > 3 || rig->threads || rig->map_buffers)
        return;
    char *sends = folded(room), *receives = folded(room);
    rig_fill(sends, 2 << 20, key_of(rig->me, 1));
    rig_recv(rig, rig->port, &in, receives, bytes, left_of(rig), 1);
    rig_barrier(rig);
    rig_send(rig, rig->port, &out, sends, bytes, right_of(rig), 1);
    UNIT_HOLDS(rig_wait(rig, &in) == 0 && rig_wait(rig, &out) == 0);
    UNIT_HOLDS(in.x.got_bytes == bytes && rig_is(receives, 2 << 20, key_of(left_of(rig), 1)));
    rig_barrier(rig);
    munmap(sends, room);
    munmap(receives, room);
}

/* ---- single copy refused ---- */

static _Atomic int refuse_after, reads_tried;
static long (*real_readv)(int, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

static long refusing_readv(int pid, const struct iovec *local, unsigned long n_local, const struct iovec *remote, unsigned long n_remote,
                           unsigned long flags)
{
    if (atomic_fetch_add(&reads_tried, 1) >= refuse_after) {
        errno = EPERM;
        return -1;
    }
    return real_readv(pid, local, n_local, remote, n_remote, flags);
}

static void refused_reads(struct rig *rig)
{
    one_size(rig, 3000000, 1, 0);
    one_size(rig, 3000000, 2, 1);
    one_size(rig, 100000, 3, 1);
}

static const struct rig_way reading = {"reading", 2, 3, 0, 0, "always", 0};

/* EPERM at the probe, or in the middle of a message: the ring brings it, and it is not tried again. */
START_TEST(single_copy_refused)
{
    real_readv = vcci_cma_readv;
    vcci_cma_readv = refusing_readv;
    for (int after = 0; after < 3; after++) {
        atomic_store(&refuse_after, after);
        atomic_store(&reads_tried, 0);
        rig_run(&reading, refused_reads);
        ck_assert_int_eq(atomic_load(&reads_tried), after + 1);
    }
    vcci_cma_readv = real_readv;
}
END_TEST

static void count_copies(struct rig *rig)
{
    uint64_t ring = atomic_load(&vcci_stats[VCCI_STAT_copy_ring_bytes]), cma = atomic_load(&vcci_stats[VCCI_STAT_copy_cma_bytes]),
             mapped = atomic_load(&vcci_stats[VCCI_STAT_copy_mapped_bytes]);
    one_size(rig, 1000000, 1, 0);
    ring = atomic_load(&vcci_stats[VCCI_STAT_copy_ring_bytes]) - ring;
    cma = atomic_load(&vcci_stats[VCCI_STAT_copy_cma_bytes]) - cma;
    mapped = atomic_load(&vcci_stats[VCCI_STAT_copy_mapped_bytes]) - mapped;
    UNIT_HOLDS(mapped == (rig->map_buffers ? 1000000u : 0u));
    UNIT_HOLDS(rig->map_buffers || cma + ring == 1000000u);
    UNIT_HOLDS(rig->map_buffers || (vcci_cma_usable(rig->p2p->peers[left_of(rig)]) && rig->p2p->single_copy == 2 ? ring == 0 : cma == 0));
    rig_barrier(rig);
}

START_TEST(bytes_are_copied_once)
{
    static const struct rig_way off = {"ring", 2, 3, 0, 0, "off", 0}, mapped = {"mapped", 2, 3, 0, 1, "off", 0};
    rig_run(&reading, count_copies);
    rig_run(&off, count_copies);
    rig_run(&mapped, count_copies);
}
END_TEST

/* ---- the list ---- */

static const struct rig_way ways[] = {
    {"self", 1, 1, 0, 0, NULL, 0},
    {"self, by shared memory", 1, 2, 0, 0, NULL, 0},
    {"shm, ring", 2, 3, 0, 0, "off", 0},
    {"shm, ring, awake", 2, 3, 0, 0, "off", 1},
    {"shm, read in place", 3, 3, 0, 0, "always", 0},
    {"shm, mapped", 2, 3, 0, 1, "off", 1},
    {"shm, 8 ranks", 8, 3, 0, 0, "auto", 0},
    {"shm, threads", 4, 3, 1, 0, "off", 0},
    {"shm, threads, read in place", 3, 3, 1, 0, "always", 0},
};
#define N_WAYS (int)(sizeof ways / sizeof *ways)

static void (*const cases[])(struct rig *) = {sizes,      order,           wildcards,    late_tags,    truncation, probe_and_cancel,
                                              exact_and_early, closed_space, flood,   run_ahead,    asleep,     in_the_background,
                                              revoked,    left,            beyond_4g};
static const char *const names[] = {"sizes",           "order",        "wildcards", "late_tags", "truncation", "probe_and_cancel",
                                    "exact_and_early", "closed_space", "flood",     "run_ahead", "asleep",     "in_the_background",
                                    "revoke",          "left",         "beyond_4g"};
#define N_CASES (int)(sizeof cases / sizeof *cases)

START_TEST(conformance)
{
    const struct rig_way *way = &ways[_i / N_CASES];
    rig_run(way, cases[_i % N_CASES]);
}
END_TEST

/* A word or two choose: links [WAY [CASE]] */
int main(int argc, char **argv)
{
    Suite *suite = suite_create("links");
    for (int i = 0; i < N_WAYS * N_CASES; i++) {
        if ((argc > 1 && strcmp(argv[1], ways[i / N_CASES].name) != 0) || (argc > 2 && strcmp(argv[2], names[i % N_CASES]) != 0))
            continue;
        static char texts[N_WAYS * N_CASES][64]; /* Check keeps the pointer */
        char *text = texts[i];
        snprintf(text, sizeof texts[i], "%s: %s", ways[i / N_CASES].name, names[i % N_CASES]);
        TCase *tcase = tcase_create(text);
        tcase_set_timeout(tcase, UNIT_SECONDS);
        tcase_add_loop_test(tcase, conformance, i, i + 1);
        suite_add_tcase(suite, tcase);
    }
    TCase *copies = tcase_create("copies");
    tcase_set_timeout(copies, UNIT_SECONDS);
    tcase_add_test(copies, single_copy_refused);
    tcase_add_test(copies, bytes_are_copied_once);
    suite_add_tcase(suite, copies);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
