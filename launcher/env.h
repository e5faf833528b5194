/* SPDX-License-Identifier: BSD-3-Clause
 * The environment of a program's ranks. */
#ifndef VCCI_LAUNCHER_ENV_H
#define VCCI_LAUNCHER_ENV_H

/* `base` with the NAME=VALUE strings of `exports` put in; of two with one name the later wins. The array is the caller's to free, the strings
 * stay whose they are. NULL: no memory. */
char **vcci_launch_env(char *const *base, const char *const *exports, int n_exports);

#endif
