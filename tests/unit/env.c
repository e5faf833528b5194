/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/env.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "tests/unit/unit.h"

static void all_unset(void)
{
#define X(field, name, kind, dflt, choices, text) unsetenv(name);
    VCCI_ENV_TABLE(X)
#undef X
}

/* NAME=value is refused; the sentence has the name, the value and `good`. */
static void refused(const char *name, const char *value, const char *good)
{
    struct vcci_env env = {.eager_bytes = 77};

    all_unset();
    setenv(name, value, 1);
    ck_assert_int_eq(vcci_env_load(&env), -VCCL_ERR_CONFIG);
    ck_assert_uint_eq(env.eager_bytes, 77);
    ck_assert_ptr_nonnull(strstr(vcci_err_text(), name));
    ck_assert_msg(strstr(vcci_err_text(), value) != NULL, "%s", vcci_err_text());
    ck_assert_msg(strstr(vcci_err_text(), good) != NULL, "%s", vcci_err_text());
    unsetenv(name);
}

static struct vcci_env accepted(const char *name, const char *value)
{
    struct vcci_env env;

    all_unset();
    setenv(name, value, 1);
    ck_assert_msg(vcci_env_load(&env) == 0, "%s", vcci_err_text());
    unsetenv(name);
    return env;
}

START_TEST(defaults_before_load)
{
    ck_assert_uint_eq(vcci_env()->eager_bytes, 32768);
    ck_assert_int_eq(vcci_env()->spin_us, -1);
    ck_assert_uint_eq(vcci_env()->links & 3, 3);
    ck_assert_str_eq(vcci_env()->coll, "");
}
END_TEST

START_TEST(every_kind_is_parsed)
{
    ck_assert_int_eq(accepted("VCCL_PROGRESS", "caller").progress, 1);
    ck_assert_int_eq(accepted("VCCL_PROGRESS", "thread").progress, 0);
    ck_assert_int_eq(accepted("VCCL_SPIN", "1000").spin_us, 1000);
    ck_assert_uint_eq(accepted("VCCL_EAGER", "4k").eager_bytes, 4096);
    ck_assert_uint_eq(accepted("VCCL_CREDIT", "1G").credit_bytes, (uint64_t)1 << 30);
    ck_assert_double_eq(accepted("VCCL_TIMEOUT", "2.5").timeout, 2.5);
    ck_assert_uint_eq(accepted("VCCL_LINKS", "self").links, 1);
    ck_assert_uint_eq(accepted("VCCL_LINKS", "shm,self").links, 3);
    ck_assert_uint_eq(accepted("VCCL_LINKS", "tcp,shm,cuda").links, 2 + 4 + 16);
    ck_assert_str_eq(accepted("VCCL_COLL", "allreduce:ring").coll, "allreduce:ring");
    ck_assert_uint_eq(accepted("VCCL_EAGER", "").eager_bytes, 32768);
}
END_TEST

START_TEST(loaded_is_kept)
{
    accepted("VCCL_EAGER", "2k");
    const struct vcci_env *first = vcci_env();
    ck_assert_uint_eq(first->eager_bytes, 2048);
    accepted("VCCL_EAGER", "2k");
    ck_assert_ptr_eq(vcci_env(), first);
    refused("VCCL_EAGER", "nonsense", "0..64k");
    ck_assert_ptr_eq(vcci_env(), first);
    accepted("VCCL_EAGER", "3k");
    ck_assert_uint_eq(vcci_env()->eager_bytes, 3072);
    ck_assert_uint_eq(first->eager_bytes, 2048);
    ck_assert_int_eq(vcci_env_load(NULL), 0);
    ck_assert_uint_eq(vcci_env()->eager_bytes, 32768);
}
END_TEST

START_TEST(bad_values_name_good_ones)
{
    refused("VCCL_PROGRESS", "fast", "thread caller");
    refused("VCCL_PROGRESS", "threa", "thread caller");
    refused("VCCL_PROGRESS", "thread|caller", "thread caller");
    refused("VCCL_SPIN", "x", "-1..1000000");
    refused("VCCL_SPIN", "-2", "-1..1000000");
    refused("VCCL_SPIN", "1000001", "-1..1000000");
    refused("VCCL_SPIN", "99999999999999999999999", "-1..1000000");
    refused("VCCL_SPIN", "5x", "-1..1000000");
    refused("VCCL_EAGER", "65k", "0..64k");
    refused("VCCL_EAGER", "-1", "0..64k");
    refused("VCCL_CREDIT", "3k", "4k..1g");
    refused("VCCL_TIMEOUT", "-1", "0..31536000");
    refused("VCCL_TIMEOUT", "nan", "0..31536000");
    refused("VCCL_TIMEOUT", "inf", "0..31536000");
    refused("VCCL_TIMEOUT", "5s", "0..31536000");
    refused("VCCL_LINKS", "self,smh", "self shm tcp rdma cuda");
    refused("VCCL_LINKS", "self,", "self shm tcp rdma cuda");
    refused("VCCL_LINKS", ",", "self shm tcp rdma cuda");
}
END_TEST

