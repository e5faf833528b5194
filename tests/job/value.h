/* SPDX-License-Identifier: BSD-3-Clause
 * The reference's arithmetic: one value for all types, with conversions of its own, and inputs whose results every type can hold exactly. */
#ifndef VCCI_TESTS_JOB_VALUE_H
#define VCCI_TESTS_JOB_VALUE_H

#include <complex.h>
#include <stddef.h>

#include "include/vccl.h"

struct value {
    double complex z;
    int index; /* of a pair */
};

size_t value_bytes(vccl_datatype_t type);
int value_op_fits(vccl_op_t op, vccl_datatype_t type);
void value_store(vccl_datatype_t type, struct value v, void *to);
struct value value_load(vccl_datatype_t type, const void *from);
int value_equal(vccl_datatype_t type, struct value a, struct value b);
struct value value_combine(vccl_op_t op, struct value a, struct value b);
struct value value_divide(vccl_datatype_t type, struct value v, int n);
/* Element i of rank's input for op (VCCL_OP_NULL: to be moved only). */
struct value value_make(vccl_datatype_t type, vccl_op_t op, int rank, int size, size_t i);

#endif
