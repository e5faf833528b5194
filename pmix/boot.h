/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bootstrap: who am I, who else is there, and a few small blobs to find them. A dozen functions; behind them PMIx (under vcclrun, srun --mpi=pmix, prterun),
 * solo (no launcher: rank 0 of 1) or fake (N ranks as threads of one test process).
 */
#ifndef VCCI_PMIX_BOOT_H
#define VCCI_PMIX_BOOT_H

#include <stddef.h>
#include <stdint.h>

struct vcci_boot {
    const struct vcci_boot_ops *ops;
    int rank, size;       /* in the job                                       */
    int local_rank, local_size;
    const int *host_ranks; /* [local_size] job ranks on this host, ascending; owned by the bootstrap */
    char job_id[64];
};

struct vcci_boot_ops {
    const char *name;
    /* Stores a blob of this rank under key; seen by others after commit. Copied. */
    int (*put)(struct vcci_boot *, const char *key, const void *blob, size_t bytes);
    int (*commit)(struct vcci_boot *);
    /* Rank's blob, waiting until it has been committed, at most timeout_ms. *bytes in: capacity, out: length. Errors: VCCL_ERR_BOOTSTRAP
     * with rank and key; VCCL_ERR_TIMEOUT. */
    int (*get)(struct vcci_boot *, int rank, const char *key, void *blob, size_t *bytes, int timeout_ms);
    /* All ranks have come (collects data, so that it is a barrier under Slurm too). Waits at most VCCL_TIMEOUT, where one is set. Errors:
     * VCCL_ERR_TIMEOUT, VCCL_ERR_PROC_FAILED when a rank died before it came, VCCL_ERR_BOOTSTRAP. */
    int (*fence)(struct vcci_boot *);
    /* fn(arg, rank) in a foreign thread when the launcher says that a rank died, with rank -1 when the launcher itself is gone; one
     * handler, never called again once fini has returned. fn copies and returns: it may not call the bootstrap. */
    int (*on_death)(struct vcci_boot *, void (*fn)(void *arg, int rank), void *arg);
    /* Ends the job; the launcher prints text and exits with code. Returns only if there is no launcher to do so. */
    void (*abort)(struct vcci_boot *, int code, const char *text);
    void (*fini)(struct vcci_boot *); /* leaves in good order and frees */
};

/* Chooses by environment: a PMIx server's variables -> pmix, else solo. A step of several Slurm tasks without PMIx (SLURM_STEP_NUM_TASKS > 1)
 * is VCCL_ERR_BOOTSTRAP whose sentence names srun --mpi=pmix. */
int vcci_boot_open(struct vcci_boot **boot_out);
int vcci_boot_open_pmix(struct vcci_boot **boot_out);
int vcci_boot_open_solo(struct vcci_boot **boot_out);

/* fake: a job of `size` ranks inside this process; each thread opens its own. */
struct vcci_fake_job;
int vcci_fake_job_create(int size, struct vcci_fake_job **job_out);
void vcci_fake_job_destroy(struct vcci_fake_job *job);
int vcci_boot_open_fake(struct vcci_fake_job *job, int rank, struct vcci_boot **boot_out);
/* What a launcher does when a rank dies: the other ranks' on_death handlers are called from here, fences and gets of its data fail. */
void vcci_fake_job_die(struct vcci_fake_job *job, int rank);

#endif
