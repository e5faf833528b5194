/* SPDX-License-Identifier: BSD-3-Clause
 * The job's temporary folder. Its name is fixed before anything is made, so that whoever outlives the other can remove it. */
#ifndef VCCI_LAUNCHER_SCRATCH_H
#define VCCI_LAUNCHER_SCRATCH_H

#include <stddef.h>

/* A name nobody can guess under $TMPDIR (default /tmp). */
int vcci_scratch_name(char *path, size_t cap);
int vcci_scratch_make(const char *path); /* for the owner alone */
void vcci_scratch_remove(const char *path); /* with all that is in it; harmless if it is not there */

#endif
