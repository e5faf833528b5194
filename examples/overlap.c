/* SPDX-License-Identifier: BSD-3-Clause
 * Computing while a large sum is under way: the progress thread moves it on. */
#include <stdio.h>
#include <stdlib.h>
#include <vccl.h>

#define N (1 << 20)

static void check(vccl_result_t result)
{
    if (result != VCCL_SUCCESS)
        vccl_abort(1, vccl_last_error());
}

int main(void)
{
    int rank, size, done = 0;
    float *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
    double work = 0, steps = 0;
    vccl_request_t request;

    check(vccl_init());
    check(vccl_comm_rank(VCCL_COMM_WORLD, &rank));
    check(vccl_comm_size(VCCL_COMM_WORLD, &size));
    if (!in || !out)
        vccl_abort(1, "out of memory");
    for (int i = 0; i < N; i++)
        in[i] = (float)(rank + 1);

    check(vccl_iallreduce(in, out, N, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD, &request));
    while (!done) {
        for (int i = 1; i <= 10000; i++) /* neither in nor out may be touched meanwhile */
            work += 1.0 / i;
        steps++;
        check(vccl_test(&request, &done, VCCL_STATUS_IGNORE));
    }

    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += out[i] != (float)(size * (size + 1) / 2);
    check(vccl_allreduce(VCCL_IN_PLACE, &wrong, 1, VCCL_INT32, VCCL_SUM, VCCL_COMM_WORLD));
    fprintf(stderr, "rank %d computed %.0f steps (%.3g) meanwhile\n", rank, steps, work);
    if (rank == 0)
        printf("%d elements summed, %d wrong\n", N, wrong);
    free(in);
    free(out);
    check(vccl_finalize());
    return wrong != 0;
}
