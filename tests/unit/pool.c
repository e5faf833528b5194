/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/pool.h"

#include <stdint.h>
#include <string.h>

#include "lib/base/stat.h"
#include "tests/unit/unit.h"

START_TEST(objects_are_apart)
{
    static const size_t sizes[] = {0, 1, 8, 17, 64, 100, 4096};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct vcci_pool pool;
        unsigned char *objects[100];

        vcci_pool_init(&pool, sizes[s], 7);
        for (int i = 0; i < 100; i++) {
            objects[i] = vcci_pool_get(&pool);
            ck_assert_ptr_nonnull(objects[i]);
            ck_assert_uint_eq((uintptr_t)objects[i] % 16, 0);
            if (sizes[s] % 64 == 0 && sizes[s] > 0)
                ck_assert_uint_eq((uintptr_t)objects[i] % 64, 0);
            memset(objects[i], i, sizes[s]);
        }
        ck_assert_uint_eq(pool.in_use, 100);
        for (int i = 0; i < 100; i++)
            for (size_t k = 0; k < sizes[s]; k++)
                UNIT_HOLDS(objects[i][k] == i);
        for (int i = 0; i < 100; i++)
            vcci_pool_put(&pool, objects[i]);
        ck_assert_uint_eq(pool.in_use, 0);
        vcci_pool_fini(&pool);
    }
}
END_TEST

START_TEST(allocates_only_to_grow)
{
    struct vcci_pool pool;
    void *held[8];

    vcci_pool_init(&pool, 40, 8);
    uint64_t before = atomic_load(&vcci_stats[VCCI_STAT_allocs]);
    for (int turn = 0; turn < 1000; turn++) {
        for (int i = 0; i < 8; i++)
            held[i] = vcci_pool_get(&pool);
        for (int i = 0; i < 8; i++)
            vcci_pool_put(&pool, held[i]);
    }
    ck_assert_uint_eq(atomic_load(&vcci_stats[VCCI_STAT_allocs]) - before, 1);
    vcci_pool_fini(&pool);
    vcci_pool_fini(&pool);
}
END_TEST

START_TEST(no_memory_is_null)
{
    struct vcci_pool pool;

    vcci_pool_init(&pool, (size_t)1 << 40, (size_t)1 << 20);
    ck_assert_ptr_null(vcci_pool_get(&pool));
    vcci_pool_fini(&pool);
}
END_TEST

START_TEST(counters_are_reported)
{
    char all[4096], cut[10];
    int n;

    VCCI_COUNT(msgs_eager, 41);
    VCCI_COUNT(msgs_eager, 1);
    n = vcci_stat_report(all, sizeof all);
    ck_assert_int_eq((int)strlen(all), n);
    ck_assert_ptr_nonnull(strstr(all, "msgs_eager 42\n"));
    ck_assert_int_eq(vcci_stat_report(cut, sizeof cut), n);
    ck_assert_uint_eq(strlen(cut), sizeof cut - 1);
    ck_assert_int_eq(vcci_stat_report(NULL, 0), n);
}
END_TEST

UNIT_MAIN("pool", objects_are_apart, allocates_only_to_grow, no_memory_is_null, counters_are_reported)
