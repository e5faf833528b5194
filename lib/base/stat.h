/* SPDX-License-Identifier: BSD-3-Clause
 * Counters of the data path, per process, read by vccl_query("counters") and by tests. A plain load and store, not a locked add: two threads
 * that count at one instant may lose one, a data path that pays 5 ns for each count would be worse. */
#ifndef VCCI_BASE_STAT_H
#define VCCI_BASE_STAT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define VCCI_STAT_TABLE(X)                                                                                                          \
    X(msgs_inline) X(msgs_eager) X(msgs_rndv) X(bytes_sent) X(bytes_received) X(copy_ring_bytes) X(copy_cma_bytes)                  \
    X(copy_mapped_bytes) X(bell_rings) X(futex_sleeps) X(futex_wakes) X(coll_flat) X(coll_sched) X(sched_built) X(sched_hits)        \
    X(allocs) X(unexpected_bytes)
enum vcci_stat {
#define X(name) VCCI_STAT_##name,
    VCCI_STAT_TABLE(X)
#undef X
    VCCI_STAT_NR
};
extern _Atomic uint64_t vcci_stats[VCCI_STAT_NR];
#define VCCI_COUNT(name, n)                                                                                                         \
    atomic_store_explicit(&vcci_stats[VCCI_STAT_##name],                                                                            \
                          atomic_load_explicit(&vcci_stats[VCCI_STAT_##name], memory_order_relaxed) + (uint64_t)(n),                \
                          memory_order_relaxed)
int vcci_stat_report(char *buf, size_t cap); /* "name value" lines; as snprintf */

#endif
