/* SPDX-License-Identifier: BSD-3-Clause
 * How vccl_perf measures one line. */
#include <stdlib.h>

#include "tools/perf.h"

#define PLACE_SECONDS 0.12 /* for a line's out-of-place or in-place part, without -n */
#define BATCHES       8
#define GROWTH        16   /* most by which a batch grows on the word of a shorter one */
#define SAMPLES       4096 /* calls timed one by one for percentiles */

void perf_ok(vccl_result_t result, const char *what)
{
    char text[600];
    int rank = 0;

    if (result == VCCL_SUCCESS)
        return;
    snprintf(text, sizeof text, "vccl_perf: %s: %s: %s", what, vccl_strerror(result), vccl_last_error());
    if (vccl_comm_rank(VCCL_COMM_WORLD, &rank) != VCCL_SUCCESS) {
        fprintf(stderr, "%s\n", text);
        exit(1);
    }
    vccl_abort(1, text);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Seconds per call over `iters` back-to-back calls, as -a wants the ranks joined; the same on every rank. */
static double batch(const struct perf_opt *opt, const struct perf_run *run, long iters)
{
    static const vccl_op_t ops[] = {VCCL_MAX, VCCL_SUM, VCCL_MIN, VCCL_MAX};
    double mine, joined;

    perf_ok(vccl_barrier(VCCL_COMM_WORLD), "vccl_barrier");
    double start = vccl_wtime();
    for (long i = 0; i < iters; i++)
        perf_ok(run->coll->call(run), run->coll->name);
    mine = (vccl_wtime() - start) / (double)iters;
    if (opt->report == PERF_RANK0 && run->rank != 0)
        mine = 0;
    perf_ok(vccl_allreduce(&mine, &joined, 1, VCCL_FLOAT64, ops[opt->report], VCCL_COMM_WORLD), "vccl_allreduce");
    if (run->rank == 0)
        perf_out_progress(run);
    return opt->report == PERF_AVG ? joined / run->size : joined;
}

/* Median over batches that share PLACE_SECONDS; a slow machine gets fewer of them, but one at least. */
static double adaptive(const struct perf_opt *opt, const struct perf_run *run, long *iters_out)
{
    double times[BATCHES], spent = 0;
    long iters = 1;
    int k;

    for (;;) {
        double t = batch(opt, run, iters), goal = PLACE_SECONDS / BATCHES / (t > 1e-9 ? t : 1e-9);

        spent += t * (double)iters;
        times[0] = t;
        if (goal <= 1.5 * (double)iters || spent > PLACE_SECONDS)
            break;
        iters = goal < GROWTH * (double)iters ? (long)goal : GROWTH * iters;
    }
    for (k = 1, spent = times[0] * (double)iters; k < BATCHES && spent < PLACE_SECONDS; k++) {
        times[k] = batch(opt, run, iters);
        spent += times[k] * (double)iters;
    }
    qsort(times, (size_t)k, sizeof *times, by_value);
    *iters_out = iters * k;
    return times[k / 2];
}

/* Of calls timed one by one, each as long as it was on its slowest rank. */
static void percentiles(const struct perf_run *run, long calls, struct perf_times *out)
{
    static double mine[SAMPLES], most[SAMPLES];
    size_t n = calls < SAMPLES ? (size_t)calls : SAMPLES;

    perf_ok(vccl_barrier(VCCL_COMM_WORLD), "vccl_barrier");
    for (size_t i = 0; i < n; i++) {
        double start = vccl_wtime();

        perf_ok(run->coll->call(run), run->coll->name);
        mine[i] = vccl_wtime() - start;
    }
    perf_ok(vccl_allreduce(mine, most, n, VCCL_FLOAT64, VCCL_MAX, VCCL_COMM_WORLD), "vccl_allreduce");
    qsort(most, n, sizeof *most, by_value);
    out->p50 = 1e6 * most[(n - 1) / 2] / run->coll->calls;
    out->p99 = 1e6 * most[(n - 1) * 99 / 100] / run->coll->calls;
    out->most = 1e6 * most[n - 1] / run->coll->calls;
}

void perf_measure(const struct perf_opt *opt, const struct perf_run *run, struct perf_times *out)
{
    int64_t wrong = 0;

    *out = (struct perf_times){0};
    for (int i = 0; i < opt->check; i++) {
        perf_data_fill(run);
        perf_ok(run->coll->call(run), run->coll->name);
        wrong += (int64_t)perf_data_wrong(run);
    }
    perf_data_fill(run);
    for (long i = 0; i < opt->warmup; i++)
        perf_ok(run->coll->call(run), run->coll->name);
    out->iters = opt->iters;
    out->us = 1e6 * (opt->iters ? batch(opt, run, opt->iters) : adaptive(opt, run, &out->iters)) / run->coll->calls;
    if (opt->percentiles)
        percentiles(run, out->iters, out);
    if (opt->check && !run->in_place) /* any number of calls must have left the same result */
        wrong += (int64_t)perf_data_wrong(run);
    perf_ok(vccl_allreduce(VCCL_IN_PLACE, &wrong, 1, VCCL_INT64, VCCL_SUM, VCCL_COMM_WORLD), "vccl_allreduce");
    out->wrong = opt->check ? wrong : -1;
}
