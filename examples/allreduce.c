/* SPDX-License-Identifier: BSD-3-Clause
 * The sum of all ranks' vectors, on every rank. */
#include <stdio.h>
#include <vccl.h>

int main(void)
{
    int rank, size;
    float mine[4], sum[4];

    if (vccl_init() != VCCL_SUCCESS)
        vccl_abort(1, vccl_last_error());
    vccl_comm_rank(VCCL_COMM_WORLD, &rank);
    vccl_comm_size(VCCL_COMM_WORLD, &size);
    for (int i = 0; i < 4; i++)
        mine[i] = (float)(rank + i);
    if (vccl_allreduce(mine, sum, 4, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD) != VCCL_SUCCESS)
        vccl_abort(1, vccl_last_error());
    if (rank == 0)
        printf("%d ranks: %g %g %g %g\n", size, sum[0], sum[1], sum[2], sum[3]);
    return vccl_finalize() == VCCL_SUCCESS ? 0 : 1;
}
