/* SPDX-License-Identifier: BSD-3-Clause
 * A token goes round: each rank adds its number and passes it on. */
#include <stdio.h>
#include <vccl.h>

static void check(vccl_result_t result)
{
    if (result != VCCL_SUCCESS)
        vccl_abort(1, vccl_last_error());
}

int main(void)
{
    int rank, size, token = 0;
    vccl_request_t request;
    vccl_status_t status;

    check(vccl_init());
    check(vccl_comm_rank(VCCL_COMM_WORLD, &rank));
    check(vccl_comm_size(VCCL_COMM_WORLD, &size));
    int next = (rank + 1) % size;

    if (rank == 0) {
        /* nonblocking: with a single rank, the receive below is what lets this send end */
        check(vccl_isend(&token, 1, VCCL_INT32, next, 7, VCCL_COMM_WORLD, &request));
        int back;
        check(vccl_recv(&back, 1, VCCL_INT32, VCCL_ANY_SOURCE, 7, VCCL_COMM_WORLD, &status));
        check(vccl_wait(&request, VCCL_STATUS_IGNORE));
        printf("the token came back from rank %d with %d\n", status.source, back);
    } else {
        check(vccl_recv(&token, 1, VCCL_INT32, rank - 1, 7, VCCL_COMM_WORLD, VCCL_STATUS_IGNORE));
        token += rank;
        check(vccl_send(&token, 1, VCCL_INT32, next, 7, VCCL_COMM_WORLD));
    }
    check(vccl_finalize());
    return 0;
}
