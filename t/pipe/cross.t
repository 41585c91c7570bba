#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The probe and the collector are compiled for the other architecture and run in an emulator. On x86-64 that is aarch64, whose
# memory order is the weaker; on aarch64 it is x86-64. What an emulator shows is layout, atomics and the round trip, not races.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh

case $(uname -m) in
aarch64) other=x86_64 ;;
*) other=aarch64 ;;
esac
cc=$other-linux-gnu-gcc
command -v $cc >/dev/null && command -v qemu-$other >/dev/null || skip_all "there is no $cc with qemu-$other"

tests='record sdk rings v1-station race'
# shellcheck disable=SC2046,SC2086
ok "it compiles for $other" make --no-print-directory -s O="$tmp/o" CC=$cc PKG_CONFIG=false FORMATS= LIB="$(echo lib/base/*.c lib/io/*.c lib/stream/*.c lib/shm/*.c lib/collect/*.c)" \
	libs_csv= test_libs= LDFLAGS=-static CFLAGS=${EVERY:+-O2\ -g} WERROR=1 -j2 $(for t in $tests; do echo "$tmp/o/t/unit/$t"; done)
for t in $tests; do
	qemu-$other "$tmp/o/t/unit/$t" >"$tmp/out" 2>&1
	status=$?
	is "$t under qemu-$other" "$status" 0 || sed 's/^/# /' "$tmp/out" | grep -v '^# ok' >&2
done
done_testing
