/* SPDX-License-Identifier: BSD-3-Clause
 * A rank that says "ready", then which signals it gets. With the argument "end" SIGINT, SIGTERM and SIGHUP end it, with status 0. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int end = argc > 1 && strcmp(argv[1], "end") == 0, signo;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    puts("ready");
    for (;;) {
        fflush(stdout);
        if (sigwait(&set, &signo) != 0)
            return 1;
        printf("got %s\n", sigabbrev_np(signo));
        if (end && signo != SIGUSR1)
            return 0;
    }
}
