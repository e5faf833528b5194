/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/err.h"
#include "lib/base/shm.h"

#define OPEN_FOLDERS 8

int vcci_scratch_name(char *path, size_t cap)
{
    const char *dir = getenv("TMPDIR");
    unsigned char random[16];
    int rc = vcci_random(random, sizeof random);
    size_t n = 0;

    if (rc)
        return rc;
    n = (size_t)snprintf(path, cap, "%s/vcclrun.", dir && *dir ? dir : "/tmp");
    for (size_t i = 0; i < sizeof random && n < cap; i++)
        n += (size_t)snprintf(path + n, cap - n, "%02x", random[i]);
    return n < cap ? 0 : vcci_fail(VCCL_ERR_CONFIG, "TMPDIR is too long: %s", dir);
}

int vcci_scratch_make(const char *path)
{
    return mkdir(path, 0700) == 0 ? 0 : vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "the temporary folder %s cannot be made", path);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    remove(path); /* what cannot be removed stays, and so does the folder: there is no better try */
    return 0;
}

void vcci_scratch_remove(const char *path)
{
    nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}
