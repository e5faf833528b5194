/* SPDX-License-Identifier: BSD-3-Clause
 * A job inside one process: one mutex, one condition, blobs in a list per rank. */
#include "pmix/boot_fake.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/env.h"
#include "lib/base/err.h"
#include "lib/base/list.h"
#include "lib/base/shm.h"

struct fake_blob {
    struct vcci_list node;
    int committed;
    size_t bytes;
    char *key;
    unsigned char data[];
};
struct fake_rank {
    struct vcci_list blobs;
    int open, dead;
    void (*on_death)(void *arg, int rank);
    void *arg;
};
struct vcci_fake_job {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int size, n_dead;
    int *host_ranks;
    char id[64];
    int fence_in;        /* ranks inside the present fence */
    uint64_t fence_done; /* fences over */
    struct fake_rank ranks[];
};
struct fake_boot {
    struct vcci_boot boot; /* first */
    struct vcci_fake_job *job;
};

static struct vcci_fake_job *fake_job(struct vcci_boot *boot)
{
    return ((struct fake_boot *)boot)->job;
}

int vcci_fake_job_create(int size, struct vcci_fake_job **job_out)
{
    struct vcci_fake_job *job;
    pthread_condattr_t attr;
    uint64_t id[2];
    int rc;

    if (size < 1)
        return vcci_fail(VCCL_ERR_ARG, "a job of %d ranks", size);
    rc = vcci_random(id, sizeof id);
    if (rc)
        return rc;
    job = calloc(1, sizeof *job + (size_t)size * sizeof job->ranks[0]);
    if (!job || !(job->host_ranks = malloc((size_t)size * sizeof *job->host_ranks))) {
        free(job);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a job of %d ranks in this process", size);
    }
    job->size = size;
    snprintf(job->id, sizeof job->id, "local.%016llx%016llx", (unsigned long long)id[0], (unsigned long long)id[1]);
    for (int r = 0; r < size; r++) {
        job->host_ranks[r] = r;
        vcci_list_init(&job->ranks[r].blobs);
    }
    pthread_mutex_init(&job->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&job->changed, &attr);
    pthread_condattr_destroy(&attr);
    *job_out = job;
    return 0;
}

static void fake_blob_free(struct fake_blob *blob)
{
    vcci_list_remove(&blob->node);
    free(blob->key);
    free(blob);
}

void vcci_fake_job_destroy(struct vcci_fake_job *job)
{
    if (!job)
        return;
    for (int r = 0; r < job->size; r++)
        VCCI_LIST_EACH_SAFE(it, next, &job->ranks[r].blobs)
            fake_blob_free(VCCI_CONTAINER(it, struct fake_blob, node));
    pthread_cond_destroy(&job->changed);
    pthread_mutex_destroy(&job->mutex);
    free(job->host_ranks);
    free(job);
}

int vcci_fake_put(struct vcci_boot *boot, const char *key, const void *data, size_t bytes)
{
    struct vcci_fake_job *job = fake_job(boot);
    struct fake_blob *blob = malloc(sizeof *blob + bytes);

    if (!blob || !(blob->key = strdup(key))) {
        free(blob);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for %zu bytes under the key %s", bytes, key);
    }
    blob->committed = 0;
    blob->bytes = bytes;
    if (bytes)
        memcpy(blob->data, data, bytes);
    pthread_mutex_lock(&job->mutex);
    vcci_list_push(&job->ranks[boot->rank].blobs, &blob->node);
    pthread_mutex_unlock(&job->mutex);
    return 0;
}

int vcci_fake_commit(struct vcci_boot *boot)
{
    struct vcci_fake_job *job = fake_job(boot);

    pthread_mutex_lock(&job->mutex);
    VCCI_LIST_EACH(it, &job->ranks[boot->rank].blobs)
        VCCI_CONTAINER(it, struct fake_blob, node)->committed = 1;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->mutex);
    return 0;
}

/* The last one that was put wins, as with PMIx. */
static const struct fake_blob *fake_find(struct vcci_fake_job *job, int rank, const char *key)
{
    const struct fake_blob *found = NULL;

    VCCI_LIST_EACH(it, &job->ranks[rank].blobs) {
        const struct fake_blob *blob = VCCI_CONTAINER(it, struct fake_blob, node);
        if (blob->committed && strcmp(blob->key, key) == 0)
            found = blob;
    }
    return found;
}

/* Waits for a change until deadline_ns (0: for ever). Mutex held. Returns 0 when it has passed. */
static int fake_wait(struct vcci_fake_job *job, int64_t deadline_ns)
{
    struct timespec until = {.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};

    if (!deadline_ns)
        return pthread_cond_wait(&job->changed, &job->mutex) == 0;
    return pthread_cond_timedwait(&job->changed, &job->mutex, &until) != ETIMEDOUT;
}

int vcci_fake_get(struct vcci_boot *boot, int rank, const char *key, void *data, size_t *bytes, int timeout_ms)
{
    struct vcci_fake_job *job = fake_job(boot);
    int64_t deadline = vcci_now_ns() + (int64_t)timeout_ms * 1000000;
    const struct fake_blob *blob;
    int rc = 0, waiting = 1;

    if (rank < 0 || rank >= job->size)
        return vcci_fail(VCCL_ERR_ARG, "there is no rank %d in a job of %d", rank, job->size);
    pthread_mutex_lock(&job->mutex);
    while (!(blob = fake_find(job, rank, key)) && !job->ranks[rank].dead && waiting)
        waiting = fake_wait(job, deadline);
    if (!blob && job->ranks[rank].dead)
        rc = vcci_fail(VCCL_ERR_BOOTSTRAP, "rank %d died before it published %s", rank, key);
    else if (!blob)
        rc = vcci_fail(VCCL_ERR_TIMEOUT, "rank %d did not publish %s within %d ms", rank, key, timeout_ms);
    else if (blob->bytes > *bytes)
        rc = vcci_fail(VCCL_ERR_BOOTSTRAP, "%s of rank %d has %zu bytes, there is room for %zu", key, rank, blob->bytes, *bytes);
    else {
        if (blob->bytes)
            memcpy(data, blob->data, blob->bytes);
        *bytes = blob->bytes;
    }
    pthread_mutex_unlock(&job->mutex);
    return rc;
}

