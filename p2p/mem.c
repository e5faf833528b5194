/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that peers may map (vccl_mem_alloc). Each segment is a shared memory object; the owner lists it in its inbox's header, a peer that is offered a
 * message from it maps it once and keeps the mapping while there is room. */
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/base/err.h"
#include "p2p/inside.h"

#define DATA_AT ((size_t)4096) /* of a segment: pages begin after its nonce */
#define MAPS_MAX 32            /* segments of one peer mapped at a time */

struct segment {
    struct vcci_list node;
    struct vcci_shm shm;
    uint64_t base;
    size_t bytes;
    uint32_t id; /* 0: the table was full; peers cannot find it */
};
struct vcci_mem {
    struct vcci_list segments;
    uint32_t uses; /* makes ids of one slot differ */
};
struct map { /* a peer's segment, mapped here */
    struct vcci_list node;
    struct vcci_shm shm;
    uint32_t id;
    uint64_t base;
};

/* ---- the owner ---- */

static uint32_t list_segment(struct vcci_p2p *p2p, const struct segment *segment, const struct vcci_shm_addr *addr)
{
    for (uint32_t i = 0; p2p->inbox && i < VCCI_MEM_SLOTS; i++) {
        struct vcci_mem_entry *entry = &p2p->inbox->mem[i];
        if (atomic_load_explicit(&entry->id, memory_order_relaxed))
            continue;
        uint32_t id = ++p2p->mem->uses * VCCI_MEM_SLOTS + i;
        entry->base = segment->base;
        entry->addr = *addr;
        atomic_store_explicit(&entry->id, id, memory_order_release);
        return id;
    }
    return 0;
}

static int alloc(struct vcci_p2p *p2p, size_t bytes, void **ptr_out)
{
    struct vcci_shm_addr addr;
    if (!p2p->mem) {
        p2p->mem = calloc(1, sizeof *p2p->mem);
        if (!p2p->mem)
            return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory");
        vcci_list_init(&p2p->mem->segments);
    }
    struct segment *segment = calloc(1, sizeof *segment);
    if (!segment)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a segment of %zu bytes", bytes);
    int err = bytes > SIZE_MAX / 2 ? vcci_fail(VCCL_ERR_NO_MEMORY, "no memory has %zu bytes", bytes)
                                   : vcci_shm_create(&segment->shm, DATA_AT + bytes, &addr);
    if (err) {
        free(segment);
        return err;
    }
    segment->bytes = bytes;
    segment->base = (uint64_t)(uintptr_t)segment->shm.base + DATA_AT;
    segment->id = list_segment(p2p, segment, &addr);
    vcci_list_push(&p2p->mem->segments, &segment->node);
    *ptr_out = (void *)(uintptr_t)segment->base;
    return 0;
}

int vcci_p2p_mem_alloc(struct vcci_p2p *p2p, size_t bytes, void **ptr_out)
{
    vcci_engine_lock(p2p->engine);
    int err = alloc(p2p, bytes, ptr_out);
    vcci_engine_unlock(p2p->engine);
    return err;
}

/* Peers may have it mapped for a while yet, so its pages are given back here and now. */
static void segment_free(struct vcci_p2p *p2p, struct segment *segment)
{
    if (segment->id)
        atomic_store_explicit(&p2p->inbox->mem[segment->id % VCCI_MEM_SLOTS].id, 0, memory_order_release);
    madvise((void *)(uintptr_t)segment->base, segment->shm.bytes - DATA_AT, MADV_REMOVE);
    vcci_shm_close(&segment->shm);
    vcci_list_remove(&segment->node);
    free(segment);
}

static struct segment *find(struct vcci_p2p *p2p, uint64_t addr)
{
    if (!p2p->mem)
        return NULL;
    VCCI_LIST_EACH(it, &p2p->mem->segments) {
        struct segment *segment = VCCI_CONTAINER(it, struct segment, node);
        if (addr >= segment->base && addr - segment->base <= segment->bytes)
            return segment;
    }
    return NULL;
}

int vcci_p2p_mem_free(struct vcci_p2p *p2p, void *ptr)
{
    vcci_engine_lock(p2p->engine);
    struct segment *segment = find(p2p, (uint64_t)(uintptr_t)ptr);
    int err = 0;
    if (segment && segment->base == (uint64_t)(uintptr_t)ptr)
        segment_free(p2p, segment);
    else
        err = vcci_fail(VCCL_ERR_ARG, "%p was not allocated by vccl_mem_alloc, or has been freed", ptr);
    vcci_engine_unlock(p2p->engine);
    return err;
}

uint32_t vcci_mem_find(struct vcci_p2p *p2p, const void *ptr, size_t bytes)
{
    uint64_t addr = (uint64_t)(uintptr_t)ptr;
    const struct segment *segment = find(p2p, addr);
    return segment && bytes <= segment->bytes - (addr - segment->base) ? segment->id : 0;
}

void vcci_mem_fini(struct vcci_p2p *p2p)
{
    while (p2p->mem && !vcci_list_empty(&p2p->mem->segments))
        segment_free(p2p, VCCI_CONTAINER(p2p->mem->segments.next, struct segment, node));
    free(p2p->mem);
    p2p->mem = NULL;
}

/* ---- the peer ---- */

static void unmap(struct vcci_peer *peer, struct map *map)
{
    vcci_shm_close(&map->shm);
    vcci_list_remove(&map->node);
    peer->n_maps--;
    free(map);
}

void vcci_mem_unmap_all(struct vcci_peer *peer)
{
    while (!vcci_list_empty(&peer->maps))
        unmap(peer, VCCI_CONTAINER(peer->maps.next, struct map, node));
}

static struct map *map_new(struct vcci_peer *peer, uint32_t id)
{
    if (!peer->inbox && !vcci_peer_ready(peer))
        return NULL;
    struct vcci_mem_entry *entry = &peer->inbox->mem[id % VCCI_MEM_SLOTS];
    if (atomic_load_explicit(&entry->id, memory_order_acquire) != id)
        return NULL;
    struct vcci_shm_addr addr = entry->addr; /* freed and reused meanwhile? Then its nonce is wrong. */
    uint64_t base = entry->base;
    struct map *map = calloc(1, sizeof *map);
    if (!map || vcci_shm_open(&map->shm, &addr)) {
        free(map);
        return NULL;
    }
    map->id = id;
    map->base = base;
    if (peer->n_maps == MAPS_MAX) /* the one not used for longest */
        unmap(peer, VCCI_CONTAINER(peer->maps.next, struct map, node));
    vcci_list_push(&peer->maps, &map->node);
    peer->n_maps++;
    return map;
}

static struct map *map_find(struct vcci_peer *peer, uint32_t id)
{
    for (struct vcci_list *it = peer->maps.prev; it != &peer->maps; it = it->prev) {
        struct map *map = VCCI_CONTAINER(it, struct map, node);
        if (map->id != id)
            continue;
        vcci_list_remove(&map->node);
        vcci_list_push(&peer->maps, &map->node);
        return map;
    }
    return map_new(peer, id);
}

const void *vcci_mem_map(struct vcci_peer *peer, uint32_t id, uint64_t addr, size_t bytes)
{
    const struct map *map = map_find(peer, id);
    if (!map || addr < map->base)
        return NULL;
    uint64_t at = addr - map->base, room = map->shm.bytes - DATA_AT;
    if (at > room || bytes > room - at)
        return NULL;
    return (const char *)map->shm.base + DATA_AT + at;
}
