# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# compilers.sh - $compilers: those of gcc and clang that are installed; include it after tap.sh.
# shellcheck shell=sh
compilers=
for c in gcc clang; do
	if command -v $c >/dev/null; then compilers="$compilers $c"; else note "skipped: there is no $c"; fi
done
[ "$compilers" ] || skip_all 'there is neither gcc nor clang'
