/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/job.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/api/ctx.h"
#include "lib/base/env.h"

struct rank {
    pthread_t thread;
    struct vcci_fake_job *job;
    int rank, argc, failed;
    char **argv;
    job_fn *fn;
};

int job_rank(void)
{
    int rank = -1;
    vccl_comm_rank(VCCL_COMM_WORLD, &rank);
    return rank;
}

int job_size(void)
{
    int size = -1;
    vccl_comm_size(VCCL_COMM_WORLD, &size);
    return size;
}

void job_complain(const char *file, int line, const char *cond, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s:%d: rank %d: %s is not so: %s\n", file, line, job_rank(), cond, text);
}

static int run(job_fn *fn, int argc, char **argv)
{
    int failed = fn(argc, argv);
    if (failed)
        return 1; /* the others may wait for us: do not wait for them */
    if (vccl_finalize() == VCCL_SUCCESS)
        return 0;
    fprintf(stderr, "vccl_finalize: %s\n", vccl_last_error());
    return 1;
}

static void *fake_rank(void *arg)
{
    struct rank *r = arg;
    struct vcci_boot *boot;
    struct vcci_ctx *ctx;
    r->failed = 1;
    if (vcci_boot_open_fake(r->job, r->rank, &boot) || vcci_ctx_create(boot, &ctx)) {
        fprintf(stderr, "fake rank %d: %s\n", r->rank, vccl_last_error());
        exit(1);
    }
    vcci_ctx_mine = ctx;
    r->failed = run(r->fn, r->argc, r->argv);
    if (r->failed)
        exit(1);
    vcci_ctx_mine = NULL;
    free(ctx);
    return NULL;
}

static int fake_job(int size, int argc, char **argv, job_fn *fn)
{
    struct vcci_env env;
    struct vcci_fake_job *job;
    struct rank *ranks = calloc((size_t)size, sizeof *ranks);
    if (!ranks || vcci_env_load(&env) || vcci_fake_job_create(size, &job)) {
        fprintf(stderr, "fake job: %s\n", vccl_last_error());
        return 1;
    }
    for (int i = 0; i < size; i++) {
        ranks[i] = (struct rank){.job = job, .rank = i, .argc = argc, .argv = argv, .fn = fn};
        if (pthread_create(&ranks[i].thread, NULL, fake_rank, &ranks[i]))
            return 1;
    }
    for (int i = 0; i < size; i++)
        pthread_join(ranks[i].thread, NULL);
    vcci_fake_job_destroy(job);
    free(ranks);
    return 0;
}

int job_main(int argc, char **argv, job_fn *fn)
{
    const char *fake = getenv("VCCL_JOB_FAKE");
    if (fake)
        return fake_job(atoi(fake), argc, argv, fn);
    if (vccl_init() != VCCL_SUCCESS) {
        fprintf(stderr, "vccl_init: %s\n", vccl_last_error());
        return 1;
    }
    return run(fn, argc, argv);
}
