/* SPDX-License-Identifier: BSD-3-Clause
 * Hash map from uint64_t to pointer (open addressing, grows by doubling). Not thread-safe: the owner's lock. */
#ifndef VCCI_BASE_MAP_H
#define VCCI_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct vcci_map {
    struct vcci_map_slot *slots;
    size_t cap, live;
};

void vcci_map_init(struct vcci_map *map); /* allocates nothing */
void vcci_map_fini(struct vcci_map *map);
void *vcci_map_get(const struct vcci_map *map, uint64_t key); /* NULL: not there */
int vcci_map_put(struct vcci_map *map, uint64_t key, void *value); /* replaces; value not NULL; -VCCL_ERR_NO_MEMORY */
void *vcci_map_del(struct vcci_map *map, uint64_t key);            /* what was there, or NULL */
/* Walks: *cursor starts at 0; returns NULL at the end. Deleting the current one is allowed, putting is not. key_out may be NULL. */
void *vcci_map_next(const struct vcci_map *map, size_t *cursor, uint64_t *key_out);

#endif
