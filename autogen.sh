#!/bin/sh
# Makes configure. Needs autoconf, automake, libtool, pkg-config.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux
autoreconf -fi
