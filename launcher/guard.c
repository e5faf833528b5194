/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/scratch.h"
#include "launcher/sweep.h"
#include "lib/base/clock.h"

#define SWEEP_SECONDS 10
#define ECHO_NS 50000000
#define PATIENCE_SECONDS 3 /* after the second SIGINT or SIGTERM, for an inner process that does not obey */

void vcci_guard_signals(sigset_t *set)
{
    static const int handled[] = {SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};
    struct sigaction hup;

    sigemptyset(set);
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
        sigaddset(set, handled[i]);
    if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN) /* else nohup wants it ignored */
        sigaddset(set, SIGHUP);
}

int vcci_guard_echo(struct vcci_guard_last *last, int signo)
{
    int64_t now = vcci_now_ns();
    int echo = last->signo == signo && now - last->at_ns < ECHO_NS;

    *last = (struct vcci_guard_last){.signo = signo, .at_ns = now};
    return echo;
}

/* Hands one signal on. */
static void guard_pass(pid_t inner, int signo)
{
    kill(inner, signo);
    if (signo == SIGTSTP)
        raise(SIGSTOP);
}

/* 1: the inner process has ended, *status is its. Others are orphans that ended. */
static int guard_reap(pid_t inner, int *status)
{
    int ended = 0, st;
    pid_t pid;

    while ((pid = waitpid(-1, &st, WNOHANG)) > 0)
        if (pid == inner) {
            *status = st;
            ended = 1;
        }
    return ended;
}

static int guard_wait(pid_t inner, const sigset_t *signals)
{
    const struct timespec patience = {.tv_sec = PATIENCE_SECONDS};
    struct vcci_guard_last last = {0};
    int status = 0, asked = 0;

    while (!guard_reap(inner, &status)) {
        siginfo_t info;
        int signo = asked >= 2 ? sigtimedwait(signals, &info, &patience) : sigwaitinfo(signals, &info);
        if (signo < 0 && errno == EAGAIN)
            kill(inner, SIGKILL);
        if (signo <= 0 || signo == SIGCHLD)
            continue;
        asked += (signo == SIGINT || signo == SIGTERM) && !vcci_guard_echo(&last, signo);
        guard_pass(inner, signo);
    }
    return status;
}

int vcci_guard_run(const char *scratch, int (*job)(int guard_fd, void *arg), void *arg)
{
    sigset_t signals;
    int ends[2], status;
    pid_t inner;

    vcci_guard_signals(&signals);
    vcci_sweep_adopt();
    if (pipe2(ends, O_CLOEXEC) < 0 || (inner = fork()) < 0) {
        fprintf(stderr, "vcclrun: cannot start: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    if (inner == 0) {
        close(ends[1]);
        vcci_sweep_adopt();
        exit(job(ends[0], arg));
    }
    close(ends[0]);
    status = guard_wait(inner, &signals);
    if (WIFSIGNALED(status))
        fprintf(stderr, "vcclrun: the launcher (pid %d) died of signal %d (%s); the ranks are ended\n", (int)inner, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    if (!vcci_sweep_all(SWEEP_SECONDS))
        fprintf(stderr, "vcclrun: some processes of the job cannot be killed\n");
    vcci_scratch_remove(scratch);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
