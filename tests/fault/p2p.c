/* SPDX-License-Identifier: BSD-3-Clause
 * Every allocation and system call of the messages fails once, and from some call on for ever: two ranks in one thread, which polls them in turn. */
#include <string.h>

#include "lib/base/env.h"
#include "lib/base/err.h"
#include "p2p/inside.h"
#include "tests/fault/nth.h"
#include "tests/unit/unit.h"

#define TURNS 400
#define LARGE 100000

struct end {
    struct vcci_engine *engine; /* outlives the scenario */
    struct vcci_board board;
    struct vcci_p2p *p2p;
    struct vcci_port *port, *late;
};
static struct end a, b;

static const int world[2] = {0, 1};

static int up(struct end *end)
{
    struct vcci_p2p_conf conf = {
        .engine = end->engine, .board = &end->board, .world_rank = end->board.me, .world_size = 2, .local_of = world, .links = 3};
    vcci_engine_set_bell(end->engine, &end->board.entries[end->board.me].bell);
    vcci_engine_lock(end->engine);
    int err = vcci_p2p_create(&conf, &end->p2p);
    if (!err)
        err = vcci_port_open(end->p2p, 2, world, end->board.me, 2, 0, &end->port);
    vcci_engine_unlock(end->engine);
    return err;
}

static void down(struct end *end)
{
    vcci_engine_lock(end->engine);
    if (end->port)
        vcci_port_close(end->port);
    if (end->late)
        vcci_port_close(end->late);
    if (end->p2p)
        vcci_p2p_destroy(end->p2p);
    vcci_engine_unlock(end->engine);
    vcci_engine_set_bell(end->engine, NULL);
    vcci_board_close(&end->board);
    end->p2p = NULL;
    end->port = end->late = NULL;
}

static void turn(void)
{
    struct end *ends[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        vcci_engine_lock(ends[i]->engine);
        vcci_engine_poll(ends[i]->engine, 16);
        vcci_engine_unlock(ends[i]->engine);
    }
}

/* ---- one message ---- */

struct op {
    struct vcci_xfer x;
    int over, status;
};

static void done(struct vcci_xfer *xfer, int status)
{
    struct op *op = VCCI_CONTAINER(xfer, struct op, x);
    UNIT_HOLDS(!op->over);
    op->over = 1;
    op->status = status;
}

static void begin(struct end *end, struct vcci_port *port, struct op *op, void *buf, size_t bytes, int (*post)(struct vcci_port *, struct vcci_xfer *))
{
    memset(op, 0, sizeof *op);
    op->x.done = done;
    op->x.buf = buf;
    op->x.bytes = bytes;
    op->x.peer = 1 - end->board.me;
    vcci_engine_lock(end->engine);
    int rc = post(port, &op->x);
    vcci_engine_unlock(end->engine);
    if (rc <= 0) {
        op->over = 1;
        op->status = rc;
    }
}

static void give_up(struct end *end, struct vcci_port *port)
{
    vcci_engine_lock(end->engine);
    vcci_port_revoke(port, vcci_fail(VCCL_ERR_TIMEOUT, "the message did not come"));
    vcci_engine_unlock(end->engine);
}

/* From a to b. Whatever fails, each end is told, if only after it has given up. */
static int message(struct vcci_port *from, struct vcci_port *to, char *out, char *in, size_t bytes, int late)
{
    struct op sent, got;
    memset(out, (int)bytes, bytes);
    memset(in, 0, bytes);
    if (!late)
        begin(&b, to, &got, in, bytes, vcci_p2p_recv);
    begin(&a, from, &sent, out, bytes, vcci_p2p_send);
    for (int i = 0; late && i < 4; i++)
        turn();
    if (late)
        begin(&b, to, &got, in, bytes, vcci_p2p_recv);
    for (int i = 0; i < TURNS && !(sent.over && got.over); i++)
        turn();
    if (!sent.over || !got.over) {
        give_up(&a, from);
        give_up(&b, to);
        for (int i = 0; i < TURNS && !(sent.over && got.over); i++)
            turn();
    }
    UNIT_HOLDS(sent.over && got.over);
    if (!sent.status && !got.status)
        UNIT_HOLDS(memcmp(out, in, bytes) == 0);
    return sent.status ? sent.status : got.status;
}