START_TEST(bytes_have_units)
{
    static const char *const bad[] = {
        "", "k", "-1", "+1", " 1", "1 k", "1kk", "1x", "1.5k", "0x10", "18446744073709551616", "16777216t"};
    uint64_t n = 5;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(vcci_bytes_parse(bad[i], &n) < 0 && n == 5, "%s", bad[i]);
    ck_assert(vcci_bytes_parse("0", &n) == 0 && n == 0);
    ck_assert(vcci_bytes_parse("123", &n) == 0 && n == 123);
    ck_assert(vcci_bytes_parse("64k", &n) == 0 && n == 65536);
    ck_assert(vcci_bytes_parse("1m", &n) == 0 && n == 1 << 20);
    ck_assert(vcci_bytes_parse("2G", &n) == 0 && n == (uint64_t)2 << 30);
    ck_assert(vcci_bytes_parse("1T", &n) == 0 && n == (uint64_t)1 << 40);
    ck_assert(vcci_bytes_parse("18446744073709551615", &n) == 0 && n == UINT64_MAX);
}
END_TEST

START_TEST(unknown_names_are_warned_of_once)
{
    char buf[4096];
    int fds[2], kept = dup(STDERR_FILENO);
    ssize_t n;

    all_unset();
    ck_assert_str_eq(vcci_env_nearest("VCCL_LINK"), "VCCL_LINKS");
    ck_assert_str_eq(vcci_env_nearest("VCCL_TIMOUT"), "VCCL_TIMEOUT");
    ck_assert_str_eq(vcci_env_nearest("VCCL_PROGERSS"), "VCCL_PROGRESS");
    setenv("VCCL_EAGR", "1", 1);
    setenv("VCCL_JOB_ANYTHING", "1", 1);
    setenv("VCCLX", "1", 1);
    ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
    dup2(fds[1], STDERR_FILENO);
    ck_assert_int_eq(vcci_env_load(NULL), 0);
    ck_assert_int_eq(vcci_env_load(NULL), 0);
    dup2(kept, STDERR_FILENO);
    n = read(fds[0], buf, sizeof buf - 1);
    ck_assert_int_gt((int)n, 0);
    buf[n] = '\0';
    ck_assert_str_eq(buf, "vccl: unknown variable VCCL_EAGR is ignored; the nearest known one is VCCL_EAGER\n");
}
END_TEST

START_TEST(report_has_every_variable)
{
    char all[16384], cut[100];
    int n, lines = 0;

    all_unset();
    setenv("VCCL_TIMEOUT", "12.25", 1);
    n = vcci_env_report(all, sizeof all);
    ck_assert_int_eq((int)strlen(all), n);
#define X(field, name, kind, dflt, choices, text)                                                                                \
    ck_assert_msg(strstr(all, "\n" name " ") && strstr(all, choices) && strstr(all, text), "%s", name);                          \
    lines++;
    VCCI_ENV_TABLE(X)
#undef X
    ck_assert_ptr_nonnull(strstr(all, "12.25"));
    for (const char *at = all; *at; at++)
        lines -= *at == '\n';
    ck_assert_int_eq(lines, -1); /* the headings */
    ck_assert_int_eq(vcci_env_report(cut, sizeof cut), n);
    ck_assert_uint_eq(strlen(cut), sizeof cut - 1);
    ck_assert_int_eq(vcci_env_report(NULL, 0), n);
}
END_TEST

static void *reader(void *arg)
{
    for (int i = 0; i < 10000; i++)
        UNIT_HOLDS(vcci_env()->eager_bytes >= 2048);
    return arg;
}

START_TEST(reads_while_loading)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, reader, NULL), 0);
    for (int i = 0; i < 100; i++)
        accepted("VCCL_EAGER", i % 2 ? "2k" : "3k");
    pthread_join(thread, NULL);
}
END_TEST

UNIT_MAIN("env", defaults_before_load, every_kind_is_parsed, loaded_is_kept, bad_values_name_good_ones, bytes_have_units,
          unknown_names_are_warned_of_once, report_has_every_variable, reads_while_loading)
