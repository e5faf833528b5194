/* SPDX-License-Identifier: BSD-3-Clause
 * Heat along a rod, cut into one piece per rank. Before each step neighbours exchange their outermost cells; beyond the rod's
 * ends there is nobody: VCCL_PROC_NULL. */
#include <stdio.h>
#include <string.h>
#include <vccl.h>

#define CELLS 100 /* per rank */
#define STEPS 2000

static void check(vccl_result_t result)
{
    if (result != VCCL_SUCCESS)
        vccl_abort(1, vccl_last_error());
}

int main(void)
{
    double u[CELLS + 2] = {0}, next[CELLS + 2], heat = 0, total;
    int rank, size;

    check(vccl_init());
    check(vccl_comm_rank(VCCL_COMM_WORLD, &rank));
    check(vccl_comm_size(VCCL_COMM_WORLD, &size));
    int left = rank > 0 ? rank - 1 : VCCL_PROC_NULL, right = rank < size - 1 ? rank + 1 : VCCL_PROC_NULL;

    if (rank == 0)
        u[1] = 1000; /* all the heat is at the left end, and none gets out */
    for (int step = 0; step < STEPS; step++) {
        check(vccl_sendrecv(&u[CELLS], 1, VCCL_FLOAT64, right, 0, &u[0], 1, VCCL_FLOAT64, left, 0, VCCL_COMM_WORLD,
                            VCCL_STATUS_IGNORE));
        check(vccl_sendrecv(&u[1], 1, VCCL_FLOAT64, left, 1, &u[CELLS + 1], 1, VCCL_FLOAT64, right, 1, VCCL_COMM_WORLD,
                            VCCL_STATUS_IGNORE));
        if (left == VCCL_PROC_NULL)
            u[0] = u[1];
        if (right == VCCL_PROC_NULL)
            u[CELLS + 1] = u[CELLS];
        for (int i = 1; i <= CELLS; i++)
            next[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1]);
        memcpy(&u[1], &next[1], CELLS * sizeof u[0]);
    }
    for (int i = 1; i <= CELLS; i++)
        heat += u[i];
    check(vccl_reduce(&heat, &total, 1, VCCL_FLOAT64, VCCL_SUM, 0, VCCL_COMM_WORLD));
    if (rank == 0)
        printf("after %d steps the rod's heat is %.6f\n", STEPS, total);
    check(vccl_finalize());
    return 0;
}
