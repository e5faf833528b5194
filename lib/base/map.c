/* SPDX-License-Identifier: BSD-3-Clause
 * Linear probing; a deletion shifts what follows back, so there are no tombstones and a map that is filled and emptied for ever
 * never allocates again. */
#include "lib/base/map.h"

#include <stdlib.h>

#include "lib/base/err.h"
#include "lib/base/stat.h"

#define CAP_MIN 16

struct vcci_map_slot {
    uint64_t key;
    void *value; /* NULL: empty */
};

static size_t map_home(const struct vcci_map *map, uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    return (size_t)(key ^ key >> 29) & (map->cap - 1);
}

/* The slot of key, or the empty one where it would go. There is always an empty one. */
static size_t map_find(const struct vcci_map *map, uint64_t key)
{
    size_t i = map_home(map, key);

    while (map->slots[i].value && map->slots[i].key != key)
        i = (i + 1) & (map->cap - 1);
    return i;
}

void vcci_map_init(struct vcci_map *map)
{
    *map = (struct vcci_map){0};
}

void vcci_map_fini(struct vcci_map *map)
{
    free(map->slots);
    vcci_map_init(map);
}

void *vcci_map_get(const struct vcci_map *map, uint64_t key)
{
    return map->live ? map->slots[map_find(map, key)].value : NULL;
}

static int map_grow(struct vcci_map *map)
{
    struct vcci_map bigger = {.cap = map->cap ? map->cap * 2 : CAP_MIN, .live = map->live};

    bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a map of %zu entries", bigger.cap);
    VCCI_COUNT(allocs, 1);
    for (size_t i = 0; i < map->cap; i++)
        if (map->slots[i].value)
            bigger.slots[map_find(&bigger, map->slots[i].key)] = map->slots[i];
    free(map->slots);
    *map = bigger;
    return 0;
}

int vcci_map_put(struct vcci_map *map, uint64_t key, void *value)
{
    size_t i = map->cap ? map_find(map, key) : 0;
    int rc;

    VCCI_ASSERT(value != NULL);
    if (!map->cap || !map->slots[i].value) {
        if ((map->live + 1) * 4 > map->cap * 3) {
            if ((rc = map_grow(map)) < 0)
                return rc;
            i = map_find(map, key);
        }
        map->live++;
    }
    map->slots[i] = (struct vcci_map_slot){key, value};
    return 0;
}

void *vcci_map_del(struct vcci_map *map, uint64_t key)
{
    size_t mask = map->cap - 1, hole;
    void *value;

    if (!map->live)
        return NULL;
    hole = map_find(map, key);
    value = map->slots[hole].value;
    if (!value)
        return NULL;
    for (size_t i = (hole + 1) & mask; map->slots[i].value; i = (i + 1) & mask) {
        /* Its probe path from home to i must lead over the hole, else it would be lost. */
        if (((i - map_home(map, map->slots[i].key)) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].value = NULL;
    map->live--;
    return value;
}

/* Walks downward from an empty slot: a deletion moves only entries that were already seen. *cursor holds that slot and the steps
 * done. */
void *vcci_map_next(const struct vcci_map *map, size_t *cursor, uint64_t *key_out)
{
    size_t from = *cursor >> 32, step = *cursor & UINT32_MAX;

    if (!map->live)
        return NULL;
    if (step == 0)
        while (map->slots[from].value)
            from++;
    while (++step < map->cap) {
        const struct vcci_map_slot *slot = &map->slots[(from - step) & (map->cap - 1)];

        if (slot->value) {
            *cursor = from << 32 | step;
            if (key_out)
                *key_out = slot->key;
            return slot->value;
        }
    }
    *cursor = from << 32 | (map->cap - 1);
    return NULL;
}
