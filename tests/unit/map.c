/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/map.h"

#include <stdint.h>

#include "lib/base/stat.h"
#include "tests/unit/unit.h"

#define KEYS 512

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

START_TEST(empty_map)
{
    struct vcci_map map;
    size_t cursor = 0;

    vcci_map_init(&map);
    ck_assert_ptr_null(vcci_map_get(&map, 1));
    ck_assert_ptr_null(vcci_map_del(&map, 1));
    ck_assert_ptr_null(vcci_map_next(&map, &cursor, NULL));
    vcci_map_fini(&map);
}
END_TEST

/* Random puts and deletions against a plain array; keys are spread so that some share their low, some only their high bits. */
static void against_array(int shift, uint64_t seed)
{
    static char values[KEYS * 2];
    void *model[KEYS] = {0};
    struct vcci_map map;
    uint64_t state = seed;

    vcci_map_init(&map);
    for (int turn = 0; turn < 20000; turn++) {
        uint64_t r = random_next(&state), k = r % KEYS;
        void *value = &values[r >> 20 & (KEYS * 2 - 1)];

        if (r >> 40 & 1) {
            UNIT_HOLDS(vcci_map_put(&map, k << shift, value) == 0);
            model[k] = value;
        } else {
            UNIT_HOLDS(vcci_map_del(&map, k << shift) == model[k]);
            model[k] = NULL;
        }
        k = r >> 50 & (KEYS - 1);
        UNIT_HOLDS(vcci_map_get(&map, k << shift) == model[k]);
    }
    vcci_map_fini(&map);
}

START_TEST(like_an_array)
{
    for (int shift = 0; shift <= 55; shift += 11)
        for (uint64_t seed = 1; seed < 4; seed++)
            against_array(shift, seed);
}
END_TEST

/* A walk that deletes what `seed` picks sees each entry exactly once. */
static void walk_deleting(unsigned entries, uint64_t seed)
{
    static char values[KEYS];
    struct vcci_map map;
    int seen[KEYS] = {0};
    size_t cursor = 0;
    uint64_t state = seed, key, key_of[KEYS];
    void *value;
    unsigned deleted = 0;

    vcci_map_init(&map);
    for (unsigned i = 0; i < entries; i++) {
        key_of[i] = random_next(&state);
        UNIT_HOLDS(vcci_map_put(&map, key_of[i], &values[i]) == 0);
    }
    while ((value = vcci_map_next(&map, &cursor, &key)) != NULL) {
        size_t i = (size_t)((char *)value - values);

        UNIT_HOLDS(key == key_of[i]);
        seen[i]++;
        if (random_next(&state) % 4 != 0) {
            UNIT_HOLDS(vcci_map_del(&map, key) == value);
            deleted++;
        }
    }
    for (unsigned i = 0; i < entries; i++)
        UNIT_HOLDS(seen[i] == 1);
    ck_assert_uint_eq(map.live, entries - deleted);
    vcci_map_fini(&map);
}

START_TEST(walk_may_delete)
{
    for (uint64_t seed = 1; seed <= 300; seed++)
        walk_deleting((unsigned)(seed * 7 % KEYS), seed);
}
END_TEST

START_TEST(churn_allocates_nothing)
{
    static char value;
    struct vcci_map map;
    uint64_t state = 9, keys[10] = {0};

    vcci_map_init(&map);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(vcci_map_put(&map, keys[i] = random_next(&state), &value), 0);
    uint64_t before = atomic_load(&vcci_stats[VCCI_STAT_allocs]);
    for (int turn = 0; turn < 100000; turn++) {
        UNIT_HOLDS(vcci_map_del(&map, keys[turn % 10]) == &value);
        UNIT_HOLDS(vcci_map_put(&map, keys[turn % 10] = random_next(&state), &value) == 0);
    }
    ck_assert_uint_eq(atomic_load(&vcci_stats[VCCI_STAT_allocs]), before);
    vcci_map_fini(&map);
}
END_TEST

UNIT_MAIN("map", empty_map, like_an_array, walk_may_delete, churn_allocates_nothing)
