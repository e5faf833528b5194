/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/board.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/base/futex.h"
#include "tests/unit/unit.h"

static const struct vcci_shm_addr no_inbox = {.pid = 7, .fd = 8, .bytes = 9};

static int board_pair(struct vcci_board *a, struct vcci_board *b, int pipe_out[2])
{
    struct vcci_shm_addr addr;
    ck_assert_int_eq(vcci_board_create(a, 2, &addr), 0);
    ck_assert_int_eq(vcci_board_open(b, 2, 1, &addr), 0);
    ck_assert_int_eq(pipe2(pipe_out, O_NONBLOCK | O_CLOEXEC), 0);
    return 0;
}

static int open_fds(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

START_TEST(entries)
{
    struct vcci_board a, b;
    int before = open_fds(), fds[2];
    board_pair(&a, &b, fds);
    ck_assert_ptr_null(vcci_board_peer(&a, 1));
    vcci_board_enter(&b, 41, fds[1], &no_inbox);
    struct vcci_board_entry *entry = vcci_board_peer(&a, 1);
    ck_assert_ptr_nonnull(entry);
    ck_assert_int_eq(entry->world_rank, 41);
    ck_assert_int_eq(entry->pid, getpid());
    ck_assert_int_eq(entry->wake_fd, fds[1]);
    ck_assert_int_eq(entry->inbox.fd, 8);
    ck_assert_int_eq(atomic_load(&entry->state), VCCI_RANK_HERE);
    vcci_board_close(&b);
    ck_assert_int_eq(atomic_load(&entry->state), VCCI_RANK_LEFT);
    vcci_board_close(&a);
    vcci_board_close(&a);
    close(fds[0]);
    close(fds[1]);
    ck_assert_int_eq(open_fds(), before);
}
END_TEST

START_TEST(another_job)
{
    struct vcci_board a, b;
    struct vcci_shm_addr addr;
    ck_assert_int_eq(vcci_board_create(&a, 3, &addr), 0);
    ck_assert_int_eq(vcci_board_open(&b, 4, 1, &addr), -VCCL_ERR_BOOTSTRAP);
    ck_assert_int_eq(vcci_board_open(&b, 2, 1, &addr), -VCCL_ERR_BOOTSTRAP);
    addr.nonce[3] ^= 1;
    ck_assert_int_lt(vcci_board_open(&b, 3, 1, &addr), 0);
    vcci_board_close(&a);
}
END_TEST

START_TEST(rings_only_a_sleeper)
{
    struct vcci_board a, b;
    int fds[2];
    char byte;
    board_pair(&a, &b, fds);
    vcci_board_enter(&b, 1, fds[1], &no_inbox);
    atomic_store(&b.entries[1].bell, 0x500);
    vcci_board_ring(&a, 1);
    ck_assert_int_lt(read(fds[0], &byte, 1), 0);
    atomic_store(&b.entries[1].bell, 0x500 | VCCI_BELL_POLL);
    for (int i = 0; i < 3; i++)
        vcci_board_ring(&a, 1);
    ck_assert_int_eq(read(fds[0], &byte, 1), 1);
    ck_assert_int_lt(read(fds[0], &byte, 1), 0);
    atomic_store(&b.entries[1].bell, 0x500 | VCCI_BELL_FUTEX);
    vcci_board_ring(&a, 1);
    ck_assert_uint_eq(atomic_load(&b.entries[1].bell), 0x500);
    ck_assert_int_lt(read(fds[0], &byte, 1), 0);
    vcci_board_close(&a);
    vcci_board_close(&b);
}
END_TEST

static void *sleeper(void *arg)
{
    struct vcci_board *b = arg;
    while (atomic_load(&b->entries[1].bell) & VCCI_BELL_FUTEX)
        vcci_futex_wait(&b->entries[1].bell, 0x100 | VCCI_BELL_FUTEX, -1);
    return NULL;
}

START_TEST(wakes_all)
{
    struct vcci_board a, b;
    pthread_t threads[4];
    int fds[2];
    board_pair(&a, &b, fds);
    vcci_board_enter(&b, 1, fds[1], &no_inbox);
    atomic_store(&b.entries[1].bell, 0x100 | VCCI_BELL_FUTEX);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, sleeper, &b), 0);
    usleep(20000);
    vcci_board_ring(&a, 1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    vcci_board_close(&a);
    vcci_board_close(&b);
}
END_TEST

/* A full pipe does not block, a dead peer does not raise SIGPIPE. */
START_TEST(dead_and_deaf)
{
    struct vcci_board a, b;
    int fds[2], n = 0;
    board_pair(&a, &b, fds);
    pid_t pid = fork();
    if (pid == 0) {
        vcci_board_enter(&b, 1, fds[1], &no_inbox);
        pause();
    }
    close(fds[0]);
    close(fds[1]);
    while (!vcci_board_peer(&a, 1))
        usleep(1000);
    for (; n < 70000; n++) {
        atomic_fetch_or(&b.entries[1].bell, VCCI_BELL_POLL);
        vcci_board_ring(&a, 1);
    }
    ck_assert_int_ge(atomic_load(&a.wake_fds[1]), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    atomic_fetch_or(&b.entries[1].bell, VCCI_BELL_POLL);
    vcci_board_ring(&a, 1);
    vcci_board_close(&a);
    vcci_board_close(&b);
}
END_TEST

/* What pid and descriptor name now is not the pipe that was meant. */
START_TEST(never_writes_elsewhere)
{
    struct vcci_board a, b;
    int fds[2], other[2];
    char byte;
    board_pair(&a, &b, fds);
    vcci_board_enter(&b, 1, fds[1], &no_inbox);
    ck_assert_int_eq(pipe2(other, O_NONBLOCK | O_CLOEXEC), 0);
    ck_assert_int_eq(dup2(other[1], fds[1]), fds[1]);
    atomic_store(&b.entries[1].bell, VCCI_BELL_POLL);
    vcci_board_ring(&a, 1);
    ck_assert_int_lt(read(other[0], &byte, 1), 0);
    ck_assert_int_eq(errno, EAGAIN);
    vcci_board_close(&a);
    vcci_board_close(&b);
}
END_TEST

struct ringer {
    struct vcci_board *board;
    int times;
};

static void *ringer(void *arg)
{
    struct ringer *r = arg;
    for (int i = 0; i < r->times; i++) {
        atomic_fetch_or(&r->board->entries[1].bell, VCCI_BELL_POLL);
        vcci_board_ring(r->board, 1);
    }
    return NULL;
}

START_TEST(many_ringers_one_descriptor)
{
    struct vcci_board a, b;
    pthread_t threads[4];
    int fds[2];
    board_pair(&a, &b, fds);
    vcci_board_enter(&b, 1, fds[1], &no_inbox);
    int before = open_fds();
    struct ringer r = {.board = &a, .times = 500};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ringer, &r), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(open_fds(), before + 1);
    vcci_board_close(&a);
    vcci_board_close(&b);
}
END_TEST

UNIT_MAIN("board", entries, another_job, rings_only_a_sleeper, wakes_all, dead_and_deaf, never_writes_elsewhere,
          many_ringers_one_descriptor)
