/* SPDX-License-Identifier: BSD-3-Clause
 * A rank that uses the bootstrap as libvccl does, and misbehaves on request:
 *   boot_check [-a] [-f] [-l ms] [-r rank] [-e how]
 *   -a   get from every rank (default: from both neighbours)     -f  fence twice
 *   -l   rank -r commits so late                                 -p  print a line when all is well
 *   -e   rank -r ends as said before fini: exit0, exit7, kill, abort, abort0, hang; the others wait for what becomes of that */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "pmix/boot.h"

#define GET_MS 60000

static void check(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, vcci_err_text());
    exit(99);
}

static size_t blob_make(int rank, unsigned char *blob)
{
    size_t bytes = 40 + (size_t)rank % 60;

    for (size_t i = 0; i < bytes; i++)
        blob[i] = (unsigned char)((size_t)rank * 7 + i);
    return bytes;
}

static void get_one(struct vcci_boot *boot, int rank)
{
    unsigned char want[128], have[128];
    size_t bytes = sizeof have, want_bytes = blob_make(rank, want);

    check(boot->ops->get(boot, rank, "addr", have, &bytes, GET_MS), "get");
    if (bytes != want_bytes || memcmp(want, have, bytes) != 0) {
        fprintf(stderr, "the blob of rank %d is wrong\n", rank);
        exit(98);
    }
}

static void misbehave(struct vcci_boot *boot, const char *how)
{
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    else if (strncmp(how, "exit", 4) == 0)
        _exit(atoi(how + 4));
    else if (strcmp(how, "abort") == 0)
        boot->ops->abort(boot, 9, "the text of\nan abort");
    else if (strcmp(how, "abort0") == 0)
        boot->ops->abort(boot, 0, NULL);
}

static void check_place(const struct vcci_boot *boot)
{
    int ok = boot->local_size >= 1 && boot->local_rank < boot->local_size && boot->host_ranks[boot->local_rank] == boot->rank;

    for (int i = 1; i < boot->local_size; i++)
        ok &= boot->host_ranks[i - 1] < boot->host_ranks[i];
    if (!ok || boot->job_id[0] == '\0') {
        fprintf(stderr, "rank %d: wrong place\n", boot->rank);
        exit(97);
    }
}

int main(int argc, char **argv)
{
    int all = 0, fences = 0, late_ms = 0, bad = 0, print = 0, c;
    struct vcci_boot *boot;
    unsigned char blob[128];
    const char *how = NULL;

    while ((c = getopt(argc, argv, "afpl:r:e:")) != -1)
        switch (c) {
        case 'a': all = 1; break;
        case 'f': fences = 2; break;
        case 'p': print = 1; break;
        case 'l': late_ms = atoi(optarg); break;
        case 'r': bad = atoi(optarg); break;
        case 'e': how = optarg; break;
        default: return 2;
        }
    check(vcci_boot_open(&boot), "open");
    check_place(boot);
    if (boot->rank == bad && late_ms)
        usleep((useconds_t)late_ms * 1000);
    check(boot->ops->put(boot, "addr", blob, blob_make(boot->rank, blob)), "put");
    check(boot->ops->commit(boot), "commit");
    for (int i = 0; i < fences; i++)
        check(boot->ops->fence(boot), "fence");
    for (int r = 0; all && r < boot->size; r++)
        get_one(boot, (boot->rank + r) % boot->size);
    if (!all) {
        get_one(boot, (boot->rank + 1) % boot->size);
        get_one(boot, (boot->rank + boot->size - 1) % boot->size);
    }
    if (how) {
        if (boot->rank == bad)
            misbehave(boot, how);
        for (;;)
            pause();
    }
    if (print)
        printf("rank %d of %d %s %s\n", boot->rank, boot->size, boot->ops->name, boot->job_id);
    boot->ops->fini(boot);
    return 0;
}
