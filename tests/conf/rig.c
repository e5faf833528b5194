/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/conf/rig.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/env.h"
#include "lib/base/err.h"

#define PATIENCE_NS 200000000000

static void rig_up(struct rig *rig, const struct rig_way *way)
{
    struct rig_common *common = rig->common;
    struct vcci_engine_conf conf = {.threaded = 1, .spin_ns = way->awake ? 20000 : 0, .yields = way->awake ? 8 : 1};
    if (rig->me == 0) {
        UNIT_HOLDS(vcci_board_create(&rig->board, rig->n, &common->board) == 0);
        atomic_store(&common->board_ready, 1);
    } else {
        while (!atomic_load(&common->board_ready))
            usleep(100);
        UNIT_HOLDS(vcci_board_open(&rig->board, rig->n, rig->me, &common->board) == 0);
    }
    UNIT_HOLDS(vcci_engine_create(&conf, &rig->engine) == 0);
    vcci_engine_set_bell(rig->engine, &rig->board.entries[rig->me].bell);
    for (int i = 0; i < rig->n; i++)
        rig->world[i] = i;
    struct vcci_p2p_conf p2p = {.engine = rig->engine,
                                .board = &rig->board,
                                .world_rank = rig->me,
                                .world_size = rig->n,
                                .local_of = rig->world,
                                .links = way->links};
    vcci_engine_lock(rig->engine);
    UNIT_HOLDS(vcci_p2p_create(&p2p, &rig->p2p) == 0);
    UNIT_HOLDS(vcci_port_open(rig->p2p, 2, rig->world, rig->me, rig->n, 0, &rig->port) == 0);
    vcci_engine_unlock(rig->engine);
}

static int quiet(void *arg)
{
    struct rig *rig = arg;
    vcci_engine_lock(rig->engine);
    int yes = vcci_p2p_quiet(rig->p2p);
    vcci_engine_unlock(rig->engine);
    return yes;
}

static void rig_down(struct rig *rig)
{
    struct vcci_waiter w = {.ready = quiet, .arg = rig};
    UNIT_HOLDS(vcci_engine_wait(rig->engine, &w, vcci_now_ns() + PATIENCE_NS) == 0);
    rig_barrier(rig);
    vcci_engine_lock(rig->engine);
    vcci_port_close(rig->port);
    vcci_p2p_destroy(rig->p2p);
    vcci_engine_unlock(rig->engine);
    UNIT_HOLDS(vcci_engine_lost(rig->engine) == 0);
    vcci_engine_destroy(rig->engine);
    vcci_board_close(&rig->board);
}

struct rank {
    struct rig rig;
    const struct rig_way *way;
    void (*body)(struct rig *rig);
    pthread_t thread;
};

static void *rank_main(void *arg)
{
    struct rank *rank = arg;
    rig_up(&rank->rig, rank->way);
    rank->body(&rank->rig);
    rig_down(&rank->rig);
    return NULL;
}

static void run_processes(struct rank *ranks, int n)
{
    pid_t pids[RIG_MAX];
    int me = 0;
    for (int i = 1; i < n && me == 0; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        me = pids[i] == 0 ? i : 0;
    }
    rank_main(&ranks[me]);
    if (me)
        _exit(0);
    for (int i = 1; i < n; i++) {
        int status;
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_msg(status == 0, "rank %d ended with status 0x%x", i, (unsigned)status);
    }
}

static void run_threads(struct rank *ranks, int n)
{
    for (int i = 1; i < n; i++)
        ck_assert_int_eq(pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]), 0);
    rank_main(&ranks[0]);
    for (int i = 1; i < n; i++)
        pthread_join(ranks[i].thread, NULL);
}

void rig_run(const struct rig_way *way, void (*body)(struct rig *rig))
{
    struct rig_common *common =
        mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct rank *ranks = calloc((size_t)way->ranks, sizeof *ranks);
    ck_assert(common != MAP_FAILED && ranks);
    setenv("VCCL_SINGLE_COPY", way->single_copy ? way->single_copy : "auto", 1);
    ck_assert_int_eq(vcci_env_load(NULL), 0);
    for (int i = 0; i < way->ranks; i++) {
        ranks[i].rig = (struct rig){.common = common, .me = i, .n = way->ranks, .threads = way->threads, .map_buffers = way->map_buffers};
        ranks[i].way = way;
        ranks[i].body = body;
    }
    if (way->threads)
        run_threads(ranks, way->ranks);
    else
        run_processes(ranks, way->ranks);
    munmap(common, sizeof *common);
    free(ranks);
}

struct gather {
    struct rig *rig;
    int turn;
};

static int gathered(void *arg)
{
    const struct gather *g = arg;
    for (int i = 0; i < g->rig->n; i++)
        if (atomic_load(&g->rig->common->arrived[i]) < g->turn)
            return 0;
    return 1;
}

