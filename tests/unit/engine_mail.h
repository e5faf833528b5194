/* SPDX-License-Identifier: BSD-3-Clause
 * A toy transport for the tests of the engine and the board: a rank has one counter in memory that all ranks share, whoever wants
 * something of it adds to the counter and rings. */
#ifndef VCCI_TESTS_ENGINE_MAIL_H
#define VCCI_TESTS_ENGINE_MAIL_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/engine/engine.h"
#include "p2p/board.h"
#include "tests/unit/unit.h"

struct mail_slot {
    _Alignas(64) _Atomic uint64_t sent;
    _Alignas(64) _Atomic uint64_t lost;
    _Atomic uint64_t end; /* of slot 0: the last round, once it is known */
};
struct mail {
    struct vcci_engine *engine;
    struct vcci_board board;
    struct vcci_poller poller;
    struct mail_slot *slots; /* by rank, shared */
    int me;
    int64_t started_ns;
    uint64_t taken;                                 /* under the baton */
    _Atomic uint64_t got;                           /* what ready() looks at */
    void (*on_mail)(struct mail *mail, uint64_t n); /* under the baton */
};

static inline int mail_fd(struct vcci_poller *poller)
{
    (void)poller;
    return -1;
}
static inline int mail_arm(struct vcci_poller *poller)
{
    struct mail *m = VCCI_CONTAINER(poller, struct mail, poller);
    return atomic_load_explicit(&m->slots[m->me].sent, memory_order_acquire) != m->taken;
}
static inline int mail_progress(struct vcci_poller *poller, int budget)
{
    struct mail *m = VCCI_CONTAINER(poller, struct mail, poller);
    uint64_t sent = atomic_load_explicit(&m->slots[m->me].sent, memory_order_acquire), n = sent - m->taken;
    (void)budget;
    if (!n)
        return 0;
    m->taken = sent;
    atomic_store_explicit(&m->got, sent, memory_order_release);
    if (m->on_mail)
        m->on_mail(m, n);
    return (int)n;
}
static const struct vcci_poller_ops mail_ops = {.name = "mail", .fd = mail_fd, .arm = mail_arm, .progress = mail_progress};

static inline struct mail_slot *mail_slots(int n)
{
    void *p = mmap(NULL, (size_t)n * sizeof(struct mail_slot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    return p;
}
/* board is open */
static inline void mail_up(struct mail *m, struct mail_slot *slots, const struct vcci_engine_conf *conf)
{
    struct vcci_shm_addr none = {0};
    m->slots = slots;
    m->me = m->board.me;
    ck_assert_int_eq(vcci_engine_create(conf, &m->engine), 0);
    vcci_engine_set_bell(m->engine, &m->board.entries[m->me].bell);
    m->poller.ops = &mail_ops;
    vcci_engine_lock(m->engine);
    ck_assert_int_eq(vcci_engine_add(m->engine, &m->poller), 0);
    vcci_engine_unlock(m->engine);
    vcci_board_enter(&m->board, m->me, vcci_engine_wake_fd(m->engine), &none);
}
static inline void mail_down(struct mail *m)
{
    vcci_engine_lock(m->engine);
    vcci_engine_remove(m->engine, &m->poller);
    vcci_engine_unlock(m->engine);
    atomic_fetch_add(&m->slots[m->me].lost, vcci_engine_lost(m->engine));
    vcci_engine_destroy(m->engine);
    vcci_board_close(&m->board);
}
static inline void mail_send(struct mail *m, int to)
{
    atomic_fetch_add_explicit(&m->slots[to].sent, 1, memory_order_release);
    vcci_board_ring(&m->board, to);
}

#define MAIL_SECONDS 2 /* a job runs its rounds or this long: on a crowded machine a round may take milliseconds */

/* The rank that drives asks before it sends round i of at most n: is it the last one? */
static inline int mail_drive(struct mail *m, uint64_t i, uint64_t n)
{
    if (i == 1)
        m->started_ns = vcci_now_ns();
    if (i < n && (i % 16 || vcci_now_ns() - m->started_ns < MAIL_SECONDS * (int64_t)1000000000))
        return 0;
    atomic_store(&m->slots[0].end, i);
    return 1;
}
/* The others ask after they got round i. */
static inline int mail_ended(const struct mail *m, uint64_t i)
{
    uint64_t end = atomic_load(&m->slots[0].end);
    return end && i >= end;
}

struct mail_want {
    struct mail *mail;
    uint64_t n;
};
static inline int mail_here(void *arg)
{
    struct mail_want *want = arg;
    return atomic_load_explicit(&want->mail->got, memory_order_acquire) >= want->n;
}
static inline int mail_wait(struct mail *m, uint64_t n, int64_t deadline_ns)
{
    struct mail_want want = {.mail = m, .n = n};
    struct vcci_waiter waiter = {.ready = mail_here, .arg = &want};
    return vcci_engine_wait(m->engine, &waiter, deadline_ns);
}
/* A process for local ranks 1 .. n-1 each, running body(); this one is 0. Returns when all are over. */
static inline void mail_job(int n, const struct vcci_engine_conf *conf, void (*body)(struct mail *mail, void *arg), void *arg)
{
    struct mail_slot *slots = mail_slots(n);
    struct vcci_shm_addr addr;
    struct mail m = {0};
    int me = 0;
    pid_t pids[64];
    ck_assert_int_eq(vcci_board_create(&m.board, n, &addr), 0);
    for (int i = 1; i < n && me == 0; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        me = pids[i] == 0 ? i : 0;
    }
    if (me)
        ck_assert_int_eq(vcci_board_open(&m.board, n, me, &addr), 0);
    mail_up(&m, slots, conf);
    for (int i = 0; i < n; i++)
        while (!vcci_board_peer(&m.board, i))
            usleep(100);
    body(&m, arg);
    mail_down(&m);
    if (me)
        _exit(0);
    for (int i = 1; i < n; i++) {
        int status;
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_int_eq(status, 0);
    }
    for (int i = 0; i < n; i++)
        ck_assert_uint_eq(atomic_load(&slots[i].lost), 0);
    munmap(slots, (size_t)n * sizeof *slots);
}

#endif
