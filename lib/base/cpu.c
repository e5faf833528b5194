/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/cpu.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CPUS_MAX 65536 /* where to stop asking for a larger mask */

static int cpu_affinity(void)
{
    int n = 0;

    for (int cpus = 1024; cpus <= CPUS_MAX && n == 0; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);

        if (!set)
            break;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)cpus), set) == 0)
            n = CPU_COUNT_S(CPU_ALLOC_SIZE((size_t)cpus), set);
        else if (errno != EINVAL)
            cpus = CPUS_MAX;
        CPU_FREE(set);
    }
    return n > 0 ? n : 1;
}

static int read_text(const char *path, char *buf, int cap)
{
    FILE *f = fopen(path, "re");
    int ok = f && fgets(buf, cap, f) != NULL;

    if (f)
        fclose(f);
    return ok;
}

/* Whole cores that the quota of one group leaves, INT_MAX if it sets none. */
static int group_quota(const char *dir, int v2)
{
    char path[PATH_MAX + 32], text[64];
    long long quota = -1, period = -1;

    if (v2) {
        snprintf(path, sizeof path, "%s/cpu.max", dir);
        if (!read_text(path, text, sizeof text) || sscanf(text, "%lld %lld", &quota, &period) != 2)
            return INT_MAX;
    } else {
        snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
        quota = read_text(path, text, sizeof text) ? atoll(text) : -1;
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
        period = read_text(path, text, sizeof text) ? atoll(text) : -1;
    }
    if (quota <= 0 || period <= 0)
        return INT_MAX;
    return quota / period >= INT_MAX ? INT_MAX : quota / period < 1 ? 1 : (int)(quota / period);
}

/* The tightest quota from group up to the root. A container may see a group's path that does not exist in its own mount; its root
 * does. */
static int groups_quota(const char *mount, const char *group, int v2)
{
    char dir[PATH_MAX];
    size_t root = strlen(mount);
    int least = INT_MAX, n = snprintf(dir, sizeof dir, "%s%s", mount, group);

    if (n < 0 || (size_t)n >= sizeof dir)
        return INT_MAX;
    for (;;) {
        int quota = group_quota(dir, v2);

        if (quota < least)
            least = quota;
        char *slash = strrchr(dir, '/');
        if (!slash || (size_t)(slash - dir) < root)
            return least;
        *slash = '\0';
    }
}

/* Is "cpu" one of the controllers "a,b,c"? */
static int has_cpu(const char *controllers)
{
    for (const char *at = controllers; (at = strstr(at, "cpu")) != NULL; at += 3)
        if ((at == controllers || at[-1] == ',') && (at[3] == '\0' || at[3] == ','))
            return 1;
    return 0;
}

static int cpu_quota(void)
{
    char line[PATH_MAX + 128];
    int least = INT_MAX;
    FILE *f = fopen("/proc/self/cgroup", "re");

    /* Each line is "number:controllers:/path"; version 2 is number 0 without controllers. */
    while (f && fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        int quota = INT_MAX;

        if (!group)
            continue;
        *controllers++ = '\0';
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (*controllers == '\0')
            quota = groups_quota("/sys/fs/cgroup", group, 1);
        else if (has_cpu(controllers))
            quota = groups_quota("/sys/fs/cgroup/cpu", group, 0);
        if (quota < least)
            least = quota;
    }
    if (f)
        fclose(f);
    return least;
}

int vcci_cpu_usable(void)
{
    int cores = cpu_affinity(), quota = cpu_quota();

    return quota < cores ? quota : cores;
}

int vcci_cpu_of_job(void)
{
    const char *text = getenv("VCCL_JOB_CORES");
    int n = text ? atoi(text) : 0;

    return n > 0 ? n : vcci_cpu_usable();
}

enum vcci_cpu_isa vcci_cpu_isa(void)
{
#if defined(__x86_64__)
    unsigned a, b, c = 0, d;

    __builtin_cpu_init();
    /* F16C is not among the names that every compiler's __builtin_cpu_supports knows; the others imply that the kernel saves the
     * registers. */
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C))
        return VCCI_ISA_BASE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return VCCI_ISA_AVX512;
    return VCCI_ISA_AVX2;
#else
    return VCCI_ISA_BASE;
#endif
}

const char *vcci_cpu_isa_name(enum vcci_cpu_isa isa)
{
    static const char *const names[VCCI_ISA_NR] = {"base", "avx2", "avx512"};

    return (unsigned)isa < VCCI_ISA_NR ? names[isa] : "unknown";
}
