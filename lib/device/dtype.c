/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/device/dtype.h"

#include <string.h>

enum { INT = 1, UINT = 2, FLOAT = 4, COMPLEX = 8, BOOL = 16, BYTE = 32, PAIR = 64 };

#define DTYPE_BYTES(type, text, bytes, class) [type] = bytes,
const unsigned char vcci_dtype_bytes[VCCL_DATATYPE_NR] = {VCCI_DTYPE_TABLE(DTYPE_BYTES)};

#define DTYPE_CLASS(type, text, bytes, class) [type] = class,
static const unsigned char dtype_class[VCCL_DATATYPE_NR] = {VCCI_DTYPE_TABLE(DTYPE_CLASS)};

/* Names in arrays of characters, not of pointers: nothing to relocate when the library is loaded. */
#define DTYPE_NAME(type, text, bytes, class) [type] = text,
static const char dtype_names[VCCL_DATATYPE_NR][16] = {VCCI_DTYPE_TABLE(DTYPE_NAME)};

#define OP_NAME(op, text) [op] = text,
static const char op_names[VCCL_OP_NR][8] = {VCCI_OP_TABLE(OP_NAME)};

static const unsigned char op_classes[VCCL_OP_NR] = {
    [VCCL_SUM] = INT | UINT | FLOAT | COMPLEX | BOOL,
    [VCCL_PROD] = INT | UINT | FLOAT | COMPLEX | BOOL,
    [VCCL_MIN] = INT | UINT | FLOAT | BOOL,
    [VCCL_MAX] = INT | UINT | FLOAT | BOOL,
    [VCCL_LAND] = INT | UINT | BOOL,
    [VCCL_LOR] = INT | UINT | BOOL,
    [VCCL_LXOR] = INT | UINT | BOOL,
    [VCCL_BAND] = INT | UINT | BOOL | BYTE,
    [VCCL_BOR] = INT | UINT | BOOL | BYTE,
    [VCCL_BXOR] = INT | UINT | BOOL | BYTE,
    [VCCL_MINLOC] = PAIR,
    [VCCL_MAXLOC] = PAIR,
    [VCCL_AVG] = INT | UINT | FLOAT | COMPLEX,
};

const char *vcci_dtype_name(vccl_datatype_t t)
{
    return vcci_dtype_valid(t) ? dtype_names[t] : NULL;
}

vccl_datatype_t vcci_dtype_by_name(const char *name)
{
    for (int t = 1; t < VCCL_DATATYPE_NR; t++)
        if (strcmp(name, dtype_names[t]) == 0)
            return (vccl_datatype_t)t;
    return VCCL_DATATYPE_NULL;
}

const char *vcci_op_name(vccl_op_t op)
{
    return op > VCCL_OP_NULL && op < VCCL_OP_NR ? op_names[op] : NULL;
}

vccl_op_t vcci_op_by_name(const char *name)
{
    for (int op = 1; op < VCCL_OP_NR; op++)
        if (strcmp(name, op_names[op]) == 0)
            return (vccl_op_t)op;
    return VCCL_OP_NULL;
}

int vcci_op_fits(vccl_op_t op, vccl_datatype_t t)
{
    return vcci_op_name(op) != NULL && vcci_dtype_valid(t) && (op_classes[op] & dtype_class[t]) != 0;
}
