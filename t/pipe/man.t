#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Each tool has a manual page that says what -h says: the synopsis word for word, the same options. The pages are well formed.
# The examples that a page marks print what the page says (manrun.py tells how they are marked).
# Not under sanitizers: most of it runs mandoc.
# Mostly waits.
. t/helper/tap.sh
command -v mandoc >/dev/null || skip_all 'there is no mandoc'

# Of a page: the words of a section, on one line.
section() { mandoc -T ascii -O width=1000 "$1" | sed "s/.$(printf '\b')//g" | awk -v want="$2" '
	/^[A-Z]/ { inside = $0 == want; next }
	inside { $1 = $1; if ($0 != "") line = line (line == "" ? "" : " ") $0 }
	END { print line }'; }

# Options, one to a line: of a page those that head an entry, of -h those that begin a line or follow two spaces.
page_options() { sed -n 's/^\.It Fl Fl \([a-z-]*\).*/--\1/p; s/^\.It Fl \([A-Za-z]\).*/-\1/p' "$1" | sort; }
help_options() { sed 's/   */\n/g' | sed -n 's/^\(-[A-Za-z]\|--[a-z-]*\)\( .*\)\{0,1\}$/\1/p' | sort; }

for tool in "$BIN"/ctp-*; do
	name=${tool##*/} page=doc/${tool##*/}.1
	ok "$name has a page" test -f "$page"
	[ -f "$page" ] || continue
	case $name in ctp-mysql) help=--help ;; *) help=-h ;; esac # where -h is the host
	"$tool" $help >"$tmp/help" 2>"$tmp/err"
	is "$name -h ends with status 0" $? 0
	is "$name -h says nothing on stderr" "$(cat "$tmp/err")" ''
	is "$name -h has the synopsis of the page" "$(sed -n '1s/^usage: //p' "$tmp/help")" "$(section "$page" SYNOPSIS)"
	is "$name -h has the options of the page" "$(help_options <"$tmp/help")" "$(page_options "$page")"
	like "$name -V says its name and version" "$("$tool" -V)" "^$name [0-9]+\.[0-9]+\.[0-9]+$"
	is "$name --help is -h" "$("$tool" --help)" "$(cat "$tmp/help")"
	is "$name --version is -V" "$("$tool" --version)" "$("$tool" -V)"
	"$tool" --no-such-option </dev/null >"$tmp/out" 2>"$tmp/err"
	is "$name ends with the page's status where an option is wrong" $? \
		"$(awk '/^\.It [0-9]/ { status = $2 } /usage was wrong/ { print status }' "$page")"
	is "$name says so in one line" "$(wc -l <"$tmp/err") $(wc -c <"$tmp/out")" '1 0'
done

for page in doc/*.[0-9]; do
	is "$page is clean" "$(mandoc -T lint -W warning "$page" 2>&1)" ''
	for part in NAME 'SEE ALSO'; do ok "$page has a section $part" grep -q "^\.Sh $part" "$page"; done
	case $page in *.1) ok "$page states the exit status" grep -q '^\.Sh EXIT STATUS' "$page" ;; esac
	# A page of ours that is named exists. Others have a name without ctp.
	sed -n 's/^\.Xr \(ctp[a-z.-]*\) \([0-9]\).*/doc\/\1.\2/p' "$page" | sort -u >"$tmp/named"
	is "$page names pages that exist" "$(while read -r p; do [ -f "$p" ] || echo "$p"; done <"$tmp/named")" ''
done

if command -v python3 >/dev/null; then
	for page in $(grep -l '^\.\\" run' doc/*.[0-9]); do
		for try in 1 2 3; do # what threads do at the same time may come in another order now and then
			O=$O BIN=$BIN python3 -B t/helper/manrun.py "$page" >"$tmp/ran" 2>&1
			grep -v -e '^# skip' -e '^commands ' "$tmp/ran" >"$tmp/wrong" || break
			note "$page: try $try differs"
		done
		is "$page: the examples print what it says" "$(cat "$tmp/wrong")" ''
		sed -n 's/^# skip: //p' "$tmp/ran" >"$tmp/skips"
		while read -r why; do skip "$why"; done <"$tmp/skips"
	done
else
	skip 'the examples of the pages: there is no python3'
fi
done_testing
