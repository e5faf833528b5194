/* SPDX-License-Identifier: BSD-3-Clause
 * The bootstrap inside one process, and alone. */
#include "pmix/boot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "tests/unit/unit.h"

#define RANKS 8
#define FENCES 50

static struct vcci_fake_job *job;
static _Atomic int inside, wrong;

static void get_all(struct vcci_boot *boot)
{
    for (int r = 0; r < boot->size; r++) {
        char text[32], want[32];
        size_t bytes = sizeof text;

        snprintf(want, sizeof want, "address of %d", r);
        if (boot->ops->get(boot, r, "addr", text, &bytes, 60000) != 0 || bytes != strlen(want) + 1 || strcmp(text, want) != 0)
            atomic_fetch_add(&wrong, 1);
    }
}

static void *one_rank(void *arg)
{
    int rank = (int)(intptr_t)arg;
    struct vcci_boot *boot;
    char text[32];

    if (vcci_boot_open_fake(job, rank, &boot) != 0 || boot->rank != rank || boot->size != RANKS || boot->host_ranks[rank] != rank) {
        atomic_fetch_add(&wrong, 1);
        return NULL;
    }
    snprintf(text, sizeof text, "address of %d", rank);
    if (rank % 3 == 0)
        usleep(10000); /* the others wait in get */
    boot->ops->put(boot, "addr", text, strlen(text) + 1);
    boot->ops->commit(boot);
    get_all(boot);
    for (int i = 0; i < FENCES; i++) {
        atomic_fetch_add(&inside, 1);
        if (boot->ops->fence(boot) != 0 || atomic_load(&inside) < (i + 1) * RANKS)
            atomic_fetch_add(&wrong, 1);
    }
    boot->ops->fini(boot);
    return NULL;
}

START_TEST(ranks_find_each_other)
{
    pthread_t threads[RANKS];

    ck_assert_int_eq(vcci_fake_job_create(RANKS, &job), 0);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(pthread_create(&threads[r], NULL, one_rank, (void *)(intptr_t)r), 0);
    for (int r = 0; r < RANKS; r++)
        pthread_join(threads[r], NULL);
    ck_assert_int_eq(wrong, 0);
    vcci_fake_job_destroy(job);
}
END_TEST

START_TEST(a_get_ends)
{
    struct vcci_boot *boot;
    size_t bytes = 4;
    char buf[4];

    ck_assert_int_eq(vcci_fake_job_create(2, &job), 0);
    ck_assert_int_eq(vcci_boot_open_fake(job, 0, &boot), 0);
    ck_assert_int_eq(boot->ops->get(boot, 1, "addr", buf, &bytes, 10), -VCCL_ERR_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(vcci_err_text(), "rank 1"));
    ck_assert_ptr_nonnull(strstr(vcci_err_text(), "addr"));
    ck_assert_int_eq(boot->ops->put(boot, "addr", "12345", 5), 0);
    ck_assert_int_eq(boot->ops->get(boot, 0, "addr", buf, &bytes, 10), -VCCL_ERR_TIMEOUT); /* not before the commit */
    ck_assert_int_eq(boot->ops->commit(boot), 0);
    ck_assert_int_eq(boot->ops->get(boot, 0, "addr", buf, &bytes, 10), -VCCL_ERR_BOOTSTRAP); /* no room */
    ck_assert_int_eq(boot->ops->get(boot, 2, "addr", buf, &bytes, 10), -VCCL_ERR_ARG);
    ck_assert_int_eq(boot->ops->put(boot, "addr", "67", 2), 0);
    ck_assert_int_eq(boot->ops->commit(boot), 0);
    ck_assert_int_eq(boot->ops->get(boot, 0, "addr", buf, &bytes, 10), 0);
    ck_assert_uint_eq(bytes, 2);
    ck_assert_mem_eq(buf, "67", 2);
    boot->ops->fini(boot);
    vcci_fake_job_destroy(job);
}
END_TEST

START_TEST(a_rank_is_opened_once)
{
    struct vcci_boot *boot, *again;

    ck_assert_int_eq(vcci_fake_job_create(0, &job), -VCCL_ERR_ARG);
    ck_assert_int_eq(vcci_fake_job_create(2, &job), 0);
    ck_assert_int_eq(vcci_boot_open_fake(job, 1, &boot), 0);
    ck_assert_int_eq(vcci_boot_open_fake(job, 1, &again), -VCCL_ERR_STATE);
    ck_assert_int_eq(vcci_boot_open_fake(job, 2, &again), -VCCL_ERR_ARG);
    boot->ops->fini(boot);
    ck_assert_int_eq(vcci_boot_open_fake(job, 1, &again), 0);
    again->ops->fini(again);
    vcci_fake_job_destroy(job);
}
END_TEST

static int dead;

static void on_death(void *arg, int rank)
{
    ck_assert_ptr_eq(arg, &dead);
    dead = rank;
}

static void *fence_late(void *arg)
{
    usleep(10000);
    vcci_fake_job_die(arg, 1);
    return NULL;
}

START_TEST(deaths_are_told)
{
    struct vcci_boot *boot;
    pthread_t thread;
    size_t bytes = 0;
    char none;

    dead = -2;
    ck_assert_int_eq(vcci_fake_job_create(3, &job), 0);
    ck_assert_int_eq(vcci_boot_open_fake(job, 0, &boot), 0);
    ck_assert_int_eq(boot->ops->on_death(boot, on_death, &dead), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, fence_late, job), 0);
    ck_assert_int_eq(boot->ops->fence(boot), -VCCL_ERR_PROC_FAILED);
    pthread_join(thread, NULL);
    ck_assert_int_eq(dead, 1);
    ck_assert_int_eq(boot->ops->get(boot, 1, "addr", &none, &bytes, 60000), -VCCL_ERR_BOOTSTRAP);
    boot->ops->fini(boot);
    dead = -2;
    vcci_fake_job_die(job, 2);
    ck_assert_int_eq(dead, -2);
    vcci_fake_job_destroy(job);
}
END_TEST

START_TEST(alone)
{
    struct vcci_boot *boot;
    size_t bytes = 3;
    char buf[3];

    unsetenv("PMIX_NAMESPACE");
    unsetenv("SLURM_STEP_NUM_TASKS");
    ck_assert_int_eq(vcci_boot_open(&boot), 0);
    ck_assert_str_eq(boot->ops->name, "solo");
    ck_assert_int_eq(boot->rank, 0);
    ck_assert_int_eq(boot->size, 1);
    ck_assert_int_eq(boot->local_size, 1);
    ck_assert_int_eq(boot->host_ranks[0], 0);
    ck_assert_int_eq(boot->ops->put(boot, "k", "abc", 3), 0);
    ck_assert_int_eq(boot->ops->commit(boot), 0);
    ck_assert_int_eq(boot->ops->fence(boot), 0);
    ck_assert_int_eq(boot->ops->get(boot, 0, "k", buf, &bytes, 10), 0);
    ck_assert_mem_eq(buf, "abc", 3);
    boot->ops->abort(boot, 1, "nobody listens");
    boot->ops->fini(boot);
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    setenv("SLURM_PROCID", "0", 1);
    ck_assert_int_eq(vcci_boot_open(&boot), -VCCL_ERR_BOOTSTRAP);
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    ck_assert_int_eq(vcci_boot_open(&boot), 0);
    boot->ops->fini(boot);
}
END_TEST

UNIT_MAIN("boot", ranks_find_each_other, a_get_ends, a_rank_is_opened_once, deaths_are_told, alone)
