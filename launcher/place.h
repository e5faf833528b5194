/* SPDX-License-Identifier: BSD-3-Clause
 * Which cores each rank of this host may use. */
#ifndef VCCI_LAUNCHER_PLACE_H
#define VCCI_LAUNCHER_PLACE_H

#include <sched.h>
#include <stddef.h>

#include "launcher/opt.h"

struct vcci_place {
    int size, bound; /* bound 0: no rank is bound, sets is NULL */
    size_t set_bytes;
    char *sets; /* [size][set_bytes], cpu_set_t */
    enum vcci_bind bind;
};

/* Decides for `size` ranks from what this process may use itself. Errors: VCCL_ERR_SYSTEM when the machine cannot be looked at,
 * VCCL_ERR_UNSUPPORTED when what was asked for cannot be done here. */
int vcci_place_ranks(struct vcci_place *place, const struct vcci_opt *opt, int size, int cores);
void vcci_place_free(struct vcci_place *place);

const cpu_set_t *vcci_place_set(const struct vcci_place *place, int rank); /* NULL: not bound */
/* "core of cpus 0,2" or "not bound"; as snprintf. */
int vcci_place_text(const struct vcci_place *place, int rank, char *buf, size_t cap);

#endif
