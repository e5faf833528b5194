lib_libvcci_la_SOURCES += \
	coll/sched.h coll/sched_build.c coll/sched_build.h coll/sched_dump.c coll/sched_freeze.c

