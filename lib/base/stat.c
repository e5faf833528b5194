/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/stat.h"

#include <inttypes.h>
#include <stdio.h>

_Atomic uint64_t vcci_stats[VCCI_STAT_NR];

static const char *const stat_names[VCCI_STAT_NR] = {
#define X(name) #name,
    VCCI_STAT_TABLE(X)
#undef X
};

int vcci_stat_report(char *buf, size_t cap)
{
    size_t at = 0;

    if (cap > 0)
        buf[0] = '\0';
    for (int i = 0; i < VCCI_STAT_NR; i++)
        at += (size_t)snprintf(at < cap ? buf + at : NULL, at < cap ? cap - at : 0, "%s %" PRIu64 "\n", stat_names[i],
                               atomic_load_explicit(&vcci_stats[i], memory_order_relaxed));
    return (int)at;
}
