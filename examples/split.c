/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks with even and with odd numbers in communicators of their own, each with its own sum. */
#include <stdio.h>
#include <vccl.h>

static void check(vccl_result_t result)
{
    if (result != VCCL_SUCCESS)
        vccl_abort(1, vccl_last_error());
}

int main(void)
{
    int rank, size, sums[2] = {0, 0}, mine[2] = {0, 0};
    vccl_comm_t half;

    check(vccl_init());
    check(vccl_comm_rank(VCCL_COMM_WORLD, &rank));
    check(vccl_comm_size(VCCL_COMM_WORLD, &size));
    check(vccl_comm_split(VCCL_COMM_WORLD, rank % 2, rank, &half));

    int half_rank, sum;
    check(vccl_comm_rank(half, &half_rank));
    check(vccl_allreduce(&rank, &sum, 1, VCCL_INT32, VCCL_SUM, half));
    check(vccl_comm_free(&half));

    if (half_rank == 0) /* the first of each half brings its sum */
        mine[rank % 2] = sum;
    check(vccl_reduce(mine, sums, 2, VCCL_INT32, VCCL_SUM, 0, VCCL_COMM_WORLD));
    if (rank == 0)
        printf("even ranks sum up to %d, odd ones to %d\n", sums[0], sums[1]);
    check(vccl_finalize());
    return 0;
}
