# SPDX-License-Identifier: BSD-3-Clause
# The checks of configure.ac, one macro per dependency. Needed: C11 with atomics, libev, PMIx, hwloc. Optional: verbs, CUDA, Check.

AC_DEFUN([VCCL_COMPILER], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--disable-werror], [do not turn compiler warnings into errors])], [],
                [enable_werror=yes])
  VCCL_CFLAGS="-std=gnu11 -D_GNU_SOURCE= -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -fvisibility=hidden -ffp-contract=off -pthread"
  AS_IF([test "x$enable_werror" = xyes], [VCCL_CFLAGS="$VCCL_CFLAGS -Werror"])
  AC_ARG_ENABLE([sanitize], [AS_HELP_STRING([--enable-sanitize=KIND], [build with -fsanitize=KIND (address,undefined or thread)])],
    [AS_IF([test "x$enableval" != xno],
      [VCCL_CFLAGS="$VCCL_CFLAGS -fsanitize=$enableval -fno-omit-frame-pointer -fno-sanitize-recover=all"
       VCCL_LDFLAGS="-fsanitize=$enableval"
       AS_IF([test "x$enableval" = xthread], [VCCL_TSAN_FENCES])])])
  AC_SUBST([VCCL_CFLAGS])
  AC_SUBST([VCCL_LDFLAGS])
  AC_CHECK_SIZEOF([void *])
  AS_IF([test "$ac_cv_sizeof_void_p" != 8], [AC_MSG_ERROR([VCCL needs a 64-bit system])])
  AC_CHECK_FUNCS([memfd_create process_vm_readv pidfd_open], [], [])
])

# TSan does not see atomic_thread_fence and gcc warns of that. All that our fences order is atomic itself, so no race is missed.
AC_DEFUN([VCCL_TSAN_FENCES], [
  vccl_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror -Wno-tsan"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [VCCL_CFLAGS="$VCCL_CFLAGS -Wno-tsan"])
  CFLAGS=$vccl_saved_CFLAGS
])

# Loaded at run time, see lib/engine/libev.h.
AC_DEFUN([VCCL_LIBEV], [
  AC_CHECK_HEADER([ev.h], [], [AC_MSG_ERROR([ev.h not found: install libev-dev (Debian, Ubuntu)])])
  AC_CHECK_LIB([ev], [ev_loop_new], [:], [AC_MSG_ERROR([libev not found: install libev-dev (Debian, Ubuntu)])], [-lm])
])

AC_DEFUN([VCCL_PMIX], [PKG_CHECK_MODULES([PMIX], [pmix >= 4.1], [],
  [AC_MSG_ERROR([PMIx 4.1 or newer not found: install libpmix-dev (Debian, Ubuntu)])])])

AC_DEFUN([VCCL_HWLOC], [PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0], [],
  [AC_MSG_ERROR([hwloc 2 not found: install libhwloc-dev (Debian, Ubuntu)])])])

AC_DEFUN([VCCL_VERBS], [
  AC_CHECK_HEADER([infiniband/verbs.h], [have_verbs=yes], [have_verbs=no])
  AS_IF([test "$have_verbs" = yes], [AC_DEFINE([HAVE_VERBS], [1], [rdma-core's headers are there])])
])

AC_DEFUN([VCCL_CUDA], [
  AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda=DIR], [CUDA Toolkit (default /usr/local/cuda if there; no to leave out)])], [],
              [with_cuda=/usr/local/cuda])
  have_cuda=no
  AS_IF([test "x$with_cuda" != xno && test -f "$with_cuda/include/cuda.h"],
    [have_cuda=yes; AC_DEFINE([HAVE_CUDA], [1], [the CUDA Toolkit's headers are there])])
])

AC_DEFUN([VCCL_CHECK], [
  PKG_CHECK_MODULES([CHECK], [check >= 0.15], [have_check=yes], [have_check=no])
  AM_CONDITIONAL([HAVE_CHECK], [test "$have_check" = yes])
])
