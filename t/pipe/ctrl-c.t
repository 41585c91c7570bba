#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Ctrl-C, Ctrl-Z and other keys on a terminal where ctp-collect writes into a pipe: the traced program
# gets them, and the reader of the pipe does not, so that the trace is complete. The scenes are in
# t/helper/ctrl-c.py.
# Mostly waits.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
python3 -c 'import os; os.openpty()' 2>/dev/null || skip_all 'there are no pseudo-terminals here'
command -v zstd >/dev/null || skip_all 'there is no zstd'
CC=${CC:-cc}
cc_traced -o "$tmp/target" t/helper/attach/target.c 2>/dev/null && export TARGET="$tmp/target"

scene() { # SHELL SCENE
	python3 t/helper/ctrl-c.py "$1" "$2" >"$tmp/said" 2>&1
	case $? in
	0) ok "$1: $2" true ;;
	77) skip "$1: $2: there is no $CC" ;;
	*) ok "$1: $2" sh -c 'cat "$1"; false' sh "$tmp/said" ;;
	esac
}
for shell in bash dash zsh; do
	if ! command -v $shell >/dev/null; then
		skip "there is no $shell"
		continue
	fi
	for scene in $(python3 t/helper/ctrl-c.py --list); do
		scene $shell "$scene"
	done
done
done_testing
