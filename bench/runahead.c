/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small bcasts to receivers that sleep.  runahead CALLS SECONDS
 * Rank 0 goes ahead with CALLS bcasts of 8 bytes while the others sleep, then they receive. Rank 0 prints "ROOT OTHERS SECONDS":
 * by how many KiB the resident memory of the root and of the worst other rank grew at most, and how long it took. */
#include "layer.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    double pause = argc > 2 ? strtod(argv[2], NULL) : 1, start, grown[2] = {0, 0}, most[2];
    float buf[2] = {1, 2};

    x_init(0);
    int rank = x_rank(X_WORLD);
    for (int i = 0; i < 1000; i++) {
        x_bcast(buf, 2, X_WORLD);
        x_barrier(X_WORLD);
    }
    long before = proc_kib("/proc/self/status", "VmHWM:");
    start = now();
    if (rank != 0)
        usleep((useconds_t)(1e6 * pause));
    for (long i = 0; i < calls; i++)
        x_bcast(buf, 2, X_WORLD);
    x_barrier(X_WORLD);
    start = now() - start;
    grown[rank != 0] = (double)(proc_kib("/proc/self/status", "VmHWM:") - before);
    x_allreduce_double(grown, most, 2, X_MAX, X_WORLD);
    if (rank == 0)
        printf("%.0f %.0f %.3f\n", most[0], most[1], start);
    fflush(stdout);
    x_fini();
    return 0;
}
