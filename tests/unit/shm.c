/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/shm.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "tests/unit/unit.h"

static int exit_status(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(own_process)
{
    struct vcci_shm mine, again;
    struct vcci_shm_addr addr;

    ck_assert_int_eq(vcci_shm_create(&mine, 100, &addr), 0);
    ck_assert_uint_eq(mine.bytes % (size_t)sysconf(_SC_PAGESIZE), 0);
    ck_assert_int_eq(fcntl(mine.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(addr.pid, getpid());
    ck_assert_int_eq(((char *)mine.base)[VCCI_SHM_HEADER], 0);
    ck_assert_int_eq(vcci_shm_open(&again, &addr), 0);
    ck_assert_int_eq(again.fd, -1);
    ck_assert_ptr_ne(again.base, mine.base);
    ((char *)mine.base)[VCCI_SHM_HEADER] = 42;
    ck_assert_int_eq(((char *)again.base)[VCCI_SHM_HEADER], 42);
    vcci_shm_close(&again);
    vcci_shm_close(&again);
    vcci_shm_close(&mine);
    memset(&mine, 0, sizeof mine);
    vcci_shm_close(&mine);
}
END_TEST

START_TEST(other_process)
{
    struct vcci_shm mine, theirs;
    struct vcci_shm_addr addr;
    int go[2];
    char byte;

    ck_assert_int_eq(pipe(go), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (read(go[0], &addr, sizeof addr) != (ssize_t)sizeof addr || vcci_shm_open(&theirs, &addr) < 0)
            _exit(1);
        char *data = (char *)theirs.base + VCCI_SHM_HEADER;
        _exit(data[0] == 'x' && (data[theirs.bytes - VCCI_SHM_HEADER - 1] = 'y') ? 0 : 2);
    }
    ck_assert_int_eq(vcci_shm_create(&mine, 1 << 20, &addr), 0);
    ((char *)mine.base)[VCCI_SHM_HEADER] = 'x';
    ck_assert_int_eq((int)write(go[1], &addr, sizeof addr), (int)sizeof addr);
    ck_assert_int_eq(exit_status(pid), 0);
    byte = ((char *)mine.base)[mine.bytes - 1];
    ck_assert_int_eq(byte, 'y');
    vcci_shm_close(&mine);
}
END_TEST

START_TEST(size_is_sealed)
{
    struct vcci_shm mine;
    struct vcci_shm_addr addr;

    ck_assert_int_eq(vcci_shm_create(&mine, 8192, &addr), 0);
    ck_assert_int_lt(ftruncate(mine.fd, 4096), 0);
    ck_assert_int_lt(ftruncate(mine.fd, 16384), 0);
    vcci_shm_close(&mine);
}
END_TEST

START_TEST(wrong_memory_is_refused)
{
    struct vcci_shm mine, opened = {.fd = 77};
    struct vcci_shm_addr addr, bad;
    int fds[2], unsealed;

    ck_assert_int_eq(vcci_shm_create(&mine, 8192, &addr), 0);
    bad = addr;
    bad.nonce[15] ^= 1;
    ck_assert_int_eq(vcci_shm_open(&opened, &bad), -VCCL_ERR_LINK);
    bad = addr;
    bad.bytes += 4096;
    ck_assert_int_eq(vcci_shm_open(&opened, &bad), -VCCL_ERR_LINK);
    /* the descriptor has become a pipe, a file without seals, nothing; the process is gone */
    ck_assert_int_eq(pipe(fds), 0);
    bad = addr;
    bad.fd = fds[0];
    ck_assert_int_eq(vcci_shm_open(&opened, &bad), -VCCL_ERR_LINK);
    unsealed = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ck_assert_int_eq(ftruncate(unsealed, 8192), 0);
    ck_assert_int_eq((int)pwrite(unsealed, addr.nonce, sizeof addr.nonce, 0), (int)sizeof addr.nonce);
    bad.fd = unsealed;
    ck_assert_int_eq(vcci_shm_open(&opened, &bad), -VCCL_ERR_LINK);
    bad.fd = 12345;
    ck_assert_int_eq(vcci_shm_open(&opened, &bad), -VCCL_ERR_SYSTEM);
    ck_assert_ptr_nonnull(strstr(vcci_err_text(), "errno 2"));
    bad = addr;
    bad.pid = 0x7ffffffe;
    ck_assert_int_eq(vcci_shm_open(&opened, &bad), -VCCL_ERR_SYSTEM);
    ck_assert_ptr_nonnull(strstr(vcci_err_text(), "2147483646"));
    ck_assert_int_eq(opened.fd, 77);
    vcci_shm_close(&mine);
}
END_TEST

START_TEST(too_large_is_an_error)
{
    struct vcci_shm mine;
    struct vcci_shm_addr addr;

    ck_assert_int_eq(vcci_shm_create(&mine, SIZE_MAX, &addr), -VCCL_ERR_NO_MEMORY);
    ck_assert_int_eq(vcci_shm_create(&mine, (size_t)1 << 62, &addr), -VCCL_ERR_SYSTEM);
    ck_assert_ptr_nonnull(strstr(vcci_err_text(), "errno"));
}
END_TEST

START_TEST(other_user_is_refused)
{
    struct vcci_shm mine, theirs;
    struct vcci_shm_addr addr;
    const struct passwd *nobody = getpwnam("nobody");

    if (geteuid() != 0 || !nobody) {
        printf("not root: another user's access is not tried\n");
        return;
    }
    ck_assert_int_eq(vcci_shm_create(&mine, 8192, &addr), 0);
    struct stat st;
    ck_assert_int_eq(fstat(mine.fd, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0600);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (setgroups(0, NULL) < 0 || setgid(nobody->pw_gid) < 0 || setuid(nobody->pw_uid) < 0)
            _exit(3);
        _exit(vcci_shm_open(&theirs, &addr) == -VCCL_ERR_SYSTEM ? 0 : 1);
    }
    ck_assert_int_eq(exit_status(pid), 0);
    vcci_shm_close(&mine);
}
END_TEST

START_TEST(random_differs)
{
    unsigned char a[300] = {0}, b[300] = {0};

    ck_assert_int_eq(vcci_random(a, sizeof a), 0);
    ck_assert_int_eq(vcci_random(b, sizeof b), 0);
    ck_assert_int_ne(memcmp(a, b, sizeof a), 0);
    ck_assert_int_ne(memcmp(a + 284, b + 284, 16), 0);
}
END_TEST

UNIT_MAIN("shm", own_process, other_process, size_is_sealed, wrong_memory_is_refused, too_large_is_an_error,
          other_user_is_refused, random_differs)
