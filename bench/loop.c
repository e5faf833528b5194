/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The timing loop of bench/compare.  loop MILLISECONDS COLL:BYTES ...
 * For each point rank 0 prints "COLL BYTES MICROSECONDS ITERATIONS": the median, over batches of back-to-back calls, of the time
 * per call on the slowest rank. BYTES is the size of the larger buffer: where ranks have blocks of their own, a block is BYTES /
 * ranks (at least one float). pingpong pairs rank 2k with 2k + 1 and gives the round trip. */
#include "layer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BATCHES 10
#define GROWTH  16  /* most by which a batch may grow on the word of a shorter one */
#define SLOW    2.0 /* seconds a call: larger ones of that collective are left out */

static float *in, *out;
static int rank, size;

static void pingpong(size_t n)
{
    int peer = rank ^ 1;

    if (peer >= size)
        return;
    if (rank & 1)
        x_recv(out, n, peer, X_WORLD);
    x_send(in, n, peer, X_WORLD);
    if (!(rank & 1))
        x_recv(out, n, peer, X_WORLD);
}

enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE_SCATTER_BLOCK, PINGPONG, COLL_NR };
static const char *const names[COLL_NR] = {
    "barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "reduce_scatter_block", "pingpong"};

static int too_slow[COLL_NR];

static void call(int coll, size_t n)
{
    switch (coll) {
    case BARRIER:
        x_barrier(X_WORLD);
        break;
    case BCAST:
        x_bcast(in, n, X_WORLD);
        break;
    case REDUCE:
        x_reduce(in, out, n, X_WORLD);
        break;
    case ALLREDUCE:
        x_allreduce(in, out, n, X_WORLD);
        break;
    case GATHER:
        x_gather(in, out, n, X_WORLD);
        break;
    case SCATTER:
        x_scatter(in, out, n, X_WORLD);
        break;
    case ALLGATHER:
        x_allgather(in, out, n, X_WORLD);
        break;
    case ALLTOALL:
        x_alltoall(in, out, n, X_WORLD);
        break;
    case REDUCE_SCATTER_BLOCK:
        x_reduce_scatter_block(in, out, n, X_WORLD);
        break;
    default:
        pingpong(n);
    }
}

/* Seconds per call on the slowest rank, over `iters` calls; the same on every rank. */
static double batch(int coll, size_t n, long iters)
{
    double mine, slowest;

    x_barrier(X_WORLD);
    double start = now();
    for (long i = 0; i < iters; i++)
        call(coll, n);
    mine = (now() - start) / (double)iters;
    x_allreduce_double(&mine, &slowest, 1, X_MAX, X_WORLD);
    return slowest;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* With two ranks and BENCH_LINE naming a file of a page that both can map: nanoseconds for a line to go there and back. */
static double line_ns(void)
{
    enum { TRIPS = 200, TRIES = 10 };
    static int *lines; /* rank 0's, and 128 bytes on rank 1's */
    static int turn;
    const char *name = getenv("BENCH_LINE");
    double best = 1e9;

    if (size != 2 || !name)
        return 0;
    if (!lines) {
        int fd = open(name, O_RDWR);

        lines = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (lines == MAP_FAILED)
            x_abort("BENCH_LINE cannot be mapped");
        close(fd);
    }
    int *mine = lines + 32 * rank, *other = lines + 32 * !rank;
    for (int try = 0; try < TRIES; try++) {
        x_barrier(X_WORLD);
        double start = now();
        for (int i = 0; i < TRIPS; i++) {
            turn++;
            if (rank == 0)
                __atomic_store_n(mine, turn, __ATOMIC_RELEASE);
            while (__atomic_load_n(other, __ATOMIC_ACQUIRE) != turn)
                ;
            if (rank == 1)
                __atomic_store_n(mine, turn, __ATOMIC_RELEASE);
        }
        double t = 1e9 * (now() - start) / TRIPS;
        best = t < best ? t : best;
    }
    return best;
}

static void measure(int coll, size_t bytes, double budget)
{
    size_t blocks = coll >= GATHER && coll <= REDUCE_SCATTER_BLOCK ? (size_t)size : 1, n = bytes / sizeof(float) / blocks;
    double times[BATCHES], spent = 0;
    long iters = 1;
    int k;

    if (n == 0)
        n = 1;
    double line = line_ns(), line_after;
    call(coll, n);
    for (;;) { /* until one batch takes its share of the budget */
        double t = batch(coll, n, iters), goal = budget / BATCHES / (t > 1e-9 ? t : 1e-9);

        spent += t * (double)iters;
        times[0] = t;
        if (goal <= 1.5 * (double)iters || spent > 2 * budget)
            break;
        iters = goal < GROWTH * (double)iters ? (long)goal : GROWTH * iters;
    }
    for (k = 1, spent = times[0] * (double)iters; k < BATCHES && spent < 2 * budget; k++) {
        times[k] = batch(coll, n, iters);
        spent += times[k] * (double)iters;
    }
    qsort(times, (size_t)k, sizeof *times, by_value);
    too_slow[coll] = times[k / 2] > SLOW;
    line_after = line_ns();
    if (rank == 0)
        printf("%s %zu %.4f %ld %.0f\n", names[coll], bytes, 1e6 * times[k / 2], iters * k,
               line > line_after ? line : line_after);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    size_t most = 4096;

    if (argc < 3) {
        fprintf(stderr, "usage: loop MILLISECONDS COLL:BYTES ...\n");
        return 2;
    }
    x_init(0);
    rank = x_rank(X_WORLD);
    size = x_size(X_WORLD);
    for (int i = 2; i < argc; i++) {
        const char *colon = strchr(argv[i], ':');
        size_t bytes = colon ? strtoull(colon + 1, NULL, 10) : 0;

        most = bytes > most ? bytes : most;
    }
    in = malloc(most);
    out = malloc(most);
    if (!in || !out)
        x_abort("out of memory");
    for (size_t i = 0; i < most / sizeof(float); i++)
        in[i] = out[i] = 1;
    for (int i = 2; i < argc; i++)
        for (int coll = 0; coll < COLL_NR; coll++) {
            size_t len = strlen(names[coll]);

            if (strncmp(argv[i], names[coll], len) == 0 && argv[i][len] == ':' && !too_slow[coll])
                measure(coll, strtoull(argv[i] + len + 1, NULL, 10), 1e-3 * strtod(argv[1], NULL));
        }
    free(in);
    free(out);
    x_fini();
    return 0;
}
