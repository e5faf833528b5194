/* SPDX-License-Identifier: BSD-3-Clause
 * Objects of one size on a free list: after warm-up the data path allocates nothing. Not thread-safe: the owner's lock. */
#ifndef VCCI_BASE_POOL_H
#define VCCI_BASE_POOL_H

#include <stddef.h>

struct vcci_pool {
    size_t object_bytes, grow;
    void *free;   /* chained through the first word */
    void *blocks; /* likewise */
    size_t in_use;
};

void vcci_pool_init(struct vcci_pool *pool, size_t object_bytes, size_t grow); /* grow: objects per malloc */
void vcci_pool_fini(struct vcci_pool *pool);                                   /* all objects at once      */
void *vcci_pool_get(struct vcci_pool *pool);                                   /* not zeroed; NULL: no memory */
void vcci_pool_put(struct vcci_pool *pool, void *object);

#endif
