/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/device/dtype.h"

#include <string.h>

#include "tests/unit/unit.h"

START_TEST(sizes_are_the_structs)
{
    struct {
        double value;
        int32_t index;
    } wide;
    struct {
        float value;
        int32_t index;
    } narrow;

    ck_assert_uint_eq(vcci_dtype_bytes[VCCL_DATATYPE_NULL], 0);
    ck_assert_uint_eq(vcci_dtype_bytes[VCCL_INT8], 1);
    ck_assert_uint_eq(vcci_dtype_bytes[VCCL_UINT64], 8);
    ck_assert_uint_eq(vcci_dtype_bytes[VCCL_BFLOAT16], 2);
    ck_assert_uint_eq(vcci_dtype_bytes[VCCL_FLOAT8_E5M2], 1);
    ck_assert_uint_eq(vcci_dtype_bytes[VCCL_COMPLEX128], 16);
    ck_assert_uint_eq(vcci_dtype_bytes[VCCL_FLOAT32_INT32], sizeof(narrow));
    ck_assert_uint_eq(vcci_dtype_bytes[VCCL_FLOAT64_INT32], sizeof(wide));
    ck_assert_uint_eq(vcci_dtype_bytes[VCCL_INT64_INT32], sizeof(wide));
}
END_TEST

START_TEST(every_type_has_a_name_and_a_size)
{
    for (int t = VCCL_DATATYPE_NULL + 1; t < VCCL_DATATYPE_NR; t++) {
        ck_assert(vcci_dtype_valid((vccl_datatype_t)t));
        ck_assert_ptr_nonnull(vcci_dtype_name((vccl_datatype_t)t));
        ck_assert_int_eq(vcci_dtype_by_name(vcci_dtype_name((vccl_datatype_t)t)), t);
    }
    ck_assert_str_eq(vcci_dtype_name(VCCL_FLOAT64_INT32), "float64_int32");
}
END_TEST

START_TEST(every_op_has_a_name)
{
    for (int op = VCCL_OP_NULL + 1; op < VCCL_OP_NR; op++) {
        ck_assert_ptr_nonnull(vcci_op_name((vccl_op_t)op));
        ck_assert_int_eq(vcci_op_by_name(vcci_op_name((vccl_op_t)op)), op);
    }
    ck_assert_str_eq(vcci_op_name(VCCL_MAXLOC), "maxloc");
}
END_TEST

START_TEST(what_is_none_is_refused)
{
    const int types[] = {VCCL_DATATYPE_NULL, -1, VCCL_DATATYPE_NR, 0x7fffffff};
    const int ops[] = {VCCL_OP_NULL, -1, VCCL_OP_NR, 0x7fffffff};

    for (int i = 0; i < 4; i++) {
        ck_assert(!vcci_dtype_valid((vccl_datatype_t)types[i]));
        ck_assert_ptr_null(vcci_dtype_name((vccl_datatype_t)types[i]));
        ck_assert(!vcci_op_fits(VCCL_SUM, (vccl_datatype_t)types[i]));
        ck_assert_ptr_null(vcci_op_name((vccl_op_t)ops[i]));
        ck_assert(!vcci_op_fits((vccl_op_t)ops[i], VCCL_INT32));
    }
    ck_assert_int_eq(vcci_dtype_by_name("float"), VCCL_DATATYPE_NULL);
    ck_assert_int_eq(vcci_dtype_by_name(""), VCCL_DATATYPE_NULL);
    ck_assert_int_eq(vcci_op_by_name("su"), VCCL_OP_NULL);
    ck_assert_int_eq(vcci_op_by_name(""), VCCL_OP_NULL);
}
END_TEST

/* The table of dtype.h's comment, one letter for each op in the order of vccl_op_t: x where it fits. */
START_TEST(ops_fit_as_documented)
{
    static const char *const fits[VCCL_DATATYPE_NR] = {
        [VCCL_INT8] = "xxxxxxxxxx--x",          [VCCL_INT16] = "xxxxxxxxxx--x",         [VCCL_INT32] = "xxxxxxxxxx--x",
        [VCCL_INT64] = "xxxxxxxxxx--x",         [VCCL_UINT8] = "xxxxxxxxxx--x",         [VCCL_UINT16] = "xxxxxxxxxx--x",
        [VCCL_UINT32] = "xxxxxxxxxx--x",        [VCCL_UINT64] = "xxxxxxxxxx--x",        [VCCL_FLOAT16] = "xxxx--------x",
        [VCCL_BFLOAT16] = "xxxx--------x",      [VCCL_FLOAT32] = "xxxx--------x",       [VCCL_FLOAT64] = "xxxx--------x",
        [VCCL_FLOAT8_E4M3] = "xxxx--------x",   [VCCL_FLOAT8_E5M2] = "xxxx--------x",   [VCCL_COMPLEX64] = "xx----------x",
        [VCCL_COMPLEX128] = "xx----------x",    [VCCL_BOOL] = "xxxxxxxxxx---",          [VCCL_BYTE] = "-------xxx---",
        [VCCL_FLOAT32_INT32] = "----------xx-", [VCCL_FLOAT64_INT32] = "----------xx-", [VCCL_INT32_INT32] = "----------xx-",
        [VCCL_INT64_INT32] = "----------xx-",
    };

    for (int t = 1; t < VCCL_DATATYPE_NR; t++)
        for (int op = 1; op < VCCL_OP_NR; op++)
            ck_assert_msg(vcci_op_fits((vccl_op_t)op, (vccl_datatype_t)t) == (fits[t][op - 1] == 'x'), "%s of %s",
                          vcci_op_name((vccl_op_t)op), vcci_dtype_name((vccl_datatype_t)t));
}
END_TEST

UNIT_MAIN("dtype", sizes_are_the_structs, every_type_has_a_name_and_a_size, every_op_has_a_name, what_is_none_is_refused,
          ops_fit_as_documented)
