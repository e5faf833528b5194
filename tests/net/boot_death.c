/* SPDX-License-Identifier: BSD-3-Clause
 * Deaths, as the bootstrap tells them. This program is its own launcher: rank 1 of 3 is killed, the others must be told so; then the server is
 * killed, and they must be told that as well. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "pmix/boot.h"
#include "pmix/server.h"

#define RANKS 3
#define SECONDS 60

static int told[2]; /* what the handler was called with */

static void on_death(void *arg, int rank)
{
    signed char dead = (signed char)rank;

    if (arg != told || write(told[1], &dead, 1) != 1)
        abort();
}

static void check(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, vcci_err_text());
    _exit(99);
}

static int next_death(void)
{
    struct pollfd ready = {.fd = told[0], .events = POLLIN};
    signed char dead;

    if (poll(&ready, 1, SECONDS * 1000) != 1 || read(told[0], &dead, 1) != 1)
        return -99;
    return dead;
}

/* A rank; a byte on `up` says that it listens. */
static _Noreturn void run_rank(int up)
{
    struct vcci_boot *boot;
    int first, second;

    if (pipe(told) < 0)
        _exit(98);
    check(vcci_boot_open(&boot), "open");
    check(boot->ops->on_death(boot, on_death, told), "on_death");
    check(boot->ops->fence(boot), "fence");
    if (write(up, "x", 1) != 1)
        _exit(98);
    first = next_death();
    if (write(up, "x", 1) != 1)
        _exit(98);
    second = next_death();
    if (first != 1 || second != -1)
        fprintf(stderr, "rank %d was told of %d and %d instead of 1 and -1\n", boot->rank, first, second);
    else if (write(up, "x", 1) != 1) /* its parent is dead: this is its exit status */
        _exit(98);
    _exit(0);
}

static void await(int up, int n)
{
    char c;

    for (int i = 0; i < n; i++)
        if (read(up, &c, 1) != 1)
            _exit(97);
}

/* The server dies as a killed vcclrun does: without a word. */
static _Noreturn void run_server(const char *dir, const char *self, int up_read, int up, int pids_fd)
{
    struct vcci_server *server;
    char up_text[16], host[256] = "";
    pid_t pids[RANKS];
    int status;

    gethostname(host, sizeof host - 1);
    check(vcci_server_open(dir, host, RANKS, &server), "server");
    snprintf(up_text, sizeof up_text, "%d", up);
    for (int r = 0; r < RANKS; r++) {
        char **env;
        check(vcci_server_env(server, r, environ, &env), "environment");
        pids[r] = fork();
        if (pids[r] == 0) {
            execle(self, self, "rank", up_text, (char *)NULL, env);
            _exit(96);
        }
        vcci_server_env_free(env);
    }
    if (write(pids_fd, pids, sizeof pids) != sizeof pids)
        _exit(95);
    await(up_read, RANKS);
    kill(pids[1], SIGKILL);
    waitpid(pids[1], &status, 0);
    check(vcci_server_tell_death(server, 1, status), "telling");
    await(up_read, RANKS - 1);
    _exit(0);
}

int main(int argc, char **argv)
{
    char dir[4096];
    int up[2], pids_fd[2], status, bad = 0, well = 0;
    char c;
    pid_t pids[RANKS] = {0}, server;

    if (argc == 3)
        run_rank(atoi(argv[2]));
    alarm(4 * SECONDS);
    snprintf(dir, sizeof dir, "%s/boot_death.%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    if (mkdir(dir, 0700) < 0 || pipe(up) < 0 || pipe(pids_fd) < 0)
        return 99;
    server = fork();
    if (server == 0)
        run_server(dir, argv[0], up[0], up[1], pids_fd[1]);
    if (read(pids_fd[0], pids, sizeof pids) != sizeof pids)
        bad = 1;
    waitpid(server, &status, 0);
    bad |= status != 0;
    close(up[1]);
    while (!bad && read(up[0], &c, 1) == 1) /* ends when the last rank has */
        well++;
    bad |= well != RANKS - 1;
    for (int r = 0; bad && r < RANKS; r++)
        if (pids[r] > 0)
            kill(pids[r], SIGKILL);
    char *remove[] = {"rm", "-rf", dir, NULL};
    if (fork() == 0)
        execvp(remove[0], remove);
    wait(NULL);
    return bad;
}
