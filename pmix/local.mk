# pmix: the bootstrap goes into the library, the server only into vcclrun and the tests that are their own launcher.
lib_libvcci_la_SOURCES += pmix/boot.c pmix/boot.h pmix/boot_fake.c pmix/boot_fake.h pmix/boot_pmix.c pmix/boot_solo.c

noinst_LTLIBRARIES += pmix/libvcci_server.la
pmix_libvcci_server_la_SOURCES = pmix/server.c pmix/server.h
pmix_libvcci_server_la_LIBADD = lib/libvcci.la
