/* SPDX-License-Identifier: BSD-3-Clause
 * What a user of the installed library writes first; tests/install.sh compiles it as C and as C++. */
#include <vccl.h>

#include <stdio.h>

int main(void)
{
    double mine = 2.5, sum = 0;
    int size = 0, major = -1, minor = -1;

    if (vccl_init() != VCCL_SUCCESS || vccl_comm_size(VCCL_COMM_WORLD, &size) != VCCL_SUCCESS ||
        vccl_allreduce(&mine, &sum, 1, VCCL_FLOAT64, VCCL_SUM, VCCL_COMM_WORLD) != VCCL_SUCCESS ||
        vccl_get_version(&major, &minor, NULL) != VCCL_SUCCESS || vccl_finalize() != VCCL_SUCCESS) {
        fprintf(stderr, "%s\n", vccl_last_error());
        return 1;
    }
    return size == 1 && sum == mine && major == VCCL_VERSION_MAJOR && minor == VCCL_VERSION_MINOR ? 0 : 2;
}
