/* SPDX-License-Identifier: BSD-3-Clause
 * vccl_perf's table, JSON and CSV. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/cli.h"
#include "tools/perf.h"

#define SHOWN_RANKS    16
#define SILENT_SECONDS 1.0 /* after which a terminal hears what is being measured */

static FILE *json, *csv;
static int table = 1, type_width = 8, lines, with_bus;
static int64_t wrong_total;
static double bus_total, last_heard;
static int progress_shown;

static FILE *open_one(const char *name)
{
    if (strcmp(name, "-") != 0)
        return fopen(name, "w");
    table = 0;
    return stdout;
}

int perf_out_open(const struct perf_opt *opt)
{
    if (opt->json && !(json = open_one(opt->json)))
        return cli_bad("vccl_perf", "%s: %s", opt->json, strerror(errno));
    if (opt->csv && !(csv = open_one(opt->csv)))
        return cli_bad("vccl_perf", "%s: %s", opt->csv, strerror(errno));
    if (opt->type == -1 || strlen(vccl_type_name((vccl_datatype_t)opt->type)) > 8)
        type_width = 13;
    last_heard = vccl_wtime();
    return 0;
}

static void json_ranks(const struct perf_rank *ranks, int size)
{
    fprintf(json, "\"ranks\": [");
    for (int i = 0; i < size; i++) {
        fprintf(json, "%s\n{\"rank\": %d, \"pid\": %ld, \"host\": \"", i ? "," : "", i, ranks[i].pid);
        for (const char *c = ranks[i].host; *c; c++)
            if ((unsigned char)*c >= 0x20 && *c != '"' && *c != '\\') /* no name of a host has these */
                fputc(*c, json);
        fprintf(json, "\"}");
    }
    fprintf(json, "\n], ");
}

static void print_ranks(const struct perf_rank *ranks, int size)
{
    printf("#\n# Using ranks\n");
    for (int i = 0; i < size && i < SHOWN_RANKS; i++)
        printf("#  Rank %3d Pid %7ld on %s\n", i, ranks[i].pid, ranks[i].host);
    if (size > SHOWN_RANKS)
        printf("#  ... and %d more\n", size - SHOWN_RANKS);
    printf("#\n");
}

void perf_out_job(const struct perf_opt *opt, int size, const struct perf_rank *ranks)
{
    static const char *const report[] = {"rank 0", "average", "least", "most"};
    int major, minor, patch;
    char date[40];
    time_t now = time(NULL);

    vccl_get_version(&major, &minor, &patch);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S%z", localtime(&now));
    if (json) {
        fprintf(json, "{\"tool\": \"vccl_perf\", \"version\": \"%d.%d.%d\", \"date\": \"%s\", \"size\": %d, ", major, minor,
                patch, date, size);
        json_ranks(ranks, size);
        fprintf(json, "\"nonblocking\": %s, \"memory\": \"%s\", \"time\": \"%s\", \"results\": [",
                opt->nonblocking ? "true" : "false", opt->mem_alloc ? "vccl_mem_alloc" : "malloc", report[opt->report]);
    }
    if (csv) {
        fputs("coll,bytes,count,type,op,root,place,iters,us,", csv);
        fputs(opt->percentiles ? "p50_us,p99_us,max_us,algbw_GBps,busbw_GBps,wrong\n" : "algbw_GBps,busbw_GBps,wrong\n", csv);
    }
    if (!table)
        return;
    printf("# vccl_perf %d.%d.%d, %d rank%s, %s\n", major, minor, patch, size, size == 1 ? "" : "s", date);
    printf("# minBytes %zu maxBytes %zu step: %zu(%s) warmup iters: %ld iters: ", opt->min_bytes, opt->max_bytes,
           opt->step_bytes ? opt->step_bytes : opt->factor, opt->step_bytes ? "bytes" : "factor", opt->warmup);
    printf(opt->iters ? "%ld" : "by time", opt->iters);
    printf(" validation: %d calls: %s memory: %s time: %s of the ranks'\n", opt->check,
           opt->nonblocking ? "nonblocking" : "blocking", opt->mem_alloc ? "vccl_mem_alloc" : "malloc", report[opt->report]);
    print_ranks(ranks, size);
    fflush(stdout);
}

