/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two processes, so that nothing outlives the job whichever one is killed. The outer one (what the shell started) is the guardian: it does nothing but
 * hand signals on and wait. The inner one runs the job and is the parent of all ranks. Each notices the other's death: the inner one by a pipe, the
 * outer one as the parent; the survivor ends the descendants, which are its own by then, and removes the temporary folder.
 */
#ifndef VCCI_LAUNCHER_GUARD_H
#define VCCI_LAUNCHER_GUARD_H

#include <signal.h>
#include <stdint.h>

/* Signals that vcclrun handles; blocked before vcci_guard_run and in both processes. */
void vcci_guard_signals(sigset_t *set);

/* A terminal, timeout(1) and the guardian may each hand on what somebody asked once: 1 if signo came within a moment of the last one. */
struct vcci_guard_last {
    int signo;
    int64_t at_ns;
};
int vcci_guard_echo(struct vcci_guard_last *last, int signo);

/* Forks. In the inner process calls job(guard_fd, arg) and exits with what it returns; guard_fd becomes readable when the guardian is dead. In the
 * outer one returns the status to exit with. */
int vcci_guard_run(const char *scratch, int (*job)(int guard_fd, void *arg), void *arg);

#endif
