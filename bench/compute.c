/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An 8-byte allreduce after every rank has computed for a while.  compute ITERATIONS MILLISECONDS
 * Rank 0 prints "CALL ITERATION" in microseconds: the median, over the iterations, of the time in the call on the rank that came
 * last (it waits for nobody), and the mean of a whole iteration. */
#include "layer.h"

static double cpu_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile double sink;

static void compute(double seconds)
{
    for (double end = cpu_time() + seconds; cpu_time() < end;)
        for (int i = 0; i < 1000; i++)
            sink = sink * 0.5 + 1;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t iters = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
    double seconds = 1e-3 * (argc > 2 ? strtod(argv[2], NULL) : 2), start;
    double *mine = calloc(iters + 1, sizeof *mine), *least = calloc(iters + 1, sizeof *least);
    float in[2] = {1, 2}, out[2];

    x_init(0);
    if (!mine || !least || iters == 0)
        x_abort("compute: no memory or no iterations");
    for (int i = 0; i < 100; i++)
        x_allreduce(in, out, 2, X_WORLD);
    x_barrier(X_WORLD);
    start = now();
    for (size_t i = 0; i < iters; i++) {
        compute(seconds);
        mine[i] = now();
        x_allreduce(in, out, 2, X_WORLD);
        mine[i] = now() - mine[i];
    }
    start = now() - start;
    x_allreduce_double(mine, least, iters, X_MIN, X_WORLD);
    qsort(least, iters, sizeof *least, by_value);
    if (x_rank(X_WORLD) == 0)
        printf("%.3f %.3f\n", 1e6 * least[iters / 2], 1e6 * start / (double)iters);
    fflush(stdout);
    free(mine);
    free(least);
    x_fini();
    return 0;
}
