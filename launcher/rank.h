/* SPDX-License-Identifier: BSD-3-Clause
 * One rank as the launcher sees it. */
#ifndef VCCI_LAUNCHER_RANK_H
#define VCCI_LAUNCHER_RANK_H

#include <sys/types.h>

#include "launcher/opt.h"

struct vcci_rank {
    const struct vcci_app *app;
    pid_t pid;   /* 0: not started yet */
    int exited;  /* and waited for: pid means nothing any more */
    int joined;  /* in the bootstrap now */
};

#endif
