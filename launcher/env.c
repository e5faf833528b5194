/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/env.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");

    return strcspn(b, "=") == n && memcmp(a, b, n) == 0;
}

static int named_in(const char *pair, const char *const *pairs, int n)
{
    for (int i = 0; i < n; i++)
        if (same_name(pair, pairs[i]))
            return 1;
    return 0;
}

char **vcci_launch_env(char *const *base, const char *const *exports, int n_exports)
{
    size_t n = 0;
    char **env;

    while (base[n])
        n++;
    env = calloc(n + (size_t)n_exports + 1, sizeof *env);
    if (!env)
        return NULL;
    n = 0;
    for (; *base; base++)
        if (!named_in(*base, exports, n_exports))
            env[n++] = *base;
    for (int i = 0; i < n_exports; i++)
        if (!named_in(exports[i], exports + i + 1, n_exports - i - 1))
            env[n++] = (char *)(uintptr_t)exports[i];
    return env;
}
