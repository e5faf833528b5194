/* SPDX-License-Identifier: BSD-3-Clause
 * A rank with children that do not want to end: one in its own group, one in a session of its own, one whose parent is gone, all deaf to
 * SIGTERM, SIGINT and SIGHUP. Prints the pids of all once they are as they should be, then waits for ever (with the argument "leave": exits 0). */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void stay(int fd)
{
    char line[32];
    int n = snprintf(line, sizeof line, "%d\n", (int)getpid());

    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (write(fd, line, (size_t)n) != n)
        _exit(1);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    int ends[2], n = 0;
    char c;

    if (pipe(ends) < 0)
        return 1;
    if (fork() == 0)
        stay(ends[1]);
    if (fork() == 0) {
        setsid();
        stay(ends[1]);
    }
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            stay(ends[1]);
        _exit(0);
    }
    while (n < 3 && read(ends[0], &c, 1) == 1) {
        putchar(c);
        n += c == '\n';
    }
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (argc < 2 || strcmp(argv[1], "leave") != 0)
        pause();
    return 0;
}
