/* SPDX-License-Identifier: BSD-3-Clause
 * Wire-up: carries addresses between the bootstrap and p2p, which know nothing of each other. */
#ifndef VCCI_API_BOOT_H
#define VCCI_API_BOOT_H

#include "lib/api/ctx.h"

/* What the host's first rank tells the others through the bootstrap: the one blob a job on one host needs. */
struct vcci_host_blob {
    uint32_t version, bytes;      /* of the library and of this struct: must be alike */
    struct vcci_shm_addr board, flat;
    struct vcci_cost_params costs; /* all ranks choose algorithms by the same numbers */
};

/* Creates board and the world's flat area (first rank) or opens the board and fetches the blob. */
int vcci_boot_host(struct vcci_ctx *ctx, struct vcci_host_blob *host_out);
/* Opens p2p and the board's bell. */
int vcci_boot_peers(struct vcci_ctx *ctx);
/* Makes VCCL_COMM_WORLD and VCCL_COMM_SELF; the first rank then publishes the blob. */
int vcci_boot_comms(struct vcci_ctx *ctx, struct vcci_host_blob *host);

#endif
