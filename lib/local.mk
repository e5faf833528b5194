# libvccl: everything is built once into libvcci.la (tests and tools of this tree link it), libvccl.la is that behind a symbol map.
noinst_LTLIBRARIES += lib/libvcci.la
lib_libvcci_la_SOURCES =
lib_libvcci_la_LIBADD = $(PMIX_LIBS)

lib_libvcci_la_SOURCES += \
	lib/base/clock.h lib/base/copy.c lib/base/copy.h lib/base/cpu.c lib/base/cpu.h lib/base/env.c lib/base/env.h lib/base/err.c lib/base/err.h \
	lib/base/futex.c lib/base/futex.h lib/base/handle.c lib/base/handle.h lib/base/list.h lib/base/log.c lib/base/log.h \
	lib/base/map.c lib/base/map.h lib/base/pool.c lib/base/pool.h lib/base/shm.c lib/base/shm.h lib/base/stat.c lib/base/stat.h \
	lib/base/text.c lib/base/text.h

lib_LTLIBRARIES += lib/libvccl.la
lib_libvccl_la_SOURCES =
lib_libvccl_la_LIBADD = lib/libvcci.la
lib_libvccl_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,--version-script=$(top_srcdir)/lib/api/libvccl.map
lib_libvccl_la_DEPENDENCIES = lib/libvcci.la lib/api/libvccl.map
EXTRA_DIST += lib/api/libvccl.map
