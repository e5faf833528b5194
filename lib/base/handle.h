/* SPDX-License-Identifier: BSD-3-Clause
 * Table of handles: 32 bits of generation, 24 of index, 8 of kind (from the top), packed in a pointer-sized number, so that freed, foreign and
 * invented handles are recognised. Lookup takes no lock; alloc and free are serialised inside. */
#ifndef VCCI_BASE_HANDLE_H
#define VCCI_BASE_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define VCCI_HANDLE_CHUNK 256
#define VCCI_HANDLE_CHUNKS_MAX 65536 /* 16 Mi handles */

struct vcci_handle_slot {
    _Atomic(void *) object;
    _Atomic uint32_t generation;
    uint32_t next_free;
};
struct vcci_handles {
    uint8_t kind;
    uint32_t count, free_head;
    pthread_mutex_t lock;
    _Atomic(struct vcci_handle_slot *) *chunks; /* grows a chunk at a time, slots never move */
};

int vcci_handles_init(struct vcci_handles *table, uint8_t kind);
void vcci_handles_fini(struct vcci_handles *table);
/* Stores object under a fresh handle (never 0, above 255). -VCCL_ERR_NO_MEMORY. */
int vcci_handles_alloc(struct vcci_handles *table, void *object, uint64_t *handle_out);
/* The object, or NULL if the handle is not (or no longer) of this table. Inline: every call of the API begins with it. The object is read before
 * the generation, and a slot changes in the order generation, object when it is freed and used again, so the two belong together. */
static inline void *vcci_handles_get(const struct vcci_handles *table, uint64_t handle)
{
    uint32_t index = (uint32_t)handle >> 8;
    struct vcci_handle_slot *chunk = atomic_load_explicit(&table->chunks[index / VCCI_HANDLE_CHUNK], memory_order_acquire);

    if ((uint8_t)handle != table->kind || !chunk)
        return NULL;
    struct vcci_handle_slot *slot = &chunk[index % VCCI_HANDLE_CHUNK];
    void *object = atomic_load_explicit(&slot->object, memory_order_acquire);
    return atomic_load_explicit(&slot->generation, memory_order_acquire) == handle >> 32 ? object : NULL;
}
/* Frees the handle; returns what it named, NULL if nothing (then nothing is freed). */
void *vcci_handles_free(struct vcci_handles *table, uint64_t handle);

#endif
