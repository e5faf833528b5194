/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/handle.h"

#include <stdlib.h>

#include "lib/base/err.h"
#include "lib/base/stat.h"

#define NONE UINT32_MAX

static struct vcci_handle_slot *slot_at(const struct vcci_handles *table, uint32_t index)
{
    struct vcci_handle_slot *chunk = atomic_load_explicit(&table->chunks[index / VCCI_HANDLE_CHUNK], memory_order_relaxed);

    return &chunk[index % VCCI_HANDLE_CHUNK];
}

int vcci_handles_init(struct vcci_handles *table, uint8_t kind)
{
    /* 512 KiB of address space, of which a page is touched as long as there are fewer than 131,072 handles. */
    table->chunks = calloc(VCCI_HANDLE_CHUNKS_MAX, sizeof *table->chunks);
    if (!table->chunks)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a table of handles");
    table->kind = kind;
    table->count = 0;
    table->free_head = NONE;
    pthread_mutex_init(&table->lock, NULL);
    return 0;
}

void vcci_handles_fini(struct vcci_handles *table)
{
    if (!table->chunks)
        return;
    for (uint32_t i = 0; i < table->count / VCCI_HANDLE_CHUNK; i++)
        free(atomic_load_explicit(&table->chunks[i], memory_order_relaxed));
    free((void *)table->chunks);
    table->chunks = NULL;
    table->count = 0;
    pthread_mutex_destroy(&table->lock);
}

/* Adds a chunk of free slots. Lock held, free list empty. */
static int handles_grow(struct vcci_handles *table)
{
    if (table->count / VCCI_HANDLE_CHUNK == VCCI_HANDLE_CHUNKS_MAX)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "all %u handles of a kind are in use", table->count);
    struct vcci_handle_slot *chunk = calloc(VCCI_HANDLE_CHUNK, sizeof *chunk);
    if (!chunk)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for %d more handles", VCCI_HANDLE_CHUNK);
    VCCI_COUNT(allocs, 1);
    for (uint32_t i = 0; i < VCCI_HANDLE_CHUNK; i++) {
        atomic_init(&chunk[i].generation, 1);
        chunk[i].next_free = i + 1 < VCCI_HANDLE_CHUNK ? table->count + i + 1 : NONE;
    }
    table->free_head = table->count;
    atomic_store_explicit(&table->chunks[table->count / VCCI_HANDLE_CHUNK], chunk, memory_order_release);
    table->count += VCCI_HANDLE_CHUNK;
    return 0;
}

int vcci_handles_alloc(struct vcci_handles *table, void *object, uint64_t *handle_out)
{
    int rc = 0;

    pthread_mutex_lock(&table->lock);
    if (table->free_head == NONE)
        rc = handles_grow(table);
    if (rc == 0) {
        uint32_t index = table->free_head;
        struct vcci_handle_slot *slot = slot_at(table, index);

        table->free_head = slot->next_free;
        *handle_out = (uint64_t)atomic_load_explicit(&slot->generation, memory_order_relaxed) << 32 | index << 8 | table->kind;
        atomic_store_explicit(&slot->object, object, memory_order_release);
    }
    pthread_mutex_unlock(&table->lock);
    return rc;
}

void *vcci_handles_free(struct vcci_handles *table, uint64_t handle)
{
    pthread_mutex_lock(&table->lock);
    void *object = vcci_handles_get(table, handle);
    if (object) {
        uint32_t index = (uint32_t)handle >> 8, next = (uint32_t)(handle >> 32) + 1;
        struct vcci_handle_slot *slot = slot_at(table, index);

        /* Generation 0 is never given out, so that no handle is below 256. */
        atomic_store_explicit(&slot->generation, next ? next : 1, memory_order_release);
        atomic_store_explicit(&slot->object, NULL, memory_order_release);
        slot->next_free = table->free_head;
        table->free_head = index;
    }
    pthread_mutex_unlock(&table->lock);
    return object;
}
