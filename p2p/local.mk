# p2p
lib_libvcci_la_SOURCES += p2p/board.c p2p/board.h
