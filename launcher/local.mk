# vcclrun. All but main is a library of its own, which the unit tests link too.
noinst_LTLIBRARIES += launcher/libvcci_launcher.la
launcher_libvcci_launcher_la_SOURCES = \
	launcher/child.c launcher/child.h launcher/env.c launcher/env.h launcher/guard.c launcher/guard.h \
	launcher/iof.c launcher/iof.h launcher/job.c launcher/job.h launcher/opt.c launcher/opt.h launcher/place.c launcher/place.h \
	launcher/rank.h launcher/scratch.c launcher/scratch.h launcher/sink.c launcher/sink.h launcher/start_fork.c launcher/start.h \
	launcher/sweep.c launcher/sweep.h
launcher_libvcci_launcher_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
launcher_libvcci_launcher_la_LIBADD = pmix/libvcci_server.la $(HWLOC_LIBS)

bin_PROGRAMS += launcher/vcclrun
launcher_vcclrun_SOURCES = launcher/main.c
launcher_vcclrun_LDADD = launcher/libvcci_launcher.la
