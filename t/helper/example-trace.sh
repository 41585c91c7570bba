# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# example-trace.sh - the traces that manual pages describe, for scripts: `. t/helper/example-trace.sh`, after tap.sh.
# shellcheck shell=sh

# The literal block after the comment NAME of a page.
block() { # NAME PAGE
	awk -v want=".\\\\\" $1" '$0 == want { named = 1; next } named && /^\.Ed/ { exit } inside { print }
		named && /^\.Bd -literal/ { inside = 1 }' "$2" | sed 's/\\(aq/'"'"'/g; s/\\e/\\/g'
}
make_trace() { # NAME PAGE FILE
	{ block functions doc/ctp-rules.7; block "$1" "$2"; } >"$tmp/script"
	sh "$tmp/script" | "$BIN/ctp-fromjsonl" >"$tmp/$3" 2>"$tmp/err"
	is "the block '$1' is a trace" "$(cat "$tmp/err")" ''
}
