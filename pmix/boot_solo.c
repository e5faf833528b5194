/* SPDX-License-Identifier: BSD-3-Clause
 * No launcher: the process is rank 0 of 1. */
#include "lib/base/err.h"
#include "pmix/boot_fake.h"

/* There is nobody to end: the caller exits. */
static void solo_abort(struct vcci_boot *boot, int code, const char *text)
{
    (void)boot, (void)code, (void)text;
}

static void solo_fini(struct vcci_boot *boot)
{
    vcci_fake_job_destroy(vcci_fake_close(boot));
}

static const struct vcci_boot_ops solo_ops = {
    .name = "solo",
    .put = vcci_fake_put,
    .commit = vcci_fake_commit,
    .get = vcci_fake_get,
    .fence = vcci_fake_fence,
    .on_death = vcci_fake_on_death,
    .abort = solo_abort,
    .fini = solo_fini,
};

int vcci_boot_open_solo(struct vcci_boot **boot_out)
{
    struct vcci_fake_job *job;
    int rc = vcci_fake_job_create(1, &job);

    if (rc)
        return rc;
    rc = vcci_fake_open(job, 0, &solo_ops, boot_out);
    if (rc)
        vcci_fake_job_destroy(job);
    return rc;
}
