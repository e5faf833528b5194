/* SPDX-License-Identifier: BSD-3-Clause
 * How ranks come to run. Here: as children of this process, on this host. */
#ifndef VCCI_LAUNCHER_START_H
#define VCCI_LAUNCHER_START_H

#include "launcher/child.h"
#include "launcher/iof.h"
#include "launcher/opt.h"
#include "launcher/place.h"
#include "pmix/server.h"

struct vcci_start {
    struct vcci_server *server;
    struct vcci_iof *iof;
    const struct vcci_place *place;
    const struct vcci_child_old *old;
    char *const *env;          /* of vcclrun */
    const struct vcci_app *app; /* whose environment is in app_env */
    char **app_env;
};

/* Starts `rank` of `app`: its pid, or -1 with the exit status in *status_out and a sentence in vcci_err_text. */
pid_t vcci_start_rank(struct vcci_start *start, const struct vcci_app *app, int rank, int *status_out);
void vcci_start_fini(struct vcci_start *start);

#endif