/* ---- the scenarios ---- */

static int messages(void)
{
    static char out[LARGE], in[LARGE];
    static const size_t sizes[] = {8, 200, 5000, LARGE};
    int err = 0;
    for (int late = 0; !err && late < 2; late++)
        for (size_t i = 0; !err && i < sizeof sizes / sizeof *sizes; i++)
            err = message(a.port, b.port, out, in, sizes[i], late);
    return err;
}

static int mapped(void)
{
    static char in[LARGE];
    void *out;
    int err = vcci_p2p_mem_alloc(a.p2p, LARGE, &out);
    if (err)
        return err;
    err = message(a.port, b.port, out, in, LARGE, 0);
    int freed = vcci_p2p_mem_free(a.p2p, out);
    return err ? err : freed;
}

/* What comes before its port is kept. */
static int early(void)
{
    static char out[5000], in[5000];
    vcci_engine_lock(a.engine);
    int err = vcci_port_open(a.p2p, 4, world, 0, 2, 1, &a.late);
    vcci_engine_unlock(a.engine);
    if (err)
        return err;
    struct op first, got;
    begin(&a, a.late, &first, out, 64, vcci_p2p_send);
    for (int i = 0; i < 4; i++)
        turn();
    vcci_engine_lock(b.engine);
    err = vcci_port_open(b.p2p, 4, world, 1, 2, 1, &b.late);
    vcci_engine_unlock(b.engine);
    if (err)
        give_up(&a, a.late);
    UNIT_HOLDS(first.over);
    if (err || first.status)
        return err ? err : first.status;
    begin(&b, b.late, &got, in, 64, vcci_p2p_recv);
    if (!got.over) /* no memory to keep it: b has given up a, and a learns by its next message */
        give_up(&b, b.late);
    turn();
    UNIT_HOLDS(got.over);
    return got.status;
}

static int scenario(void *arg)
{
    int (*body)(void) = *(int (**)(void))arg;
    struct vcci_shm_addr addr;
    int err = vcci_board_create(&a.board, 2, &addr);
    if (err)
        return err;
    err = vcci_board_open(&b.board, 2, 1, &addr);
    if (err) {
        vcci_board_close(&a.board);
        return err;
    }
    err = up(&a);
    if (!err)
        err = up(&b);
    if (!err)
        err = body();
    if (a.p2p)
        down(&a);
    else
        vcci_engine_set_bell(a.engine, NULL), vcci_board_close(&a.board);
    if (b.p2p)
        down(&b);
    else
        vcci_engine_set_bell(b.engine, NULL), vcci_board_close(&b.board);
    return err;
}

static void run(const char *name, int (*body)(void), const char *single_copy)
{
    struct vcci_engine_conf conf = {.threaded = 0};
    setenv("VCCL_SINGLE_COPY", single_copy, 1);
    ck_assert_int_eq(vcci_env_load(NULL), 0);
    ck_assert_int_eq(vcci_engine_create(&conf, &a.engine), 0);
    ck_assert_int_eq(vcci_engine_create(&conf, &b.engine), 0);
    nth_loop(name, scenario, &body);
    vcci_engine_destroy(a.engine);
    vcci_engine_destroy(b.engine);
}

START_TEST(by_the_ring)
{
    run("messages by the ring", messages, "off");
}
END_TEST

START_TEST(read_in_place)
{
    run("messages read in place", messages, "always");
}
END_TEST

START_TEST(from_mapped_memory)
{
    run("messages from mapped memory", mapped, "off");
}
END_TEST

START_TEST(before_the_port)
{
    run("messages before their port", early, "off");
}
END_TEST

UNIT_MAIN("fault/p2p", by_the_ring, read_in_place, from_mapped_memory, before_the_port)
