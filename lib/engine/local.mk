# lib/engine
lib_libvcci_la_SOURCES += \
	lib/engine/baton.c lib/engine/baton.h lib/engine/engine.c lib/engine/engine.h lib/engine/inside.h \
	lib/engine/libev.c lib/engine/libev.h lib/engine/loop.c lib/engine/wait.c
