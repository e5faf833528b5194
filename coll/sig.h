/* SPDX-License-Identifier: BSD-3-Clause
 * The signature of a call: what all ranks of a collective must agree on, in 32 bits that can still be read back for an error text. */
#ifndef VCCI_COLL_SIG_H
#define VCCI_COLL_SIG_H

#include <stddef.h>
#include <stdint.h>

#include "coll/sched.h"

/* Reductions carry op and type; the others do not, since sender and receiver may name different types of one length. */
uint32_t vcci_sig_make(const struct vcci_coll_args *a);
/* "allreduce(float32, sum)"; returns buf. */
const char *vcci_sig_text(uint32_t sig, char *buf, size_t cap);
/* Stores the sentence about two ranks that do not agree; returns -VCCL_ERR_MISMATCH. */
int vcci_sig_mismatch(int rank, uint32_t mine, int peer, uint32_t theirs);

#endif
