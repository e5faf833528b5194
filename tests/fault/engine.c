/* SPDX-License-Identifier: BSD-3-Clause
 * Every allocation and system call of the engine and the host board fails once, and from some call on for ever. (libev's own are
 * out of reach here: it lives in a shared library, and aborts when it gets no memory.) */
#include <fcntl.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "tests/fault/nth.h"
#include "tests/unit/engine_mail.h"

static int pipes[2];

static void add_one(void *arg)
{
    ++*(int *)arg;
}

static int tap_fd(struct vcci_poller *poller)
{
    return *(int *)(poller + 1);
}

static int idle_arm(struct vcci_poller *poller)
{
    (void)poller;
    return 0;
}

static int idle_progress(struct vcci_poller *poller, int budget)
{
    (void)poller;
    (void)budget;
    return 0;
}

static const struct vcci_poller_ops tap_ops = {.name = "tap", .fd = tap_fd, .arm = idle_arm, .progress = idle_progress};

struct tap {
    struct vcci_poller poller;
    int fd;
};

/* A poller with a descriptor, a timer and a post. */
static int use_parts(struct vcci_engine *engine)
{
    static int ran; /* a post may run as late as in destroy */
    struct tap tap = {.poller.ops = &tap_ops, .fd = pipes[0]};
    struct vcci_timer *timer = NULL;
    int posted = vcci_engine_post(engine, add_one, &ran);
    vcci_engine_lock(engine);
    int err = vcci_engine_add(engine, &tap.poller);
    int added = !err;
    if (!err)
        err = vcci_timer_start(engine, 1000000, add_one, &ran, &timer);
    if (timer)
        vcci_timer_stop(timer);
    if (added)
        vcci_engine_remove(engine, &tap.poller);
    vcci_engine_unlock(engine);
    return err ? err : posted;
}

static int use_engine(void *arg)
{
    struct vcci_engine_conf conf = {.threaded = *(int *)arg};
    struct vcci_engine *engine;
    int err = vcci_engine_create(&conf, &engine);
    if (err)
        return err;
    err = use_parts(engine);
    vcci_engine_destroy(engine);
    return err;
}

static int use_board(void *arg)
{
    struct vcci_board mine = {0}, theirs = {0};
    struct vcci_shm_addr addr;
    char byte;
    (void)arg;
    int err = vcci_board_create(&mine, 2, &addr);
    if (err)
        return err;
    err = vcci_board_open(&theirs, 2, 1, &addr);
    if (!err) {
        vcci_board_enter(&theirs, 1, pipes[1], &addr);
        atomic_store(&theirs.entries[1].bell, VCCI_BELL_POLL);
        vcci_board_ring(&mine, 1); /* a bell that could not be rung stays set */
        if (read(pipes[0], &byte, 1) != 1 && !(atomic_load(&theirs.entries[1].bell) & VCCI_BELL_POLL))
            err = vcci_fail(VCCL_ERR_SYSTEM, "nobody was woken");
    }
    vcci_board_close(&theirs);
    vcci_board_close(&mine);
    return err;
}

START_TEST(engine_with_thread)
{
    int threaded = 1;
    ck_assert_int_eq(pipe2(pipes, O_NONBLOCK | O_CLOEXEC), 0);
    nth_loop("engine", use_engine, &threaded);
}
END_TEST

START_TEST(engine_of_callers)
{
    int threaded = 0;
    ck_assert_int_eq(pipe2(pipes, O_NONBLOCK | O_CLOEXEC), 0);
    nth_loop("engine of callers", use_engine, &threaded);
}
END_TEST

START_TEST(board)
{
    ck_assert_int_eq(pipe2(pipes, O_NONBLOCK | O_CLOEXEC), 0);
    nth_loop("board", use_board, NULL);
}
END_TEST

UNIT_MAIN("fault/engine", engine_with_thread, engine_of_callers, board)