static void heading_group(const struct perf_opt *opt, const char *a, const char *b, const char *c, const char *d,
                          const char *percent[3])
{
    printf(" %9s", a);
    if (opt->percentiles)
        printf(" %9s %9s %9s", percent[0], percent[1], percent[2]);
    printf(" %7s %7s %6s", b, c, d);
}

void perf_out_heading(const struct perf_opt *opt, const struct perf_coll *coll)
{
    static const char *names[3] = {"p50", "p99", "max"}, *units[3] = {"(us)", "(us)", "(us)"};
    int left = 12 + 1 + 12 + 1 + type_width + 1 + 7 + 1 + 6, group = opt->percentiles ? 63 : 33;
    int middle = (group + (int)sizeof "out-of-place" - 1) / 2, next = group - middle + (group + (int)sizeof "in-place" - 1) / 2;

    if (!table)
        return;
    printf("# %s\n#%*s%*s\n", coll->name, left - 1 + middle, "out-of-place", next, "in-place");
    printf("#%11s %12s %*s %7s %6s", "size", "count", type_width, "type", "redop", "root");
    heading_group(opt, "time", "algbw", "busbw", "#wrong", names);
    heading_group(opt, "time", "algbw", "busbw", "#wrong", names);
    printf("\n#%11s %12s %*s %7s %6s", "(B)", "(elements)", type_width, "", "", "");
    heading_group(opt, "(us)", "(GB/s)", "(GB/s)", "", units);
    heading_group(opt, "(us)", "(GB/s)", "(GB/s)", "", units);
    printf("\n");
}

static void print_time(double us)
{
    printf(us < 1000 ? " %9.2f" : us < 100000 ? " %9.1f" : " %9.0f", us);
}

static void print_group(const struct perf_opt *opt, const struct perf_times *t, double alg, double bus)
{
    if (!t) {
        printf(" %9s", "N/A");
        for (int i = 0; i < 3 && opt->percentiles; i++)
            printf(" %9s", "N/A");
        printf(" %7s %7s %6s", "N/A", "N/A", "N/A");
        return;
    }
    print_time(t->us);
    if (opt->percentiles) {
        print_time(t->p50);
        print_time(t->p99);
        print_time(t->most);
    }
    printf(" %7.2f %7.2f", alg, bus);
    if (t->wrong < 0)
        printf(" %6s", "N/A");
    else
        printf(" %6lld", (long long)t->wrong);
}

struct line {
    const char *coll, *type, *op;
    size_t bytes, count;
    int root;
};

/* One place of a line in the files. */
static void write_files(const struct perf_opt *opt, const struct line *l, const char *place, const struct perf_times *t,
                        double alg, double bus)
{
    static int any;

    if (json) {
        fprintf(json, "%s\n{\"coll\": \"%s\", \"bytes\": %zu, \"count\": %zu, \"type\": \"%s\", \"op\": \"%s\", \"root\": %d, ",
                any ? "," : "", l->coll, l->bytes, l->count, l->type, l->op, l->root);
        fprintf(json, "\"place\": \"%s\", \"iters\": %ld, \"us\": %.4f, ", place, t->iters, t->us);
        if (opt->percentiles)
            fprintf(json, "\"p50_us\": %.4f, \"p99_us\": %.4f, \"max_us\": %.4f, ", t->p50, t->p99, t->most);
        fprintf(json, "\"algbw\": %.6f, \"busbw\": %.6f, \"wrong\": ", alg, bus);
        fprintf(json, t->wrong < 0 ? "null}" : "%lld}", (long long)t->wrong);
        any = 1;
    }
    if (csv) {
        fprintf(csv, "%s,%zu,%zu,%s,%s,%d,%s,%ld,%.4f,", l->coll, l->bytes, l->count, l->type, l->op, l->root, place, t->iters,
                t->us);
        if (opt->percentiles)
            fprintf(csv, "%.4f,%.4f,%.4f,", t->p50, t->p99, t->most);
        fprintf(csv, "%.6f,%.6f,", alg, bus);
        fprintf(csv, t->wrong < 0 ? "\n" : "%lld\n", (long long)t->wrong);
    }
}

