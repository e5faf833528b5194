/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MS 2

void vcci_sweep_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
}

/* The kernel lists children per thread. Returns 0 if it does not list them at all. */
static int signal_listed(int signo)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *entry;
    int listed = 0;

    while (dir && (entry = readdir(dir))) {
        char path[300];
        FILE *file;
        int pid;

        snprintf(path, sizeof path, "/proc/self/task/%s/children", entry->d_name);
        file = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
        if (!file)
            continue;
        listed = 1;
        while (fscanf(file, "%d", &pid) == 1)
            kill(pid, signo);
        fclose(file);
    }
    if (dir)
        closedir(dir);
    return listed;
}

static int parent_of(const char *pid)
{
    char path[300];
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    /* the name in parentheses may hold anything, also ") " */
    int c, seen = 0;
    long after = 0;
    while ((c = getc(file)) != EOF)
        if (++seen && c == ')')
            after = seen;
    if (fseek(file, after, SEEK_SET) < 0 || fscanf(file, " %*c %d", &parent) != 1)
        parent = 0;
    fclose(file);
    return parent;
}

/* For kernels without CONFIG_PROC_CHILDREN. */
static void signal_searched(int signo)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == getpid())
            kill(atoi(entry->d_name), signo);
    if (dir)
        closedir(dir);
}

void vcci_sweep_signal(int signo)
{
    if (!signal_listed(signo))
        signal_searched(signo);
}

int vcci_sweep_all(int seconds)
{
    struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};

    for (int turns = seconds * 1000 / PAUSE_MS; turns > 0; turns--) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0 && errno == ECHILD)
            return 1;
        vcci_sweep_signal(SIGKILL);
        nanosleep(&pause, NULL);
    }
    return 0;
}
