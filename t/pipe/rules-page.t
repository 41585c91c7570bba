#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-rules.7: each rule has a trace, in which ctp-report finds that rule, with the certainty that the page gives, and nothing else.
# That the page has all rules is checked by report-table.c.
. t/helper/tap.sh
command -v jq >/dev/null || skip_all 'there is no jq'
page=doc/ctp-rules.7

# The comment in front of a block names it: "functions", "trace: RULE GRADE" or "script: RULE GRADE".
block() { # NAME
	awk -v want=".\\\\\" $1" '$0 == want { named = 1; next } named && /^\.Ed/ { exit } inside { print }
		named && /^\.Bd -literal/ { inside = 1 }' $page | sed 's/^\\&//; s/\\(aq/'"'"'/g; s/\\e/\\/g'
}
# "RULE GRADE" of each finding and of each wait that stands out.
found() {
	"$BIN/ctp-fromjsonl" "$tmp/rows" 2>"$tmp/err" | "$BIN/ctp-report" -qj |
		jq -r '.sections[] | (.findings[] | "\(.rule) \(.certainty)"), (.suspects[] | "\(.rule // "possible") \(.certainty)")'
}

block functions >"$tmp/functions"
ok 'the page has the functions of its scripts' test -s "$tmp/functions"
sed -n 's/^\.\\" \(trace\|script\): //p' $page >"$tmp/traces"
is 'each rule has one trace, and so have the waits that stand out' "$(cut -d ' ' -f 1 "$tmp/traces")" \
	"$(sed -n '/^\.Sh RULES/,/^\.Sh WAITS/s/^\.Ss //p' $page; echo possible)"
while read -r rule grade; do
	block "trace: $rule $grade" >"$tmp/rows"
	if [ ! -s "$tmp/rows" ]; then
		block "script: $rule $grade" | cat "$tmp/functions" - >"$tmp/script"
		sh "$tmp/script" >"$tmp/rows"
	fi
	is "$rule: the trace gives that finding, and no other" "$(found)" "$rule $grade"
	is "$rule: each of its rows is read" "$(cat "$tmp/err")" ''
	[ "$rule" = possible ] || like "$rule: the page says that it can be that" \
		"$(awk -v rule="$rule" '$1 == ".Ss" { inside = $2 == rule } inside && sure { print; exit } inside { sure = $0 == ".Sy Certainty :" }' $page)" "$grade"
done <"$tmp/traces"
done_testing
