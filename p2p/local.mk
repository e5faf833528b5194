# p2p
lib_libvcci_la_SOURCES += \
	p2p/board.c p2p/board.h p2p/cma.c p2p/eager.c p2p/inside.h p2p/link.h p2p/link_self.c p2p/link_shm.c p2p/match.c p2p/match.h p2p/mem.c \
	p2p/p2p.c p2p/p2p.h p2p/peer.c p2p/port.c p2p/ring.c p2p/ring.h p2p/rndv.c p2p/wire.h
