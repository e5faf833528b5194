/* SPDX-License-Identifier: BSD-3-Clause
 * What the datatypes and ops are: sizes, names, which op goes with which type. */
#ifndef VCCI_DEVICE_DTYPE_H
#define VCCI_DEVICE_DTYPE_H

#include <stddef.h>

#include "include/vccl.h"

/* X(public name, text, bytes, class): INT UINT FLOAT COMPLEX BOOL BYTE PAIR */
#define VCCI_DTYPE_TABLE(X)                                                                                                         \
    X(VCCL_INT8, "int8", 1, INT)                                                                                                    \
    X(VCCL_INT16, "int16", 2, INT)                                                                                                  \
    X(VCCL_INT32, "int32", 4, INT)                                                                                                  \
    X(VCCL_INT64, "int64", 8, INT)                                                                                                  \
    X(VCCL_UINT8, "uint8", 1, UINT)                                                                                                 \
    X(VCCL_UINT16, "uint16", 2, UINT)                                                                                               \
    X(VCCL_UINT32, "uint32", 4, UINT)                                                                                               \
    X(VCCL_UINT64, "uint64", 8, UINT)                                                                                               \
    X(VCCL_FLOAT16, "float16", 2, FLOAT)                                                                                            \
    X(VCCL_BFLOAT16, "bfloat16", 2, FLOAT)                                                                                          \
    X(VCCL_FLOAT32, "float32", 4, FLOAT)                                                                                            \
    X(VCCL_FLOAT64, "float64", 8, FLOAT)                                                                                            \
    X(VCCL_FLOAT8_E4M3, "float8_e4m3", 1, FLOAT)                                                                                    \
    X(VCCL_FLOAT8_E5M2, "float8_e5m2", 1, FLOAT)                                                                                    \
    X(VCCL_COMPLEX64, "complex64", 8, COMPLEX)                                                                                      \
    X(VCCL_COMPLEX128, "complex128", 16, COMPLEX)                                                                                   \
    X(VCCL_BOOL, "bool", 1, BOOL)                                                                                                   \
    X(VCCL_BYTE, "byte", 1, BYTE)                                                                                                   \
    X(VCCL_FLOAT32_INT32, "float32_int32", 8, PAIR)                                                                                 \
    X(VCCL_FLOAT64_INT32, "float64_int32", 16, PAIR)                                                                                \
    X(VCCL_INT32_INT32, "int32_int32", 8, PAIR)                                                                                     \
    X(VCCL_INT64_INT32, "int64_int32", 16, PAIR)
#define VCCI_OP_TABLE(X)                                                                                                            \
    X(VCCL_SUM, "sum") X(VCCL_PROD, "prod") X(VCCL_MIN, "min") X(VCCL_MAX, "max") X(VCCL_LAND, "land") X(VCCL_LOR, "lor")            \
    X(VCCL_LXOR, "lxor") X(VCCL_BAND, "band") X(VCCL_BOR, "bor") X(VCCL_BXOR, "bxor") X(VCCL_MINLOC, "minloc")                      \
    X(VCCL_MAXLOC, "maxloc") X(VCCL_AVG, "avg")

extern const unsigned char vcci_dtype_bytes[VCCL_DATATYPE_NR]; /* 0 for no type */

static inline int vcci_dtype_valid(vccl_datatype_t t)
{
    return (unsigned)t < VCCL_DATATYPE_NR && vcci_dtype_bytes[t] != 0;
}
const char *vcci_dtype_name(vccl_datatype_t t);         /* NULL: no such type */
vccl_datatype_t vcci_dtype_by_name(const char *name);   /* VCCL_DATATYPE_NULL: none */
const char *vcci_op_name(vccl_op_t op);                 /* built-in ops */
vccl_op_t vcci_op_by_name(const char *name);
/* Does the built-in op exist for the type: SUM PROD AVG: numeric and complex; MIN MAX: INT UINT FLOAT; logical: INT UINT BOOL; bitwise: INT UINT BOOL
 * BYTE; MINLOC MAXLOC: PAIR. BOOL also takes SUM (or), PROD (and), MIN (and), MAX (or). */
int vcci_op_fits(vccl_op_t op, vccl_datatype_t t);

#endif