void rig_barrier(struct rig *rig)
{
    struct gather g = {.rig = rig, .turn = ++rig->barriers};
    int64_t end = vcci_now_ns() + PATIENCE_NS;
    atomic_store(&rig->common->arrived[rig->me], g.turn);
    while (!gathered(&g)) {
        rig_poll(rig);
        UNIT_HOLDS(vcci_now_ns() < end);
        usleep(50);
    }
}

/* ---- operations ---- */

static void op_done(struct vcci_xfer *xfer, int status)
{
    struct rig_op *op = VCCI_CONTAINER(xfer, struct rig_op, x);
    op->status = status;
    op->calls++;
    atomic_store(&op->over, 1);
}

static int begin(struct rig *rig, struct vcci_port *port, struct rig_op *op, void *buf, size_t bytes, int peer, int tag,
                 int (*post)(struct vcci_port *, struct vcci_xfer *))
{
    memset(op, 0, sizeof *op);
    op->x.done = op_done;
    op->x.buf = buf;
    op->x.bytes = bytes;
    op->x.peer = peer;
    op->x.tag = (uint32_t)tag;
    op->x.sig = (uint32_t)tag * 3 + 1;
    vcci_engine_lock(rig->engine);
    int rc = post(port, &op->x);
    vcci_engine_unlock(rig->engine);
    if (rc <= 0) {
        op->status = rc;
        op->calls++;
        atomic_store(&op->over, 1);
    }
    return rc;
}

int rig_send(struct rig *rig, struct vcci_port *port, struct rig_op *op, const void *buf, size_t bytes, int to, int tag)
{
    return begin(rig, port, op, (void *)(uintptr_t)buf, bytes, to, tag, vcci_p2p_send);
}

int rig_recv(struct rig *rig, struct vcci_port *port, struct rig_op *op, void *buf, size_t bytes, int from, int tag)
{
    return begin(rig, port, op, buf, bytes, from, tag, vcci_p2p_recv);
}

static int op_ready(void *arg)
{
    return atomic_load_explicit(&((struct rig_op *)arg)->over, memory_order_acquire);
}

int rig_wait(struct rig *rig, struct rig_op *op)
{
    struct vcci_waiter w = {.ready = op_ready, .arg = op};
    if (!op_ready(op) && vcci_engine_wait(rig->engine, &w, vcci_now_ns() + PATIENCE_NS))
        ck_abort_msg("rank %d: %s of %zu bytes, peer %d, tag %u: still in phase %u after %d s", rig->me,
                     op->x.remote_id ? "transfer" : "message", op->x.bytes, op->x.peer, op->x.tag, op->x.phase, (int)(PATIENCE_NS / 1000000000));
    UNIT_HOLDS(op->calls == 1);
    return op->status;
}

void rig_poll(struct rig *rig)
{
    vcci_engine_lock(rig->engine);
    vcci_engine_poll(rig->engine, 16);
    vcci_engine_unlock(rig->engine);
}

int rig_over(struct rig *rig, struct rig_op *op)
{
    rig_poll(rig);
    return op_ready(op);
}

int rig_find(struct rig *rig, struct rig_op *op, int from, int tag)
{
    int64_t end = vcci_now_ns() + PATIENCE_NS;
    memset(op, 0, sizeof *op);
    op->x.peer = from;
    op->x.tag = (uint32_t)tag;
    for (int found = 0; !found;) {
        vcci_engine_lock(rig->engine);
        vcci_engine_poll(rig->engine, 16);
        found = vcci_p2p_probe(rig->port, &op->x);
        vcci_engine_unlock(rig->engine);
        if (vcci_now_ns() > end)
            return 0;
    }
    return 1;
}

/* ---- memory ---- */

void *rig_alloc(struct rig *rig, size_t bytes)
{
    void *buf = NULL;
    if (rig->map_buffers)
        UNIT_HOLDS(vcci_p2p_mem_alloc(rig->p2p, bytes, &buf) == 0);
    else
        buf = malloc(bytes ? bytes : 1);
    UNIT_HOLDS(buf != NULL);
    return buf;
}

void rig_free(struct rig *rig, void *buf)
{
    if (rig->map_buffers)
        UNIT_HOLDS(vcci_p2p_mem_free(rig->p2p, buf) == 0);
    else
        free(buf);
}

static unsigned char byte_at(size_t i, unsigned key)
{
    return (unsigned char)(i + (i >> 8) * 3 + (i >> 16) * 7 + key);
}

void rig_fill(void *buf, size_t bytes, unsigned key)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)buf)[i] = byte_at(i, key);
}

int rig_is(const void *buf, size_t bytes, unsigned key)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)buf)[i] != byte_at(i, key))
            return 0;
    return 1;
}

size_t rig_resident(void)
{
    size_t total = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    UNIT_HOLDS(f && fscanf(f, "%zu %zu", &total, &resident) == 2);
    fclose(f);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}