/* Does a person see what is written to fd? Under vcclrun it is a pipe, and vcclrun says what lies behind it. */
static int on_terminal(int fd)
{
    const char *behind = getenv("VCCL_JOB_TERMINALS");

    return isatty(fd) || (behind && strchr(behind, '0' + fd) != NULL);
}

/* Where the progress line goes: before the table's lines in the same stream, so that they replace it, or to stderr where those go
 * elsewhere; NULL: nobody would see it. */
static FILE *progress_stream(void)
{
    if (table && on_terminal(STDOUT_FILENO))
        return stdout;
    return on_terminal(STDERR_FILENO) && !on_terminal(STDOUT_FILENO) ? stderr : NULL;
}

static void clear_progress(void)
{
    if (progress_shown)
        fputs("\r\033[K", progress_stream());
    progress_shown = 0;
    last_heard = vccl_wtime();
}

void perf_out_line(const struct perf_opt *opt, const struct perf_run *run, const struct perf_times *out_of_place,
                   const struct perf_times *in)
{
    const struct perf_times *places[2] = {out_of_place, in};
    unsigned flags = run->coll->flags;
    struct line l = {.coll = run->coll->name,
                     .type = flags & PERF_NO_BYTES ? "none" : vccl_type_name(run->type),
                     .op = flags & PERF_OP ? vccl_op_name(run->op) : "none",
                     .bytes = perf_bytes(run),
                     .count = run->count,
                     .root = flags & PERF_ROOT ? run->root : -1};

    clear_progress();
    if (table)
        printf("%12zu %12zu %*s %7s %6d", l.bytes, l.count, type_width, l.type, l.op, l.root);
    for (int i = 0; i < 2; i++) {
        const struct perf_times *t = places[i];
        double alg = t && t->us > 0 ? 1e-3 * (double)l.bytes / t->us : 0, bus = alg * run->coll->bus(run->size);

        if (table)
            print_group(opt, t, alg, bus);
        if (!t)
            continue;
        write_files(opt, &l, i == 0 ? "out" : "in", t, alg, bus);
        wrong_total += t->wrong > 0 ? t->wrong : 0;
        bus_total += bus;
        with_bus++;
    }
    lines++;
    if (table) {
        printf("\n");
        fflush(stdout);
    }
}

void perf_out_progress(const struct perf_run *run)
{
    FILE *to = progress_stream();

    if (!to || vccl_wtime() - last_heard < SILENT_SECONDS)
        return;
    fprintf(to, "\r\033[K%s, %zu bytes, %s ... %d line%s done", run->coll->name, perf_bytes(run),
            run->in_place ? "in place" : "out of place", lines, lines == 1 ? "" : "s");
    fflush(to);
    progress_shown = 1;
    last_heard = vccl_wtime();
}

static int close_one(FILE *f, const char *name)
{
    if (!f)
        return 0;
    if ((f == stdout ? fflush(f) : fclose(f)) == 0)
        return 0;
    fprintf(stderr, "vccl_perf: writing %s: %s\n", name, strerror(errno));
    return 1;
}

int perf_out_close(const struct perf_opt *opt)
{
    double average = with_bus ? bus_total / with_bus : 0;
    int failed = 0;

    clear_progress();
    if (json)
        fprintf(json, "\n], \"wrong\": %lld, \"avg_busbw\": %.6f}\n", (long long)wrong_total, average);
    failed |= close_one(json, opt->json);
    failed |= close_one(csv, opt->csv);
    if (table) {
        if (opt->check)
            printf("# Out of bounds values : %lld %s\n", (long long)wrong_total, wrong_total ? "FAILED" : "OK");
        else
            printf("# Out of bounds values : not checked\n");
        printf("# Avg bus bandwidth    : %g\n#\n", average);
        failed |= close_one(stdout, "stdout");
    }
    return failed || wrong_total > 0;
}
