/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The few calls that the benchmark programs make, over VCCL or (with BENCH_MPI) over MPI. One source is built once for each
 * contender, so that all of them run the same loops. Any failure ends the job. */
#ifndef BENCH_LAYER_H
#define BENCH_LAYER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#ifdef BENCH_MPI
#include <mpi.h>

typedef MPI_Comm x_comm;
typedef MPI_Op x_op;
#define X_WORLD      MPI_COMM_WORLD
#define X_SUM        MPI_SUM
#define X_MIN        MPI_MIN
#define X_MAX        MPI_MAX
#define X(mpi, vccl) (void)(mpi)

static inline void x_abort(const char *text)
{
    fprintf(stderr, "%s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void x_init(int threads)
{
    int level;

    MPI_Init_thread(NULL, NULL, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    if (threads && level != MPI_THREAD_MULTIPLE)
        x_abort("this MPI has no MPI_THREAD_MULTIPLE");
}
#else
#include "include/vccl.h"

typedef vccl_comm_t x_comm;
typedef vccl_op_t x_op;
#define X_WORLD      VCCL_COMM_WORLD
#define X_SUM        VCCL_SUM
#define X_MIN        VCCL_MIN
#define X_MAX        VCCL_MAX
#define X(mpi, vccl) x_check(vccl)

static inline void x_abort(const char *text)
{
    vccl_abort(1, text);
}

static inline void x_check(vccl_result_t result)
{
    if (result != VCCL_SUCCESS)
        x_abort(vccl_last_error());
}

static inline void x_init(int threads)
{
    (void)threads;
    x_check(vccl_init());
}
#endif

static inline void x_fini(void)
{
    X(MPI_Finalize(), vccl_finalize());
}

static inline int x_rank(x_comm comm)
{
    int rank;

    X(MPI_Comm_rank(comm, &rank), vccl_comm_rank(comm, &rank));
    return rank;
}

static inline int x_size(x_comm comm)
{
    int size;

    X(MPI_Comm_size(comm, &size), vccl_comm_size(comm, &size));
    return size;
}

static inline x_comm x_dup(x_comm comm)
{
    x_comm dup;

    X(MPI_Comm_dup(comm, &dup), vccl_comm_dup(comm, &dup));
    return dup;
}

static inline void x_free(x_comm *comm)
{
    X(MPI_Comm_free(comm), vccl_comm_free(comm));
}

static inline void x_barrier(x_comm comm)
{
    X(MPI_Barrier(comm), vccl_barrier(comm));
}

/* Doubles: what the programs themselves exchange about their timings. */
static inline void x_allreduce_double(const double *in, double *out, size_t n, x_op op, x_comm comm)
{
    X(MPI_Allreduce(in, out, (int)n, MPI_DOUBLE, op, comm), vccl_allreduce(in, out, n, VCCL_FLOAT64, op, comm));
}

/* Floats: what is timed. n is per rank where every rank has a block of its own. */
static inline void x_bcast(float *buf, size_t n, x_comm comm)
{
    X(MPI_Bcast(buf, (int)n, MPI_FLOAT, 0, comm), vccl_bcast(buf, n, VCCL_FLOAT32, 0, comm));
}

static inline void x_reduce(const float *in, float *out, size_t n, x_comm comm)
{
    X(MPI_Reduce(in, out, (int)n, MPI_FLOAT, MPI_SUM, 0, comm), vccl_reduce(in, out, n, VCCL_FLOAT32, VCCL_SUM, 0, comm));
}

static inline void x_allreduce(const float *in, float *out, size_t n, x_comm comm)
{
    X(MPI_Allreduce(in, out, (int)n, MPI_FLOAT, MPI_SUM, comm), vccl_allreduce(in, out, n, VCCL_FLOAT32, VCCL_SUM, comm));
}

static inline void x_gather(const float *in, float *out, size_t n, x_comm comm)
{
    X(MPI_Gather(in, (int)n, MPI_FLOAT, out, (int)n, MPI_FLOAT, 0, comm),
      vccl_gather(in, n, VCCL_FLOAT32, out, n, VCCL_FLOAT32, 0, comm));
}

static inline void x_scatter(const float *in, float *out, size_t n, x_comm comm)
{
    X(MPI_Scatter(in, (int)n, MPI_FLOAT, out, (int)n, MPI_FLOAT, 0, comm),
      vccl_scatter(in, n, VCCL_FLOAT32, out, n, VCCL_FLOAT32, 0, comm));
}

static inline void x_allgather(const float *in, float *out, size_t n, x_comm comm)
{
    X(MPI_Allgather(in, (int)n, MPI_FLOAT, out, (int)n, MPI_FLOAT, comm),
      vccl_allgather(in, n, VCCL_FLOAT32, out, n, VCCL_FLOAT32, comm));
}

static inline void x_alltoall(const float *in, float *out, size_t n, x_comm comm)
{
    X(MPI_Alltoall(in, (int)n, MPI_FLOAT, out, (int)n, MPI_FLOAT, comm),
      vccl_alltoall(in, n, VCCL_FLOAT32, out, n, VCCL_FLOAT32, comm));
}

static inline void x_reduce_scatter_block(const float *in, float *out, size_t n, x_comm comm)
{
    X(MPI_Reduce_scatter_block(in, out, (int)n, MPI_FLOAT, MPI_SUM, comm),
      vccl_reduce_scatter_block(in, out, n, VCCL_FLOAT32, VCCL_SUM, comm));
}

static inline void x_send(const float *buf, size_t n, int to, x_comm comm)
{
    X(MPI_Send(buf, (int)n, MPI_FLOAT, to, 0, comm), vccl_send(buf, n, VCCL_FLOAT32, to, 0, comm));
}

static inline void x_recv(float *buf, size_t n, int from, x_comm comm)
{
    X(MPI_Recv(buf, (int)n, MPI_FLOAT, from, 0, comm, MPI_STATUS_IGNORE),
      vccl_recv(buf, n, VCCL_FLOAT32, from, 0, comm, VCCL_STATUS_IGNORE));
}

/* A line of /proc such as "VmRSS:     1234 kB"; -1 where it is not there. */
static inline long proc_kib(const char *file, const char *key)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen(file, "r");

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            kib = strtol(line + strlen(key), NULL, 10);
    if (f)
        fclose(f);
    return kib;
}

#endif
