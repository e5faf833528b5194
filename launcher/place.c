/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/place.h"

#include <errno.h>
#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"

#define CPUS_STEP 1024

/* Cores and NUMA nodes, and of them only what this process may use. */
static int load_topology(hwloc_topology_t *topology_out)
{
    hwloc_cpuset_t mine = hwloc_bitmap_alloc();
    hwloc_topology_t topology;
    int rc = 0;

    if (!mine || hwloc_topology_init(&topology) < 0) {
        hwloc_bitmap_free(mine);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for this machine's topology");
    }
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) < 0)
        rc = vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "hwloc cannot read this machine's topology");
    else if (hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS) == 0)
        hwloc_topology_restrict(topology, mine, 0);
    hwloc_bitmap_free(mine);
    if (rc)
        hwloc_topology_destroy(topology);
    else
        *topology_out = topology;
    return rc;
}

static hwloc_obj_type_t core_type(hwloc_topology_t topology)
{
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

static hwloc_obj_t numa_of(hwloc_topology_t topology, hwloc_obj_t core)
{
    hwloc_obj_t node = NULL;

    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
        if (hwloc_bitmap_intersects(node->cpuset, core->cpuset))
            return node;
    return core;
}

/* Cores in the order in which ranks are given them: as hwloc counts them, or one of each NUMA node in turn. */
static int order_cores(hwloc_topology_t topology, enum vcci_map_by map_by, hwloc_obj_t *cores)
{
    hwloc_obj_type_t type = core_type(topology);
    int n_cores = hwloc_get_nbobjs_by_type(topology, type), n_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), n = 0;

    if (map_by != VCCI_MAP_NUMA || n_nodes < 2) {
        for (; n < n_cores; n++)
            cores[n] = hwloc_get_obj_by_type(topology, type, (unsigned)n);
        return n;
    }
    for (unsigned turn = 0, found = 1; found; turn++) {
        found = 0;
        for (int i = 0; i < n_nodes; i++) {
            hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)i);
            hwloc_obj_t core = hwloc_get_obj_inside_cpuset_by_type(topology, node->cpuset, type, turn);
            if (core && n < n_cores) {
                cores[n++] = core;
                found = 1;
            }
        }
    }
    return n;
}

static int fill_sets(struct vcci_place *place, hwloc_topology_t topology, enum vcci_map_by map_by)
{
    int n_cores = hwloc_get_nbobjs_by_type(topology, core_type(topology));
    int cpus = hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(topology)) + 1;
    hwloc_obj_t *cores = calloc((size_t)n_cores, sizeof *cores);

    place->set_bytes = CPU_ALLOC_SIZE((cpus + CPUS_STEP - 1) / CPUS_STEP * CPUS_STEP);
    place->sets = calloc((size_t)place->size, place->set_bytes);
    if (!cores || !place->sets) {
        free(cores);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory to bind %d ranks", place->size);
    }
    n_cores = order_cores(topology, map_by, cores);
    for (int r = 0; r < place->size; r++) {
        hwloc_obj_t where = cores[r % n_cores];
        if (place->bind == VCCI_BIND_NUMA)
            where = numa_of(topology, where);
        hwloc_cpuset_to_glibc_sched_affinity(topology, where->cpuset, (cpu_set_t *)(void *)(place->sets + (size_t)r * place->set_bytes),
                                             place->set_bytes);
    }
    free(cores);
    place->bound = 1;
    return 0;
}

int vcci_place_ranks(struct vcci_place *place, const struct vcci_opt *opt, int size, int cores)
{
    hwloc_topology_t topology = NULL;
    int rc, n_cores;

    *place = (struct vcci_place){.size = size, .bind = opt->bind};
    if (opt->bind == VCCI_BIND_NONE || (opt->bind == VCCI_BIND_AUTO && size > cores))
        return 0;
    rc = load_topology(&topology);
    if (rc)
        return rc;
    n_cores = hwloc_get_nbobjs_by_type(topology, core_type(topology));
    if (n_cores < 1)
        rc = vcci_fail(VCCL_ERR_UNSUPPORTED, "hwloc finds no core that this process may use");
    else if (opt->bind != VCCI_BIND_AUTO || size <= n_cores)
        rc = fill_sets(place, topology, opt->map_by);
    hwloc_topology_destroy(topology);
    if (rc)
        vcci_place_free(place);
    return rc;
}

void vcci_place_free(struct vcci_place *place)
{
    free(place->sets);
    place->sets = NULL;
    place->bound = 0;
}

const cpu_set_t *vcci_place_set(const struct vcci_place *place, int rank)
{
    return place->bound ? (const cpu_set_t *)(const void *)(place->sets + (size_t)rank * place->set_bytes) : NULL;
}

int vcci_place_text(const struct vcci_place *place, int rank, char *buf, size_t cap)
{
    const cpu_set_t *set = vcci_place_set(place, rank);
    int cpus = (int)place->set_bytes * 8, n = 0, first = 1;

    if (!set)
        return snprintf(buf, cap, "not bound");
    n = snprintf(buf, cap, "bound to %s, cpus ", place->bind == VCCI_BIND_NUMA ? "NUMA node" : "core");
    for (int cpu = 0; cpu < cpus; cpu++) {
        int last = cpu;
        if (!CPU_ISSET_S((size_t)cpu, place->set_bytes, set))
            continue;
        while (last + 1 < cpus && CPU_ISSET_S((size_t)last + 1, place->set_bytes, set))
            last++;
        char range[32];
        int len = snprintf(range, sizeof range, last > cpu ? "%s%d-%d" : "%s%d", first ? "" : ",", cpu, last);
        if ((size_t)(n + len) < cap)
            memcpy(buf + n, range, (size_t)len + 1);
        n += len;
        first = 0;
        cpu = last;
    }
    return n;
}
