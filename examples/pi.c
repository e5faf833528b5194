/* SPDX-License-Identifier: BSD-3-Clause
 * Pi as the integral of 4 / (1 + x * x): each rank takes every size-th strip, reduce adds them up. */
#include <math.h>
#include <stdio.h>
#include <vccl.h>

#define STRIPS 1000000

static void check(vccl_result_t result)
{
    if (result != VCCL_SUCCESS)
        vccl_abort(1, vccl_last_error());
}

int main(void)
{
    int rank, size;
    double mine = 0, pi = 0;

    check(vccl_init());
    check(vccl_comm_rank(VCCL_COMM_WORLD, &rank));
    check(vccl_comm_size(VCCL_COMM_WORLD, &size));
    for (int i = rank; i < STRIPS; i += size) {
        double x = (i + 0.5) / STRIPS;
        mine += 4 / (1 + x * x) / STRIPS;
    }
    check(vccl_reduce(&mine, &pi, 1, VCCL_FLOAT64, VCCL_SUM, 0, VCCL_COMM_WORLD));
    if (rank == 0)
        printf("pi is about %.10f\n", pi);
    check(vccl_finalize());
    return rank == 0 && fabs(pi - 3.14159265358979) > 1e-9;
}
