#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The numbers of ctp-report are those that an independent model computes from the same trace: real and generated traces.
# Not under sanitizers: a model in Python works out the numbers, for minutes.
# Mostly waits.
. t/helper/tap.sh
for program in python3 "${CC:-cc}"; do
	command -v "$program" >/dev/null || skip_all "there is no $program"
done

agrees() { # RUN: of $tmp/RUN.ctp
	"$BIN/ctp-report" -j "$tmp/$1.ctp" >"$tmp/$1.json" 2>"$tmp/$1.err"
	"$BIN/ctp-tojsonl" -a "$tmp/$1.ctp" 2>"$tmp/$1.err" | python3 t/helper/report-model.py "$tmp/$1.json" >"$tmp/$1.says"
	note "$1: $(tail -n 1 "$tmp/$1.says")"
	is "$1: the report and the model agree" "$(sed '$d' "$tmp/$1.says" | head -n 5)" ''
	like "$1: there are numbers to compare" "$(tail -n 1 "$tmp/$1.says")" '^[1-9][0-9]* coroutines, 0 differences$'
}
run() { # RUN COMMAND...
	run_to=$tmp/$1.ctp
	shift
	"$BIN/ctp-collect" -q -o "$run_to" "$@" >"$tmp/said" 2>&1
}

run lostwake "$O/examples/lostwake"
agrees lostwake
if [ -x "$O/examples/pool" ]; then
	run pool "$O/examples/pool"
	agrees pool
fi
for dialect in seqlock plain; do
	run $dialect "$O/t/helper/tracee" -d $dialect -c 20 -e 400 -j 2
	agrees $dialect
done
for program in mailbox dropped shutdown cycle; do
	if cc_traced -g -o "$tmp/$program" t/defects/$program.c; then
		timeout -s TERM 3 "$BIN/ctp-collect" -q -o "$tmp/$program.ctp" "$tmp/$program" bug >"$tmp/said" 2>&1
		agrees $program
	fi
done

# One that was cut in the middle, and two one after the other.
head -c $(($(wc -c <"$tmp/lostwake.ctp") * 2 / 3)) "$tmp/lostwake.ctp" >"$tmp/cut.ctp"
agrees cut
cat "$tmp/seqlock.ctp" "$tmp/lostwake.ctp" >"$tmp/two.ctp"
agrees two
if [ -x "$O/t/bench/mix" ]; then
	"$O/t/bench/mix" 20000 300 >"$tmp/mix.ctp"
	agrees mix
	"$O/t/bench/mix" 20000 5000 >"$tmp/many.ctp"
	agrees many
fi

# With losses of all sorts; and again without some of the records, which no record of a loss counts.
for seed in 11 12 13; do
	python3 t/helper/gaps.py make $seed >"$tmp/gaps.jsonl"
	"$BIN/ctp-fromjsonl" -q -o "$tmp/gaps.ctp" "$tmp/gaps.jsonl"
	agrees gaps
	awk -v seed=$seed '/"type":"(@|site|thread|end)/ || (NR * 7 + seed) % 11' "$tmp/gaps.jsonl" | "$BIN/ctp-fromjsonl" -q -o "$tmp/fewer.ctp"
	agrees fewer
done

# For random classes there is no model, but there must be a report.
for seed in 1 2 3 4 5; do
	"$O/t/helper/randstream" $seed >"$tmp/random.ctp"
	"$BIN/ctp-report" -j "$tmp/random.ctp" >"$tmp/random.json" 2>"$tmp/random.err"
	like "random $seed: the report is made" $? '^[03]$'
	ok "random $seed: the report is JSON" python3 -m json.tool "$tmp/random.json" "$tmp/random.out"
done
done_testing