int vcci_fake_fence(struct vcci_boot *boot)
{
    struct vcci_fake_job *job = fake_job(boot);
    double seconds = vcci_env()->timeout;
    int64_t deadline = seconds > 0 ? vcci_now_ns() + (int64_t)(seconds * 1e9) : 0;
    uint64_t mine;
    int rc = 0, waiting = 1;

    pthread_mutex_lock(&job->mutex);
    mine = job->fence_done;
    if (++job->fence_in == job->size) {
        job->fence_in = 0;
        job->fence_done++;
        pthread_cond_broadcast(&job->changed);
    }
    while (job->fence_done == mine && job->n_dead == 0 && waiting)
        waiting = fake_wait(job, deadline);
    if (job->fence_done == mine) {
        rc = job->n_dead ? vcci_fail(VCCL_ERR_PROC_FAILED, "%d of %d ranks died before they came to the fence", job->n_dead, job->size)
                         : vcci_fail(VCCL_ERR_TIMEOUT, "only %d of %d ranks came to the fence within %g s", job->fence_in, job->size, seconds);
        job->fence_in--;
    }
    pthread_mutex_unlock(&job->mutex);
    return rc;
}

int vcci_fake_on_death(struct vcci_boot *boot, void (*fn)(void *arg, int rank), void *arg)
{
    struct vcci_fake_job *job = fake_job(boot);

    pthread_mutex_lock(&job->mutex);
    job->ranks[boot->rank].on_death = fn;
    job->ranks[boot->rank].arg = arg;
    pthread_mutex_unlock(&job->mutex);
    return 0;
}

/* The handlers run under the mutex, so that none is called after its rank's fini. */
void vcci_fake_job_die(struct vcci_fake_job *job, int rank)
{
    pthread_mutex_lock(&job->mutex);
    if (!job->ranks[rank].dead) {
        job->ranks[rank].dead = 1;
        job->n_dead++;
        for (int r = 0; r < job->size; r++)
            if (r != rank && job->ranks[r].open && job->ranks[r].on_death)
                job->ranks[r].on_death(job->ranks[r].arg, rank);
        pthread_cond_broadcast(&job->changed);
    }
    pthread_mutex_unlock(&job->mutex);
}

int vcci_fake_open(struct vcci_fake_job *job, int rank, const struct vcci_boot_ops *ops, struct vcci_boot **boot_out)
{
    struct fake_boot *fake;
    int taken;

    if (rank < 0 || rank >= job->size)
        return vcci_fail(VCCL_ERR_ARG, "there is no rank %d in a job of %d", rank, job->size);
    pthread_mutex_lock(&job->mutex);
    taken = job->ranks[rank].open;
    job->ranks[rank].open = 1;
    pthread_mutex_unlock(&job->mutex);
    if (taken)
        return vcci_fail(VCCL_ERR_STATE, "rank %d of %d is open already", rank, job->size);
    fake = calloc(1, sizeof *fake);
    if (!fake) {
        pthread_mutex_lock(&job->mutex);
        job->ranks[rank].open = 0;
        pthread_mutex_unlock(&job->mutex);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory to open rank %d of %d", rank, job->size);
    }
    fake->boot = (struct vcci_boot){.ops = ops,
                                    .rank = rank,
                                    .size = job->size,
                                    .local_rank = rank,
                                    .local_size = job->size,
                                    .host_ranks = job->host_ranks};
    memcpy(fake->boot.job_id, job->id, sizeof job->id);
    fake->job = job;
    *boot_out = &fake->boot;
    return 0;
}

struct vcci_fake_job *vcci_fake_close(struct vcci_boot *boot)
{
    struct vcci_fake_job *job = fake_job(boot);

    pthread_mutex_lock(&job->mutex);
    job->ranks[boot->rank].open = 0;
    job->ranks[boot->rank].on_death = NULL;
    pthread_mutex_unlock(&job->mutex);
    free(boot);
    return job;
}

/* A test's ranks share its process: to end the job is to say so and to leave the rest to the caller. */
static void fake_abort(struct vcci_boot *boot, int code, const char *text)
{
    (void)code, (void)text;
    vcci_fake_job_die(fake_job(boot), boot->rank);
}

static void fake_fini(struct vcci_boot *boot)
{
    vcci_fake_close(boot);
}

static const struct vcci_boot_ops fake_ops = {
    .name = "fake",
    .put = vcci_fake_put,
    .commit = vcci_fake_commit,
    .get = vcci_fake_get,
    .fence = vcci_fake_fence,
    .on_death = vcci_fake_on_death,
    .abort = fake_abort,
    .fini = fake_fini,
};

int vcci_boot_open_fake(struct vcci_fake_job *job, int rank, struct vcci_boot **boot_out)
{
    return vcci_fake_open(job, rank, &fake_ops, boot_out);
}
