lib_libvcci_la_SOURCES += \
	lib/api/boot.c lib/api/boot.h lib/api/coll.c lib/api/comm.c lib/api/ctx.c lib/api/ctx.h lib/api/init.c lib/api/mem.c \
	lib/api/op.c lib/api/op.h lib/api/pt2pt.c lib/api/query.c lib/api/request.c lib/api/request.h lib/api/result.h
