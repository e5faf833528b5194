/* SPDX-License-Identifier: BSD-3-Clause
 * Short floats: an average of gradients in bfloat16, and where the largest one lies, with a value-index pair. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <vccl.h>

static void check(vccl_result_t result)
{
    if (result != VCCL_SUCCESS)
        vccl_abort(1, vccl_last_error());
}

/* A bfloat16 is the upper half of a float; these values need no rounding. */
static uint16_t to_bfloat16(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float from_bfloat16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

int main(void)
{
    int rank, size;
    uint16_t gradient[2];
    struct {
        float value;
        int32_t rank;
    } mine, largest;

    check(vccl_init());
    check(vccl_comm_rank(VCCL_COMM_WORLD, &rank));
    check(vccl_comm_size(VCCL_COMM_WORLD, &size));
    gradient[0] = to_bfloat16((float)(2 * rank));
    gradient[1] = to_bfloat16(0.5f);
    check(vccl_allreduce(VCCL_IN_PLACE, gradient, 2, VCCL_BFLOAT16, VCCL_AVG, VCCL_COMM_WORLD));

    mine.value = (float)((rank * 3) % size);
    mine.rank = rank;
    check(vccl_allreduce(&mine, &largest, 1, VCCL_FLOAT32_INT32, VCCL_MAXLOC, VCCL_COMM_WORLD));
    if (rank == 0)
        printf("averages %g and %g; the largest value, %g, is on rank %d\n", from_bfloat16(gradient[0]),
               from_bfloat16(gradient[1]), largest.value, largest.rank);
    check(vccl_finalize());
    return 0;
}
