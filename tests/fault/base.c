/* SPDX-License-Identifier: BSD-3-Clause
 * Every allocation and system call of lib/base fails once, and from some call on for ever. */
#include "lib/base/env.h"
#include "lib/base/err.h"
#include "lib/base/handle.h"
#include "lib/base/map.h"
#include "lib/base/pool.h"
#include "lib/base/shm.h"
#include "tests/fault/nth.h"
#include "tests/unit/unit.h"

static int use_handles(void *arg)
{
    struct vcci_handles table;
    uint64_t handle;
    int rc = vcci_handles_init(&table, 1);

    if (rc < 0)
        return rc;
    for (int i = 0; i < 600 && rc == 0; i++)
        rc = vcci_handles_alloc(&table, arg, &handle);
    if (rc == 0 && vcci_handles_get(&table, handle) != arg)
        rc = 1;
    vcci_handles_fini(&table);
    return rc;
}

static int use_map(void *arg)
{
    struct vcci_map map;
    int rc = 0;

    vcci_map_init(&map);
    for (uint64_t key = 0; key < 100 && rc == 0; key++) {
        rc = vcci_map_put(&map, key, arg);
        /* what was there before stays */
        for (uint64_t old = 0; old < key; old++)
            if (vcci_map_get(&map, old) != arg)
                rc = 1;
        if (rc < 0 && vcci_map_get(&map, key))
            rc = 1;
    }
    vcci_map_fini(&map);
    return rc;
}

static int use_pool(void *arg)
{
    struct vcci_pool pool;
    int rc = 0;

    (void)arg;
    vcci_pool_init(&pool, 100, 10);
    for (int i = 0; i < 35 && rc == 0; i++)
        rc = vcci_pool_get(&pool) ? 0 : -VCCL_ERR_NO_MEMORY;
    vcci_pool_fini(&pool);
    return rc;
}

static int use_shm(void *arg)
{
    struct vcci_shm mine = {.fd = -1}, theirs = {.fd = -1};
    struct vcci_shm_addr addr;
    int rc = vcci_shm_create(&mine, 10000, &addr);

    (void)arg;
    if (rc == 0)
        rc = vcci_shm_open(&theirs, &addr);
    vcci_shm_close(&theirs);
    vcci_shm_close(&mine);
    return rc;
}

static int load_env(void *arg)
{
    static int turn;
    struct vcci_env env;
    int rc;

    (void)arg;
    setenv("VCCL_COLL", turn++ % 2 ? "bcast:chain" : "bcast:flat", 1);
    rc = vcci_env_load(&env);
    unsetenv("VCCL_COLL");
    return rc;
}

static int object;

START_TEST(handles)
{
    nth_loop("handles", use_handles, &object);
}
END_TEST

START_TEST(map)
{
    nth_loop("map", use_map, &object);
}
END_TEST

START_TEST(pool)
{
    nth_loop("pool", use_pool, NULL);
}
END_TEST

START_TEST(shm)
{
    nth_loop("shm", use_shm, NULL);
}
END_TEST

START_TEST(env)
{
    nth_loop("env", load_env, NULL);
}
END_TEST

UNIT_MAIN("fault/base", handles, map, pool, shm, env)
