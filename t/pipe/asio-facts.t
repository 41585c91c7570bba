#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The trace says what Asio's operations wait for, in a program that is not changed: the deadline of a timer, a descriptor, a
# channel.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
warn='-Wall -Wextra -Wshadow -Wundef -Werror'
command -v jq >/dev/null || skip_all 'there is no jq'
echo '#include <asio/awaitable.hpp>' >"$tmp/asio.cpp"
g++ -std=c++20 -E -o "$tmp/asio.i" "$tmp/asio.cpp" 2>/dev/null || skip_all 'there is no g++, or no Asio: package libasio-dev has it'
clang=$(command -v clang++) || skip 'there is no clang++'

compile() { # NAME COMPILER OPTION...: as $tmp/NAME
	compile_to=$1
	shift
	# shellcheck disable=SC2086
	CXX=$1
	shift
	cxx_traced "$@" $warn -include ctp-asio.hpp -o "$tmp/$compile_to" t/helper/asio/facts.cpp >"$tmp/$compile_to.said" 2>&1
}
# Of its three variants, check has the one that compiles in the shortest time; asio.t has CTP_ASIO_NO_WAKE and the other compiler.
programs=facts
compile facts "${clang:-g++}" ${EVERY:+-O2} &
if [ "${EVERY:-}" ]; then # by make check-all
	compile facts_quiet "${clang:-g++}" -O0 -DCTP_ASIO_NO_WAKE
	[ ! "$clang" ] || compile facts_gcc g++ -O2
	programs="$programs facts_quiet${clang:+ facts_gcc}"
fi
wait

# On a line of each coroutine's function: what each of its suspensions waits for, - where that is not known, + between several. The
# program has printed what things are called. A deadline that it cannot know beforehand is given by its distance.
facts() { # TRACE SAID
	"$BIN/ctp-tojsonl" -a "$1" | jq -rn --rawfile said "$2" '
	[$said | scan("(?:object|fd|deadline) ([a-z ]+) (?:0x)?([0-9a-f]+)\n") | {key: .[1], value: .[0]}] | from_entries as $names |
	def named: $names[.] // "unknown \(.)";
	def what:
		(if .for == "timer" then
			if .deadline == 0 then "long ago"
			elif .deadline > .ts + 1e12 then "in \((.deadline - .ts) / 1e11 | round)00 s"
			else "\(.deadline)" | named end
		elif .for == "descriptor" then "\("\(.fd)" | named) \({"1": "to read", "4": "to write"}["\(.count)"] // .count)"
		else "\(.for) of \(.object | ltrimstr("0x0000") | named)" end) + (.marks | sub("^cancellable ?"; "!"));
	[foreach inputs as $r ({}; .out = null | ($r.coro | tostring) as $c |
		if $r.type == "birth" then .who[$c] = ($r.site_text | sub("[<(].*"; "") | split(":")[-1])
		elif $r.type == "reason" then .why[$c] += [$r | what]
		elif $r.type == "transition" and ($r.is_active | not) and $r.index > 0 then
			.out = {who: .who[$c], why: ((.why[$c] // ["-"]) | join(" + "))} | .why[$c] = null
		else . end; .out | values)] | group_by(.who)[] | "\(.[0].who): \(map(.why) | join(", "))"'
}

cat >"$tmp/want" <<'WANT'
accepts: acceptor to read!, acceptor to read!, acceptor to read!
connects: connecting to write!, connecting next to write!
datagrams: datagrams to write!, datagrams to read!
either: long ago! + event of never!, either to read! + long ago! + item of empty!, -, long ago! + long ago! + long ago! + long ago!, -, -, -
event: event of event!
hour: in 3600 s!
nothing: -, -, -, -, -
pipes: pipe out to write!, pipe in to read!, writable to write!, readable to read!, serial to write!
reads: in to read!, in to read!, in to read!, in to read!, in to read!
receives: item of channel!, item of concurrent!, item of empty!
sends: room of channel!, room of concurrent!
signals: event of signals!rests
timers: steady!, long ago!, steady!, steady!, steady!, steady!, steady!, moved!
writes: out to write!, out to write!, out to write!, out to write!, out to write!
WANT

for program in $programs; do
	is "$program compiles without a word" "$(cat "$tmp/$program.said")" ''
	is "$program: untraced" "$("$tmp/$program" | tail -n 1)" 'done'
	"$BIN/ctp-collect" -q -o "$tmp/$program.ctp" "$tmp/$program" >"$tmp/printed"
	is "$program: traced, the same" "$(tail -n 1 "$tmp/printed")" 'done'
	facts "$tmp/$program.ctp" "$tmp/printed" >"$tmp/facts.txt"
	ok "$program: each waits for what it should" diff "$tmp/want" "$tmp/facts.txt"
	is "$program: none of the waits is a finding" "$("$BIN/ctp-report" -j "$tmp/$program.ctp" | jq -c '[.sections[].findings[]]')" '[]'
done
done_testing
