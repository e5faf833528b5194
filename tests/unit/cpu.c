/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/cpu.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/futex.h"
#include "tests/unit/unit.h"

START_TEST(counts_usable_cores)
{
    cpu_set_t all, one;
    int n = vcci_cpu_usable();

    ck_assert_int_ge(n, 1);
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    ck_assert_int_le(n, CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
            break;
        }
    }
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(vcci_cpu_usable(), 1);
    unsetenv("VCCL_JOB_CORES");
    ck_assert_int_eq(vcci_cpu_of_job(), 1);
    setenv("VCCL_JOB_CORES", "7", 1);
    ck_assert_int_eq(vcci_cpu_of_job(), 7);
}
END_TEST

START_TEST(names_instruction_sets)
{
    ck_assert_int_lt(vcci_cpu_isa(), VCCI_ISA_NR);
    ck_assert_str_eq(vcci_cpu_isa_name(VCCI_ISA_BASE), "base");
    ck_assert_str_eq(vcci_cpu_isa_name(VCCI_ISA_AVX2), "avx2");
    ck_assert_str_eq(vcci_cpu_isa_name(VCCI_ISA_AVX512), "avx512");
    ck_assert_str_eq(vcci_cpu_isa_name(VCCI_ISA_NR), "unknown");
}
END_TEST

START_TEST(futex_returns)
{
    _Atomic uint32_t word = 1;
    int64_t begin = vcci_now_ns();

    vcci_futex_wait(&word, 0, -1); /* the word differs: does not sleep */
    vcci_futex_wait(&word, 1, 2000000);
    ck_assert_int_ge(vcci_now_ns() - begin, 0);
    vcci_futex_wake_all(&word);
    vcci_cpu_relax();
}
END_TEST

UNIT_MAIN("cpu", counts_usable_cores, names_instruction_sets, futex_returns)
