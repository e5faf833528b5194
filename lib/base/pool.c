/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/pool.h"

#include <stdlib.h>

#include "lib/base/err.h"
#include "lib/base/stat.h"

#define ALIGN 64 /* of blocks; objects whose size is a multiple of it begin on a cache line */
#define GRAIN 16

void vcci_pool_init(struct vcci_pool *pool, size_t object_bytes, size_t grow)
{
    *pool = (struct vcci_pool){.object_bytes = (object_bytes + GRAIN - 1) / GRAIN * GRAIN, .grow = grow ? grow : 1};
    if (pool->object_bytes == 0)
        pool->object_bytes = GRAIN;
}

void vcci_pool_fini(struct vcci_pool *pool)
{
    for (void *block = pool->blocks, *next; block; block = next) {
        next = *(void **)block;
        free(block);
    }
    pool->free = pool->blocks = NULL;
    pool->in_use = 0;
}

static int pool_grow(struct vcci_pool *pool)
{
    size_t bytes = (ALIGN + pool->object_bytes * pool->grow + ALIGN - 1) / ALIGN * ALIGN;
    char *block = aligned_alloc(ALIGN, bytes);

    if (!block)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for %zu objects of %zu bytes", pool->grow, pool->object_bytes);
    VCCI_COUNT(allocs, 1);
    *(void **)block = pool->blocks;
    pool->blocks = block;
    for (size_t i = pool->grow; i-- > 0;) {
        void *object = block + ALIGN + i * pool->object_bytes;

        *(void **)object = pool->free;
        pool->free = object;
    }
    return 0;
}

void *vcci_pool_get(struct vcci_pool *pool)
{
    if (!pool->free && pool_grow(pool) < 0)
        return NULL;
    void *object = pool->free;
    pool->free = *(void **)object;
    pool->in_use++;
    return object;
}

void vcci_pool_put(struct vcci_pool *pool, void *object)
{
    VCCI_ASSERT(pool->in_use > 0);
    *(void **)object = pool->free;
    pool->free = object;
    pool->in_use--;
}
