/* SPDX-License-Identifier: BSD-3-Clause
 * What boot_solo shares with boot_fake: a solo rank is a job of one. */
#ifndef VCCI_PMIX_BOOT_FAKE_H
#define VCCI_PMIX_BOOT_FAKE_H

#include "pmix/boot.h"

/* Opens rank of job under other ops; *boot_out's fini must end in vcci_fake_close. */
int vcci_fake_open(struct vcci_fake_job *job, int rank, const struct vcci_boot_ops *ops, struct vcci_boot **boot_out);
struct vcci_fake_job *vcci_fake_close(struct vcci_boot *boot); /* frees the rank; returns its job */

int vcci_fake_put(struct vcci_boot *boot, const char *key, const void *blob, size_t bytes);
int vcci_fake_commit(struct vcci_boot *boot);
int vcci_fake_get(struct vcci_boot *boot, int rank, const char *key, void *blob, size_t *bytes, int timeout_ms);
int vcci_fake_fence(struct vcci_boot *boot);
int vcci_fake_on_death(struct vcci_boot *boot, void (*fn)(void *arg, int rank), void *arg);

#endif
