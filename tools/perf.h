/* SPDX-License-Identifier: BSD-3-Clause
 * vccl_perf: what its parts share. */
#ifndef PERF_H
#define PERF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "include/vccl.h"

/* ---- options (perf_opt.c) ---- */
enum perf_report { PERF_RANK0, PERF_AVG, PERF_MIN, PERF_MAX }; /* of the ranks' times, numbered as nccl-tests' -a */

struct perf_opt {
    int coll; /* index of perf_colls, -1: all                     */
    size_t min_bytes, max_bytes;
    size_t step_bytes; /* 0: by factor                                      */
    size_t factor;
    long iters; /* 0: as many as fit into the time of a line         */
    long warmup;
    int check;    /* checked calls per line and place                  */
    int type, op; /* -1: all                                           */
    int root;     /* -1: all                                           */
    int nonblocking, percentiles, mem_alloc, timeout;
    enum perf_report report;
    const char *json, *csv; /* "-": stdout instead of the table; NULL: none */
};

/* Reads the command line. -1: go on; otherwise the exit status (0 after --help, 2 after one line on stderr). Before vccl_init. */
int perf_opt_parse(struct perf_opt *opt, int argc, char **argv);

/* ---- what is run (perf_coll.c) ---- */
struct perf_run;
enum { PERF_OP = 1, PERF_ROOT = 2, PERF_NO_BYTES = 4, PERF_IN_PLACE = 8, PERF_SEND_BLOCKS = 16, PERF_RECV_BLOCKS = 32 };

/* Something to measure. call: one blocking call, or begins and completes the nonblocking twin where run->nonblocking. */
struct perf_coll {
    const char *name;
    unsigned flags;
    double calls;            /* messages that one call stands for: the time is divided by it */
    double (*bus)(double n); /* bus bandwidth by algorithm bandwidth, as nccl-tests has it    */
    vccl_result_t (*call)(const struct perf_run *run);
    int (*source)(const struct perf_run *run, int block); /* whose input must lie in a block of this rank's result */
};
enum { PERF_RESULT = -1, PERF_NOTHING = -2 }; /* source: op over all ranks' inputs / this rank gets nothing there */
extern const struct perf_coll perf_colls[];
extern const int perf_coll_nr;

/* One line's work on this rank. count is what a call is given: per rank where ranks have blocks of their own. */
struct perf_run {
    const struct perf_coll *coll;
    int rank, size, root, in_place, nonblocking;
    vccl_datatype_t type;
    vccl_op_t op;
    size_t count, type_bytes;
    void *send, *recv;
};

size_t perf_send_elements(const struct perf_run *run); /* in this rank's send and receive buffer, out of place */
size_t perf_recv_elements(const struct perf_run *run);
int perf_in_place(const struct perf_run *run); /* does this rank's input lie in its receive buffer? */
size_t perf_bytes(const struct perf_run *run); /* of the larger buffer: the column "size" */

/* ---- data and what must come out (perf_data.c, perf_value.c) ---- */
#define PERF_PERIOD                                                                                                              \
    1021 /* elements after which inputs repeat: a prime, so that no block or chunk of a power of two lands on its like */
#define PERF_GUARD 64 /* bytes behind the result that must stay as they were */

/* The element `index` of `rank`'s input, written to dst: exactly representable, and so is every partial result of `op` (0: none)
 * over `size` ranks in any order. */
void perf_value_input(void *dst, vccl_datatype_t type, vccl_op_t op, int rank, int size, size_t index);
/* op over all ranks' inputs at `index`. */
void perf_value_result(void *dst, vccl_datatype_t type, vccl_op_t op, int size, size_t index);
/* Are two elements equal, padding and the sign of zero aside? */
int perf_value_same(const void *a, const void *b, vccl_datatype_t type);
int perf_op_fits(vccl_op_t op, vccl_datatype_t type);

void perf_data_fill(const struct perf_run *run);    /* inputs, a poisoned receive buffer, the guard behind it */
size_t perf_data_wrong(const struct perf_run *run); /* elements of this rank's result and guard that are not what they must be */

/* ---- time (perf_time.c) ---- */
struct perf_times {
    double us, p50, p99, most; /* per message; the last three only with --percentiles   */
    long iters;
    int64_t wrong; /* over all ranks; -1: not checked                        */
};
/* Measures and checks one line in one place. Collective; times are the same on every rank. Ends the job on an error. */
void perf_measure(const struct perf_opt *opt, const struct perf_run *run, struct perf_times *out);
void perf_ok(vccl_result_t result, const char *what); /* ends the job, naming the call, unless it is VCCL_SUCCESS */

/* ---- output (perf_out.c): rank 0 only ---- */
int perf_out_open(const struct perf_opt *opt); /* 0, or 2 after one line on stderr */
struct perf_rank {                             /* where a rank is; rank 0 gets everybody's */
    long pid;
    char host[56];
};
void perf_out_job(const struct perf_opt *opt, int size, const struct perf_rank *ranks);
void perf_out_heading(const struct perf_opt *opt, const struct perf_coll *coll);
/* in: NULL where there is no such thing as in place. */
void perf_out_line(const struct perf_opt *opt, const struct perf_run *run, const struct perf_times *out_of_place,
                   const struct perf_times *in);
void perf_out_progress(const struct perf_run *run); /* on a terminal, when it has been silent for a while */
int perf_out_close(
    const struct perf_opt *opt); /* the closing lines; exit status: 1 if anything was wrong or could not be written */

#endif
