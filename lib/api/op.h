/* SPDX-License-Identifier: BSD-3-Clause
 * Ops that a program made: premultiplied sums. Their handles are numbers above the built-in ops, with an index and a generation. */
#ifndef VCCI_API_OP_H
#define VCCI_API_OP_H

#include <stdint.h>

#include "include/vccl.h"

struct vcci_premul {
    vccl_datatype_t type;
    uint8_t scalar[16];
};
/* Copies the op's scalar. 0; -1: no such op; 1: made for another type. Any thread. */
int vcci_premul_find(vccl_op_t op, vccl_datatype_t type, struct vcci_premul *out);

#endif
