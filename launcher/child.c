/* SPDX-License-Identifier: BSD-3-Clause
 * vfork: the time of a plain fork grows with what PMIx and hwloc have mapped, and the caller learns exec's errno without a pipe. */
#include "launcher/child.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_STARTED 127

/* Written by the child in memory that it borrows until exec. */
struct child_report {
    volatile enum vcci_child_step step;
    volatile int err;
};

static _Noreturn void child_give_up(struct child_report *report, enum vcci_child_step step)
{
    report->step = step;
    report->err = errno ? errno : EINVAL;
    _exit(EXIT_NOT_STARTED);
}

static void child_signals(const struct vcci_child_old *old)
{
    static const int handled[] = {SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT, SIGCHLD, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = SIG_DFL};

    /* A shell without job control starts what is behind '&' with SIGINT ignored: a rank must hear what vcclrun passes on. */
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
        sigaction(handled[i], &action, NULL);
    if (!old->ignores_pipe)
        sigaction(SIGPIPE, &action, NULL);
    sigprocmask(SIG_SETMASK, &old->mask, NULL);
}

/* Between vfork and exec: only system calls and what is on this stack. */
static _Noreturn void child_run(const struct vcci_child_spec *spec, pid_t parent, struct child_report *report)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it was killed before the line above */
        _exit(EXIT_NOT_STARTED);
    setrlimit(RLIMIT_NOFILE, &spec->old->files);
    for (int i = 0; i < 3; i++)
        if (dup2(spec->fds[i], i) < 0)
            child_give_up(report, VCCI_CHILD_FORK);
    if (spec->wdir && chdir(spec->wdir) < 0)
        child_give_up(report, VCCI_CHILD_WDIR);
    if (spec->cpus && sched_setaffinity(0, spec->cpus_bytes, spec->cpus) < 0)
        child_give_up(report, VCCI_CHILD_BIND);
    child_signals(spec->old);
    execvpe(spec->argv[0], spec->argv, spec->env);
    child_give_up(report, VCCI_CHILD_EXEC);
}

pid_t vcci_child_start(const struct vcci_child_spec *spec, enum vcci_child_step *step_out, int *err_out)
{
    struct child_report report = {.step = VCCI_CHILD_FORK, .err = 0};
    pid_t parent = getpid(), pid = vfork();

    if (pid == 0)
        child_run(spec, parent, &report);
    if (pid < 0)
        report.err = errno;
    else if (report.err)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    *step_out = report.step;
    *err_out = report.err;
    return report.err ? -1 : pid;
}
