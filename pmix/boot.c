/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/boot.h"

#include <stdlib.h>

#include "lib/base/err.h"

/* Several tasks that Slurm started with nothing to find each other by would each become a job of one rank, silently. */
static int boot_lone_step(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");

    if (!tasks || !getenv("SLURM_PROCID") || atol(tasks) <= 1)
        return 0;
    return vcci_fail(VCCL_ERR_BOOTSTRAP,
                     "this Slurm step has %s tasks but no PMIx server: start it with srun --mpi=pmix (or with vcclrun inside the allocation)",
                     tasks);
}

int vcci_boot_open(struct vcci_boot **boot_out)
{
    int rc;

    if (getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK"))
        return vcci_boot_open_pmix(boot_out);
    rc = boot_lone_step();
    return rc ? rc : vcci_boot_open_solo(boot_out);
}
