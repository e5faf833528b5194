/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that each run 8-byte allreduces on a communicator of their own.  threads THREADS MILLISECONDS
 * Rank 0 prints the calls per second of all threads of a rank together. */
#include "layer.h"

#include <pthread.h>

#define MOST_THREADS 64

struct worker {
    pthread_t thread;
    x_comm comm;
    long calls;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    float in[2] = {1, 2}, out[2];

    for (long i = 0; i < w->calls; i++)
        x_allreduce(in, out, 2, w->comm);
    return NULL;
}

/* Seconds until every thread of every rank has made its calls. */
static double round_of(struct worker *workers, int threads, long calls)
{
    double mine, slowest;

    x_barrier(X_WORLD);
    double start = now();
    for (int t = 0; t < threads; t++) {
        workers[t].calls = calls;
        if (pthread_create(&workers[t].thread, NULL, work, &workers[t]) != 0)
            x_abort("pthread_create failed");
    }
    for (int t = 0; t < threads; t++)
        pthread_join(workers[t].thread, NULL);
    mine = now() - start;
    x_allreduce_double(&mine, &slowest, 1, X_MAX, X_WORLD);
    return slowest;
}

int main(int argc, char **argv)
{
    static struct worker workers[MOST_THREADS];
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    double goal = 1e-3 * (argc > 2 ? strtod(argv[2], NULL) : 200), t = 0;
    long calls = 8;

    if (threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: threads 1..%d MILLISECONDS\n", MOST_THREADS);
        return 2;
    }
    x_init(1);
    for (int i = 0; i < threads; i++)
        workers[i].comm = x_dup(X_WORLD);
    while ((t = round_of(workers, threads, calls)) < goal)
        calls = 2 * t > goal ? (long)(1.2 * (double)calls * goal / t) + 1 : 2 * calls;
    if (x_rank(X_WORLD) == 0)
        printf("%.1f\n", (double)threads * (double)calls / t);
    fflush(stdout);
    for (int i = 0; i < threads; i++)
        x_free(&workers[i].comm);
    x_fini();
    return 0;
}
