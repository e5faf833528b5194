/* SPDX-License-Identifier: BSD-3-Clause
 * Input and output forwarding. Lines of the ranks arrive whole; a line longer than VCCI_IOF_LINE is passed on in pieces. vcclrun's terminal, if
 * that is its input, is copied to rank 0; any other input rank 0 simply inherits. */
#ifndef VCCI_LAUNCHER_IOF_H
#define VCCI_LAUNCHER_IOF_H

#define VCCI_IOF_LINE 65536

struct vcci_iof;

struct vcci_iof_conf {
    int size; /* ranks */
    int tag;  /* begin lines with "[rank] " */
    const char *output_dir; /* NULL: forward to descriptors 1 and 2 */
};

/* Makes output_dir. Errors: VCCL_ERR_SYSTEM, VCCL_ERR_NO_MEMORY. */
int vcci_iof_create(const struct vcci_iof_conf *conf, struct vcci_iof **iof_out);
/* Frees. If `abandon`, what is not yet written is lost; else it has been waited for (vcci_iof_idle). */
void vcci_iof_destroy(struct vcci_iof *iof, int abandon);

/* The three descriptors of a rank to be started, which vcci_iof_release closes once it has been. */
int vcci_iof_prepare(struct vcci_iof *iof, int rank, int fds_out[3]);
void vcci_iof_release(struct vcci_iof *iof, int fds[3]);

int vcci_iof_fd(const struct vcci_iof *iof); /* readable: call vcci_iof_serve */
int vcci_iof_timeout_ms(const struct vcci_iof *iof); /* call vcci_iof_flush if nothing else happened for so long; -1: no need */
void vcci_iof_serve(struct vcci_iof *iof);
void vcci_iof_flush(struct vcci_iof *iof); /* shows unfinished lines, as a prompt is one, on a terminal */
void vcci_iof_input(struct vcci_iof *iof); /* vcclrun was continued: it may be in the foreground now */

int vcci_iof_ended(const struct vcci_iof *iof);  /* every rank has closed its outputs */
void vcci_iof_cut(struct vcci_iof *iof);         /* takes what is there from those that have not and closes them */
int vcci_iof_idle(struct vcci_iof *iof);         /* all has been written */
int vcci_iof_error(struct vcci_iof *iof);        /* errno if output was lost because it could not be written (a closed pipe is none) */

/* A line of vcclrun's own for stderr, newline added; never inside a rank's line. */
void vcci_iof_say(struct vcci_iof *iof, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
