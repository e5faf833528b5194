/* SPDX-License-Identifier: BSD-3-Clause
 * One output of vcclrun: a bounded queue and a thread that writes it out. The thread may block in write for as long as the reader likes, the job's
 * loop never does: it stops reading from the ranks while the queue is full.
 */
#ifndef VCCI_LAUNCHER_SINK_H
#define VCCI_LAUNCHER_SINK_H

#include <stddef.h>
#include <stdint.h>

struct vcci_sink;

/* Starts the thread. `wake_fd` is an eventfd written whenever a full queue has room again, the queue has run empty or writing has failed. */
int vcci_sink_create(int fd, int wake_fd, struct vcci_sink **sink_out);
/* Stops at once if `abandon`, or when all is written. Frees. */
void vcci_sink_destroy(struct vcci_sink *sink, int abandon);

/* Queues a copy. The queue grows beyond its limit rather than refuse: ask vcci_sink_full before. -VCCL_ERR_NO_MEMORY. */
int vcci_sink_put(struct vcci_sink *sink, const char *data, size_t bytes);
int vcci_sink_full(struct vcci_sink *sink);
int vcci_sink_empty(struct vcci_sink *sink); /* all has been written */
int vcci_sink_error(struct vcci_sink *sink); /* errno of a failed write, 0: none; what is queued after it is dropped */

#endif
