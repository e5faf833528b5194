lib_libvcci_la_SOURCES += \
	coll/coll.c coll/coll.h coll/flat.h coll/flat_area.c coll/flat_run.c coll/plan.c coll/plan.h coll/sched.h coll/sched_build.c \
	coll/sched_build.h coll/sched_dump.c coll/sched_flat.c coll/sched_freeze.c coll/sched_run.c coll/sched_run.h coll/select.c \
	coll/select.h coll/sig.c coll/sig.h
