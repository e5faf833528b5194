/* SPDX-License-Identifier: BSD-3-Clause
 * vccl_perf: times and checks collectives and point-to-point patterns. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/perf.h"

static struct perf_opt opt;
static int rank, size;
static int speaks; /* in the timeout's signal handler */

static void out_of_time(int sig)
{
    static const char text[] = "vccl_perf: the job took longer than -T allows\n";

    (void)sig;
    if (speaks && write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(125);
    _exit(124);
}

/* Where the ranks are; the caller frees it. NULL but on rank 0. */
static struct perf_rank *find_ranks(void)
{
    struct perf_rank mine = {.pid = (long)getpid()}, *all = NULL;

    gethostname(mine.host, sizeof mine.host - 1);
    if (rank == 0 && !(all = calloc((size_t)size, sizeof *all)))
        perf_ok(VCCL_ERR_NO_MEMORY, "malloc");
    perf_ok(vccl_gather(&mine, sizeof mine, VCCL_BYTE, all, sizeof mine, VCCL_BYTE, 0, VCCL_COMM_WORLD), "vccl_gather");
    return all;
}

static void *buffer(size_t bytes)
{
    void *p = NULL;

    if (opt.mem_alloc)
        perf_ok(vccl_mem_alloc(bytes, &p), "vccl_mem_alloc");
    else if (posix_memalign(&p, 4096, bytes) != 0)
        perf_ok(VCCL_ERR_NO_MEMORY, "malloc");
    return p;
}

static void buffer_free(void *p)
{
    if (opt.mem_alloc)
        perf_ok(vccl_mem_free(p), "vccl_mem_free");
    else
        free(p);
}

static void one_line(struct perf_run *run)
{
    struct perf_times out, in;

    run->in_place = 0;
    perf_measure(&opt, run, &out);
    if (run->coll->flags & PERF_IN_PLACE) {
        run->in_place = 1;
        perf_measure(&opt, run, &in);
    }
    if (rank == 0)
        perf_out_line(&opt, run, &out, run->coll->flags & PERF_IN_PLACE ? &in : NULL);
}

/* All sizes of one type, op and root. A size that rounds to the count of the one before is left out. */
static void all_sizes(struct perf_run *run)
{
    size_t blocks = run->coll->flags & (PERF_SEND_BLOCKS | PERF_RECV_BLOCKS) ? (size_t)size : 1, last = 0;

    for (size_t bytes = opt.min_bytes; bytes <= opt.max_bytes;) {
        run->count = bytes / run->type_bytes / blocks;
        if (run->count == 0 && bytes > 0)
            run->count = 1;
        if (run->coll->flags & PERF_NO_BYTES)
            run->count = 0;
        if (run->count != last || run->count == 0)
            one_line(run);
        last = run->count;
        if (run->coll->flags & PERF_NO_BYTES)
            break;
        size_t next = opt.step_bytes ? bytes + opt.step_bytes : bytes ? bytes * opt.factor : 1;
        if (next <= bytes)
            break;
        bytes = next;
    }
}

static void all_roots(struct perf_run *run)
{
    int rooted = run->coll->flags & PERF_ROOT;

    for (run->root = rooted && opt.root > 0 ? opt.root : 0; run->root < size; run->root++) {
        all_sizes(run);
        if (!rooted || opt.root >= 0)
            break;
    }
}

/* All types and ops that were asked for and fit. */
static void one_coll(const struct perf_coll *coll, struct perf_run *run)
{
    int moves_only = !(coll->flags & PERF_OP), no_bytes = coll->flags & PERF_NO_BYTES;

    run->coll = coll;
    if (rank == 0)
        perf_out_heading(&opt, coll);
    for (int type = 1; type < VCCL_DATATYPE_NR; type++) {
        if (no_bytes ? type != VCCL_BYTE : opt.type != -1 && opt.type != type)
            continue;
        run->type = (vccl_datatype_t)type;
        perf_ok(vccl_type_size(run->type, &run->type_bytes), "vccl_type_size");
        for (int op = moves_only ? VCCL_OP_NULL : 1; op < (moves_only ? 1 : VCCL_OP_NR); op++) {
            run->op = (vccl_op_t)op;
            if (moves_only || ((opt.op == -1 || opt.op == op) && perf_op_fits(run->op, run->type)))
                all_roots(run);
        }
    }
}

int main(int argc, char **argv)
{
    int status = perf_opt_parse(&opt, argc, argv);
    struct perf_run run;
    struct perf_rank *ranks;

    if (status >= 0)
        return status;
    perf_ok(vccl_init(), "vccl_init");
    perf_ok(vccl_comm_rank(VCCL_COMM_WORLD, &rank), "vccl_comm_rank");
    perf_ok(vccl_comm_size(VCCL_COMM_WORLD, &size), "vccl_comm_size");
    speaks = rank == 0;
    if (opt.timeout) {
        signal(SIGALRM, out_of_time);
        alarm((unsigned)opt.timeout);
    }
    status = rank == 0 ? perf_out_open(&opt) : 0;
    if (rank == 0 && status == 0 && opt.root >= size) {
        fprintf(stderr, "vccl_perf: there is no root %d among %d rank%s\n", opt.root, size, size == 1 ? "" : "s");
        status = 2;
    }
    perf_ok(vccl_bcast(&status, sizeof status, VCCL_BYTE, 0, VCCL_COMM_WORLD), "vccl_bcast");
    if (status == 0) {
        /* the smallest size may round up to one element of 16 bytes per rank */
        size_t bytes = (opt.max_bytes > 16 * (size_t)size ? opt.max_bytes : 16 * (size_t)size) + PERF_GUARD;

        run = (struct perf_run){
            .rank = rank, .size = size, .nonblocking = opt.nonblocking, .send = buffer(bytes), .recv = buffer(bytes)};
        ranks = find_ranks();
        if (rank == 0)
            perf_out_job(&opt, size, ranks);
        free(ranks);
        for (int i = 0; i < perf_coll_nr; i++)
            if (opt.coll == -1 || opt.coll == i)
                one_coll(&perf_colls[i], &run);
        buffer_free(run.send);
        buffer_free(run.recv);
        if (rank == 0)
            status = perf_out_close(&opt);
        perf_ok(vccl_bcast(&status, sizeof status, VCCL_BYTE, 0, VCCL_COMM_WORLD), "vccl_bcast");
    }
    perf_ok(vccl_finalize(), "vccl_finalize");
    return status;
}
