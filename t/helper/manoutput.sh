# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# manoutput.sh - for tests of pages that show the current output of a tool: `. t/helper/manoutput.sh`, after tap.sh. Each block after a
# comment "output" begins with a command, and has its output, which is of the files in $tmp. UPDATE=1 writes the output of today into
# the page.
# shellcheck shell=sh disable=SC2154 # tap.sh has $tmp
bin=$(cd "$BIN" && pwd)

page_is_current() { # PAGE
	printf '%s\n' 's/\\/\\e/g' "s/'/\\\\(aq/g" 's/^\./\\\&./' >"$tmp/literal"
	PATH=$bin:$PATH awk -v dir="$tmp" '!skips || /^\.Ed/ { print; skips = 0 }
		/^\.\\" output/ { output = 1 }
		output && /^\$ / {
			command = substr($0, 3)
			gsub(/\\\(aq/, "\047", command)
			fflush()
			system("cd " dir " && { " command "; } 2>&1 | sed -f literal")
			output = 0
			skips = 1
		}' "$1" >"$tmp/page"
	if [ "${UPDATE:-}" ]; then cat "$tmp/page" >"$1"; fi
	is 'each output is what the tool prints' "$(diff "$1" "$tmp/page")" ''
	# Options without output to show print the usage or the version.
	is 'each option has an example' "$(awk '/^\.Sh/ { inside = $2 == "OPTIONS" } !inside { next }
		/^\.It Fl/ || /^\.El/ { if (option != "" && !shown) print option; option = $0; shown = 0 } /^\.Bd/ { shown = 1 }' "$1")" \
		'.It Fl h , Fl -help
.It Fl V , Fl -version'
}
