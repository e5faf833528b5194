/* SPDX-License-Identifier: BSD-3-Clause
 * How fast the reductions are: GB/s of what is read and written, by type, op, level and number of sources, from a level-2 cache
 * and from memory, beside memcpy (make tests/unit/reduce_bench). Each figure is the best of many short turns, and the candidates
 * take turns, so that a loaded machine disturbs little. Usage: reduce_bench [TYPE [OP]] */
#include "lib/device/reduce.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/cpu.h"
#include "lib/device/dtype.h"

enum { SRCS = 16, TURNS = 40 };

static const unsigned ns[] = {2, 3, 4, 8, 16};
static char *buffers[SRCS + 1];

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double memcpy_ns(size_t bytes, int calls)
{
    double start = now_ns();
    for (int i = 0; i < calls; i++) {
        memcpy(buffers[SRCS], buffers[0], bytes);
        __asm__ volatile("" ::: "memory");
    }
    return (now_ns() - start) / calls;
}

static double copy_stream_ns(size_t bytes, int calls)
{
    double start = now_ns();
    for (int i = 0; i < calls; i++)
        vcci_copy_stream(buffers[SRCS], buffers[0], bytes);
    return (now_ns() - start) / calls;
}

static double reduce_ns(vcci_reduce_fn *fn, unsigned n, size_t count, int calls)
{
    double start = now_ns();
    for (int i = 0; i < calls; i++)
        fn(buffers[SRCS], (const void *const *)buffers, n, count);
    return (now_ns() - start) / calls;
}

static void least(double *best, double x)
{
    if (x < *best)
        *best = x;
}

/* One line: every n, the kernel and (where there is one) its streaming variant. */
static void line(vccl_op_t op, vccl_datatype_t type, size_t bytes, int calls)
{
    vcci_reduce_fn *fn = vcci_reduce_find(op, type), *stream = vcci_reduce_stream_find(op, type);
    double best[6], streamed[6];
    for (int k = 0; k < 6; k++)
        best[k] = streamed[k] = 1e18;
    for (int turn = 0; turn < TURNS; turn++) {
        least(&best[5], memcpy_ns(bytes, calls));
        least(&streamed[5], copy_stream_ns(bytes, calls));
        for (int k = 0; k < 5; k++) {
            least(&best[k], reduce_ns(fn, ns[k], bytes / vcci_dtype_bytes[type], calls));
            if (stream != fn)
                least(&streamed[k], reduce_ns(stream, ns[k], bytes / vcci_dtype_bytes[type], calls));
        }
    }
    printf("%9.1f", 2 * (double)bytes / best[5]);
    for (int k = 0; k < 5; k++)
        printf("%8.1f", (ns[k] + 1) * (double)bytes / best[k]);
    if (stream != fn) {
        printf("   streaming %8.1f", 2 * (double)bytes / streamed[5]);
        for (int k = 0; k < 5; k++)
            printf("%8.1f", (ns[k] + 1) * (double)bytes / streamed[k]);
    }
    printf("\n");
}

static void small(vccl_op_t op, vccl_datatype_t type)
{
    static const size_t counts[] = {1, 2, 3, 4, 7, 16, 100};
    vcci_reduce_fn *fn = vcci_reduce_find(op, type);
    printf("  ns a call, 2 sources, elements:");
    for (int c = 0; c < 7; c++) {
        double best = 1e18;
        for (int turn = 0; turn < TURNS; turn++)
            least(&best, reduce_ns(fn, 2, counts[c], 2000));
        printf("  %zu: %.1f", counts[c], best);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    const size_t big = getenv("REDUCE_BENCH_BYTES") ? strtoul(getenv("REDUCE_BENCH_BYTES"), NULL, 0) : 4 << 20;
    for (int i = 0; i <= SRCS; i++) {
        buffers[i] = aligned_alloc(4096, big + 4096);
        if (buffers[i] == NULL)
            return 1;
        memset(buffers[i], 0, big + 4096);
        buffers[i] += 64 * i; /* not all in the same cache sets */
    }
    printf("GB/s read and written; columns: memcpy, 2, 3, 4, 8 and 16 sources\n");
    for (int t = 1; t < VCCL_DATATYPE_NR; t++)
        for (int op = 1; op < VCCL_OP_NR; op++) {
            vccl_datatype_t type = (vccl_datatype_t)t;
            if (!vcci_op_fits((vccl_op_t)op, type) || op == VCCL_AVG ||
                (argc > 1 && strcmp(argv[1], vcci_dtype_name(type)) != 0) ||
                (argc > 2 && strcmp(argv[2], vcci_op_name((vccl_op_t)op)) != 0))
                continue;
            for (int isa = 0; isa <= (int)vcci_cpu_isa(); isa++) {
                vcci_reduce_force_isa(isa);
                printf("%s %s %s\n  64 KiB", vcci_dtype_name(type), vcci_op_name((vccl_op_t)op),
                       vcci_cpu_isa_name((enum vcci_cpu_isa)isa));
                line((vccl_op_t)op, type, 64 << 10, 20);
                printf("  %zu KiB", big >> 10);
                line((vccl_op_t)op, type, big, 1);
                small((vccl_op_t)op, type);
            }
        }
    return 0;
}
