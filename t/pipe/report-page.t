#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-report.1: the page shows the current output of the tool. Each block after a comment "output" has a command and its output; the trace is
# that of the block "example". UPDATE=1 writes the output of today into the page.
. t/helper/tap.sh
. t/helper/example-trace.sh
command -v jq >/dev/null || skip_all 'there is no jq'
page=doc/ctp-report.1
bin=$(cd "$BIN" && pwd)

rules=doc/ctp-rules.7
make_trace example $page t.ctp
make_trace 'script: possible possible' $rules possible.ctp
sed -n '/^\.\\" output/,/^\.Ed/s/^\$ cat \([a-z]*\);.*/\1/p' $page >"$tmp/shown"
is 'one file is shown before it is used' "$(cat "$tmp/shown")" known
sed -n '/^\$ cat known;/,/^\.Ed/p' $page | sed '1d; /^No findings/,$d' >"$tmp/known"

# The page with the current output.
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
	}' $page >"$tmp/page"
if [ "${UPDATE:-}" ]; then cat "$tmp/page" >$page; fi
is 'each output is what the tool prints' "$(diff $page "$tmp/page")" ''

# Options without output to show print the usage or the version.
is 'each option has an example' "$(awk '/^\.Sh/ { inside = $2 == "OPTIONS" } !inside { next }
	/^\.It Fl/ || /^\.El/ { if (option != "" && !shown) print option; option = $0; shown = 0 } /^\.Bd/ { shown = 1 }' $page)" \
	'.It Fl h , Fl -help
.It Fl V , Fl -version'
done_testing
