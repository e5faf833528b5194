/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "tests/unit/unit.h"

START_TEST(keeps_the_sentence)
{
    ck_assert_str_eq(vcci_err_text(), "");
    ck_assert_int_eq(vcci_fail(VCCL_ERR_ARG, "rank %d is not below %d", 7, 4), -VCCL_ERR_ARG);
    ck_assert_str_eq(vcci_err_text(), "rank 7 is not below 4");
    ck_assert_int_eq(vcci_fail(VCCL_ERR_LINK, "again: %s", vcci_err_text()), -VCCL_ERR_LINK);
    ck_assert_str_eq(vcci_err_text(), "again: rank 7 is not below 4");
}
END_TEST

START_TEST(names_errno)
{
    ck_assert_int_eq(vcci_fail_errno(VCCL_ERR_SYSTEM, ENOENT, "open %s", "x"), -VCCL_ERR_SYSTEM);
    ck_assert_str_eq(vcci_err_text(), "open x: No such file or directory (errno 2)");
}
END_TEST

START_TEST(cuts_long_sentences)
{
    char text[2000];

    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    vcci_fail(VCCL_ERR_ARG, "%s", text);
    ck_assert_uint_eq(strlen(vcci_err_text()), 511);
    vcci_fail_errno(VCCL_ERR_ARG, EIO, "%s", text);
    ck_assert_uint_eq(strlen(vcci_err_text()), 511);
    vcci_err_set_text("short");
    ck_assert_str_eq(vcci_err_text(), "short");
    vcci_err_set_text(text);
    ck_assert_uint_eq(strlen(vcci_err_text()), 511);
    vcci_err_set_text(vcci_err_text());
    ck_assert_uint_eq(strlen(vcci_err_text()), 511);
}
END_TEST

static void *other_thread(void *arg)
{
    ck_assert_str_eq(vcci_err_text(), "");
    vcci_fail(VCCL_ERR_ARG, "other");
    return arg;
}

START_TEST(is_per_thread)
{
    pthread_t thread;

    vcci_fail(VCCL_ERR_ARG, "mine");
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_str_eq(vcci_err_text(), "mine");
}
END_TEST

/* Runs fn with stderr in a pipe; what it wrote is in buf. */
static void captured(void (*fn)(void), char *buf, size_t cap)
{
    int fds[2], kept = dup(STDERR_FILENO);
    ssize_t n;

    ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
    dup2(fds[1], STDERR_FILENO);
    fn();
    dup2(kept, STDERR_FILENO);
    n = read(fds[0], buf, cap - 1);
    buf[n > 0 ? n : 0] = '\0';
    close(fds[0]);
    close(fds[1]);
    close(kept);
}

static void log_without_rank(void)
{
    vcci_log(VCCI_LOG_WARN, "one %d", 1);
    vcci_log(VCCI_LOG_INFO, "not shown");
    VCCI_DEBUG("nor this");
}

static void log_with_rank(void)
{
    vcci_log_rank(3);
    vcci_log_limit(VCCI_LOG_DEBUG);
    VCCI_DEBUG("two\nlines");
    vcci_log_limit(VCCI_LOG_ERROR);
    vcci_log(VCCI_LOG_WARN, "not shown");
}

static void log_long(void)
{
    char text[3000];

    memset(text, 'b', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    vcci_log(VCCI_LOG_ERROR, "%s", text);
}

START_TEST(logs_whole_lines)
{
    char buf[4096];

    errno = EXDEV;
    captured(log_without_rank, buf, sizeof buf);
    ck_assert_str_eq(buf, "vccl: one 1\n");
    captured(log_with_rank, buf, sizeof buf);
    ck_assert_str_eq(buf, "vccl: rank 3: two lines\n");
    captured(log_long, buf, sizeof buf);
    ck_assert_uint_le(strlen(buf), 1024);
    ck_assert_ptr_eq(strchr(buf, '\n'), buf + strlen(buf) - 1);
}
END_TEST

START_TEST(log_keeps_errno)
{
    close(STDERR_FILENO);
    errno = EXDEV;
    vcci_log(VCCI_LOG_ERROR, "to nobody");
    ck_assert_int_eq(errno, EXDEV);
}
END_TEST

START_TEST(broken_invariant_aborts)
{
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(STDERR_FILENO);
        VCCI_ASSERT(1 + 1 == 2);
        VCCI_ASSERT(1 + 1 == 3);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}
END_TEST

UNIT_MAIN("err", keeps_the_sentence, names_errno, cuts_long_sentences, is_per_thread, logs_whole_lines, log_keeps_errno,
          broken_invariant_aborts)
