/* SPDX-License-Identifier: BSD-3-Clause
 * A job from its first rank to its last: starts the ranks, moves their output, watches them and ends them all when one fails.
 */
#ifndef VCCI_LAUNCHER_JOB_H
#define VCCI_LAUNCHER_JOB_H

#include "launcher/opt.h"

struct vcci_job_conf {
    const struct vcci_opt *opt;
    const char *scratch; /* folder to make */
    int cores;           /* that this process may use at once */
    int guard_fd;        /* readable when the guardian is dead */
};

/* vcclrun's exit statuses apart from those of the ranks. */
enum {
    VCCI_EXIT_FAILURE = 1,   /* vcclrun itself could not go on */
    VCCI_EXIT_USAGE = 2,
    VCCI_EXIT_TIMEOUT = 124,
    VCCI_EXIT_CANNOT_RUN = 126,
    VCCI_EXIT_NOT_FOUND = 127
};

/* Runs the job and returns vcclrun's exit status. The signals of vcci_guard_signals are blocked. */
int vcci_job_run(const struct vcci_job_conf *conf);

#endif
