/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/handle.h"

#include <pthread.h>

#include "tests/unit/unit.h"

START_TEST(names_its_object)
{
    struct vcci_handles table;
    static int objects[1000];
    uint64_t handles[1000];

    ck_assert_int_eq(vcci_handles_init(&table, 7), 0);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(vcci_handles_alloc(&table, &objects[i], &handles[i]), 0);
        ck_assert_uint_gt(handles[i], 255);
    }
    for (int i = 0; i < 1000; i++)
        ck_assert_ptr_eq(vcci_handles_get(&table, handles[i]), &objects[i]);
    for (int i = 0; i < 1000; i += 2)
        ck_assert_ptr_eq(vcci_handles_free(&table, handles[i]), &objects[i]);
    for (int i = 0; i < 1000; i++)
        ck_assert_ptr_eq(vcci_handles_get(&table, handles[i]), i % 2 ? &objects[i] : NULL);
    vcci_handles_fini(&table);
    vcci_handles_fini(&table);
}
END_TEST

START_TEST(stale_handles_are_known)
{
    struct vcci_handles table;
    int object[2];
    uint64_t first, second;

    ck_assert_int_eq(vcci_handles_init(&table, 1), 0);
    for (int turn = 0; turn < 1000; turn++) {
        ck_assert_int_eq(vcci_handles_alloc(&table, &object[0], &first), 0);
        ck_assert_ptr_eq(vcci_handles_free(&table, first), &object[0]);
        ck_assert_ptr_null(vcci_handles_free(&table, first));
        ck_assert_int_eq(vcci_handles_alloc(&table, &object[1], &second), 0);
        ck_assert_uint_ne(first, second);
        ck_assert_ptr_null(vcci_handles_get(&table, first));
        ck_assert_ptr_null(vcci_handles_free(&table, first));
        ck_assert_ptr_eq(vcci_handles_get(&table, second), &object[1]);
        ck_assert_ptr_eq(vcci_handles_free(&table, second), &object[1]);
    }
    vcci_handles_fini(&table);
}
END_TEST

START_TEST(foreign_handles_are_known)
{
    struct vcci_handles table, other;
    int object;
    uint64_t handle, foreign;

    ck_assert_int_eq(vcci_handles_init(&table, 1), 0);
    ck_assert_int_eq(vcci_handles_init(&other, 2), 0);
    ck_assert_ptr_null(vcci_handles_get(&table, 0));
    ck_assert_int_eq(vcci_handles_alloc(&table, &object, &handle), 0);
    ck_assert_int_eq(vcci_handles_alloc(&other, &object, &foreign), 0);
    ck_assert_ptr_null(vcci_handles_get(&table, foreign));
    ck_assert_ptr_null(vcci_handles_get(&other, handle));
    ck_assert_ptr_null(vcci_handles_free(&other, handle));
    for (uint64_t bit = 1; bit; bit <<= 1)
        ck_assert_ptr_null(vcci_handles_get(&table, handle ^ bit));
    ck_assert_ptr_null(vcci_handles_get(&table, UINT64_MAX));
    ck_assert_ptr_null(vcci_handles_get(&table, (uint64_t)(uintptr_t)&object));
    /* the next generation of a slot that is free is not yet a handle */
    ck_assert_ptr_eq(vcci_handles_free(&table, handle), &object);
    ck_assert_ptr_null(vcci_handles_get(&table, handle + ((uint64_t)1 << 32)));
    vcci_handles_fini(&table);
    vcci_handles_fini(&other);
}
END_TEST

START_TEST(generation_skips_zero)
{
    struct vcci_handles table;
    int object;
    uint64_t handle;

    ck_assert_int_eq(vcci_handles_init(&table, 1), 0);
    ck_assert_int_eq(vcci_handles_alloc(&table, &object, &handle), 0);
    atomic_store(&table.chunks[0][0].generation, UINT32_MAX);
    handle |= (uint64_t)UINT32_MAX << 32;
    ck_assert_ptr_eq(vcci_handles_free(&table, handle), &object);
    ck_assert_int_eq(vcci_handles_alloc(&table, &object, &handle), 0);
    ck_assert_uint_gt(handle, 255);
    ck_assert_uint_eq(handle >> 32, 1);
    vcci_handles_fini(&table);
}
END_TEST

#define THREADS 4

static struct vcci_handles shared;
static _Atomic uint64_t published;

/* Allocates, publishes, looks up what others published, frees: a lookup gives NULL or the object of exactly that handle (its
 * value). */
static void *churn(void *arg)
{
    static _Atomic uint64_t objects[THREADS];
    _Atomic uint64_t *mine = &objects[(uintptr_t)arg];

    for (int turn = 0; turn < 20000; turn++) {
        uint64_t handle, foreign = atomic_load(&published);
        void *seen = vcci_handles_get(&shared, foreign);

        UNIT_HOLDS(!seen || (seen >= (void *)&objects[0] && seen <= (void *)&objects[THREADS - 1]));
        UNIT_HOLDS(vcci_handles_alloc(&shared, (void *)mine, &handle) == 0);
        atomic_store(&published, handle);
        UNIT_HOLDS(vcci_handles_get(&shared, handle) == (void *)mine);
        UNIT_HOLDS(vcci_handles_free(&shared, handle) == (void *)mine);
        UNIT_HOLDS(vcci_handles_get(&shared, handle) == NULL);
    }
    return NULL;
}

START_TEST(threads_share_a_table)
{
    pthread_t threads[THREADS];

    ck_assert_int_eq(vcci_handles_init(&shared, 3), 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(shared.count, VCCI_HANDLE_CHUNK);
    vcci_handles_fini(&shared);
}
END_TEST

UNIT_MAIN("handle", names_its_object, stale_handles_are_known, foreign_handles_are_known, generation_skips_zero,
          threads_share_a_table)
