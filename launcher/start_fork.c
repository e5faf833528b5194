/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/env.h"
#include "launcher/job.h"
#include "launcher/start.h"
#include "lib/base/err.h"

/* Made once for all ranks of a program. */
static int start_app(struct vcci_start *start, const struct vcci_app *app)
{
    if (start->app == app)
        return 0;
    free(start->app_env);
    start->app_env = vcci_launch_env(start->env, app->exports, app->n_exports);
    start->app = start->app_env ? app : NULL;
    return start->app_env ? 0 : vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the environment of %s", app->argv[0]);
}

static void start_explain(const struct vcci_app *app, int rank, enum vcci_child_step step, int err, int *status_out)
{
    *status_out = VCCI_EXIT_FAILURE;
    switch (step) {
    case VCCI_CHILD_FORK:
        vcci_fail_errno(VCCL_ERR_SYSTEM, err, "rank %d cannot be started", rank);
        break;
    case VCCI_CHILD_WDIR:
        *status_out = VCCI_EXIT_USAGE;
        vcci_fail_errno(VCCL_ERR_SYSTEM, err, "--wdir %s cannot be entered", app->wdir);
        break;
    case VCCI_CHILD_BIND:
        vcci_fail_errno(VCCL_ERR_SYSTEM, err, "rank %d cannot be bound (see --bind-to none)", rank);
        break;
    case VCCI_CHILD_EXEC:
        *status_out = err == ENOENT || err == ENOTDIR ? VCCI_EXIT_NOT_FOUND : VCCI_EXIT_CANNOT_RUN;
        vcci_fail_errno(VCCL_ERR_SYSTEM, err, "%s cannot be run", app->argv[0]);
        break;
    }
}

pid_t vcci_start_rank(struct vcci_start *start, const struct vcci_app *app, int rank, int *status_out)
{
    struct vcci_child_spec spec = {.argv = app->argv, .wdir = app->wdir, .old = start->old};
    enum vcci_child_step step;
    char **env = NULL;
    pid_t pid;
    int err;

    *status_out = VCCI_EXIT_FAILURE;
    if (start_app(start, app) || vcci_server_env(start->server, rank, start->app_env, &env))
        return -1;
    if (vcci_iof_prepare(start->iof, rank, spec.fds)) {
        vcci_server_env_free(env);
        return -1;
    }
    spec.env = env;
    spec.cpus = vcci_place_set(start->place, rank);
    spec.cpus_bytes = start->place->set_bytes;
    pid = vcci_child_start(&spec, &step, &err);
    vcci_iof_release(start->iof, spec.fds);
    vcci_server_env_free(env);
    if (pid < 0)
        start_explain(app, rank, step, err, status_out);
    return pid;
}

void vcci_start_fini(struct vcci_start *start)
{
    free(start->app_env);
    start->app_env = NULL;
}
