/* SPDX-License-Identifier: BSD-3-Clause
 * Starts one process of the job. */
#ifndef VCCI_LAUNCHER_CHILD_H
#define VCCI_LAUNCHER_CHILD_H

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What vcclrun changed of its own and its children get back. */
struct vcci_child_old {
    sigset_t mask;
    struct rlimit files;
    int ignores_pipe; /* SIGPIPE was ignored */
};
struct vcci_child_spec {
    char *const *argv, *const *env;
    const char *wdir;      /* NULL: stay */
    int fds[3];            /* become 0, 1 and 2; all above 2 */
    const cpu_set_t *cpus; /* NULL: not bound */
    size_t cpus_bytes;
    const struct vcci_child_old *old;
};
enum vcci_child_step { VCCI_CHILD_FORK, VCCI_CHILD_WDIR, VCCI_CHILD_BIND, VCCI_CHILD_EXEC };

/* The new process's id; it leads a process group of its own and dies with the calling thread. -1: errno is in *err_out, *step_out says
 * what failed, and nothing is left to wait for. The program is looked for in this process's PATH. */
pid_t vcci_child_start(const struct vcci_child_spec *spec, enum vcci_child_step *step_out, int *err_out);

#endif
