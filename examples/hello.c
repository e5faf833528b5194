/* SPDX-License-Identifier: BSD-3-Clause
 * Every rank says who it is, in order. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <vccl.h>

int main(void)
{
    struct {
        int rank;
        char host[60];
    } me = {0}, *all = NULL;
    int size;

    if (vccl_init() != VCCL_SUCCESS) {
        fprintf(stderr, "%s\n", vccl_last_error());
        return 1;
    }
    vccl_comm_rank(VCCL_COMM_WORLD, &me.rank);
    vccl_comm_size(VCCL_COMM_WORLD, &size);
    gethostname(me.host, sizeof me.host - 1);

    if (me.rank == 0)
        all = malloc((size_t)size * sizeof *all);
    if (vccl_gather(&me, sizeof me, VCCL_BYTE, all, sizeof me, VCCL_BYTE, 0, VCCL_COMM_WORLD) != VCCL_SUCCESS)
        vccl_abort(1, vccl_last_error());
    for (int i = 0; me.rank == 0 && i < size; i++)
        printf("hello from rank %d of %d on %s\n", all[i].rank, size, all[i].host);
    free(all);
    return vccl_finalize() == VCCL_SUCCESS ? 0 : 1;
}
