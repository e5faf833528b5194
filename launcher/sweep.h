/* SPDX-License-Identifier: BSD-3-Clause
 * Descendants. A subreaper is given every descendant whose parent dies, also those that left their session; so killing one's children until there
 * are none ends them all. */
#ifndef VCCI_LAUNCHER_SWEEP_H
#define VCCI_LAUNCHER_SWEEP_H

/* From now on orphaned descendants become children of this process. */
void vcci_sweep_adopt(void);
/* Sends signo to every child of this process, own or adopted. */
void vcci_sweep_signal(int signo);
/* Kills and reaps until no child is left, at most `seconds`. Returns 0 if some are. */
int vcci_sweep_all(int seconds);

#endif
