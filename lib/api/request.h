/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by request.c, pt2pt.c and coll.c. */
#ifndef VCCI_API_REQUEST_H
#define VCCI_API_REQUEST_H

#include "lib/api/ctx.h"

/* The handle of an operation that was over before its call returned: waiting for it is free, nothing was allocated. */
#define VCCI_REQUEST_DONE ((vccl_request_t)(uintptr_t)3)

/* From a finished receive (or a probe) to the public status. */
void vcci_fill_status(const struct vcci_xfer *xfer, int err, vccl_status_t *status);

#endif
