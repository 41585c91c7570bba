#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-merge makes what a model in Python says: of real, random and hostile streams, of several clocks, in rounds, and of merged ones.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
ctp() { tool=$1; shift; "$BIN/ctp-$tool" "$@"; }
json() { for name; do ctp tojsonl -qa "$tmp/$name.ctp" >"$tmp/$name.j" 2>/dev/null; done; }

agrees() { # WHAT STATUS INPUT...: ctp-merge of these, and the model
	what=$1 want=$2 files='' jsons=''
	shift 2
	for name; do files="$files $tmp/$name.ctp" jsons="$jsons $tmp/$name.j"; done
	# shellcheck disable=SC2086
	ctp merge -q -o "$tmp/merged.ctp" $files 2>"$tmp/err"
	is "$what: the status" "$? $(cat "$tmp/err")" "$want "
	json merged
	# shellcheck disable=SC2086
	python3 t/helper/merge-model.py "$tmp/merged.j" $jsons >"$tmp/says" 2>&1
	note "$what: $(tail -n 1 "$tmp/says")"
	is "$what: as the model says" "$(sed '$d' "$tmp/says" | head -n 4 | cut -c 1-600)" ''
	like "$what: there are records to compare" "$(tail -n 1 "$tmp/says")" '^[1-9][0-9]* records, .* 0 differences$'
}
attributes() { # NEW...: of each section of a stream of JSON lines, before those that it has
	sed "s/^{\"type\":\"@section\",\"attrs\":{/{\"type\":\"@section\",\"attrs\":{$1,/; s/,}}\$/}}/"
}
here='"clock":"monotonic","boot_id":"b","time_namespace":"1","wall_offset_ns":"5000"'

# --- real ones
for name in a b; do ctp collect -q -o "$tmp/$name.ctp" "$O/t/helper/tracee" -c 3 -e 20; done
json a b
agrees 'two processes' 3 a b
like 'two processes: the monotonic clock' "$(head -n 1 "$tmp/merged.j")" '"clock":"monotonic","boot_id":"[^"]+"'
is 'two processes: names of the origins' "$(sed -n 's/.*"name":"\([^"]*\)".*"state":"begins".*/\1/p' "$tmp/merged.j" | sort)" \
	"$(sed -n 's/.*"host":"\([^"]*\)".*"pid":"\([0-9]*\)".*/\1\/\2/p' "$tmp/a.j" "$tmp/b.j" | sort)"
cp "$tmp/merged.ctp" "$tmp/ab.ctp"
json ab
if unshare -T --fork --monotonic 100000 true 2>"$tmp/err"; then
	unshare -T --fork --monotonic 100000 "$BIN/ctp-collect" -q -o "$tmp/c.ctp" "$O/t/helper/tracee" -c 2 -e 20
	ctp collect -q -o "$tmp/d.ctp" "$O/t/helper/tracee" -e 20
	json c d
	agrees 'another time namespace' 3 a b c d
	is 'another time namespace: in the order in which they ran' \
		"$(sed -n 's/.*"origin":\([0-9]*\),.*"state":"begins".*/\1/p' "$tmp/merged.j" | tr '\n' ' ')" '1 2 3 4 '
	ctp merge -o "$tmp/merged.ctp" "$tmp/a.ctp" "$tmp/c.ctp" 2>"$tmp/err"
	is 'another time namespace: the bound is said' "$(grep -c ': times are those of its wall clock, and off by at most [0-9.]* [nu]s$' "$tmp/err")" 2
	agrees 'merged ones' 3 ab c
else
	note "no other time namespace: $(cat "$tmp/err")"
fi
cat "$tmp/a.ctp" "$tmp/b.ctp" >"$tmp/two.ctp"
json two
ctp collect -q -o "$tmp/d.ctp" "$O/t/helper/tracee" -e 20
json d
agrees 'a file of two sections' 3 d two
agrees 'one section' 3 a
agrees 'merged ones of the same clock' 3 ab d
ctp collect -q -o "$tmp/long.ctp" "$O/t/helper/tracee" -e 40 -r 100 # several packets
head -c $(($(wc -c <"$tmp/long.ctp") * 2 / 3)) "$tmp/long.ctp" >"$tmp/cut.ctp"
json cut
agrees 'one that was cut' 3 cut b
is 'one that was cut: its end says so' "$(grep -c '"origin":1,.*"state":"\(cut\|damaged\)"' "$tmp/merged.j")" 1
is 'one that was cut: the other one is complete' "$(grep -c '"origin":2,.*"state":"complete"' "$tmp/merged.j")" 1
is 'one that was cut: the output is not complete' "$(tail -n 1 "$tmp/merged.j")" '{"type":"@end","complete":false}'

# --- random ones, with losses
for seed in 1 2 3 4 5 6; do
	python3 t/helper/gaps.py make $seed >"$tmp/g"
	attributes "$here" <"$tmp/g" | ctp fromjsonl -q -o "$tmp/gap$seed.ctp"
done
json gap1 gap2 gap3 gap4 gap5 gap6
agrees 'losses' 3 gap1 gap2 gap3 gap4 gap5 gap6
for seed in 1 2 3 4; do
	"$O/t/helper/randstream" $seed >"$tmp/r.ctp"
	json r
	"$O/t/helper/randstream" $seed b >"$tmp/same$seed.ctp"
	attributes "\"wall_offset_ns\":\"${seed}000000\"" <"$tmp/r.j" | ctp fromjsonl -q -o "$tmp/far$seed.ctp"
done
json same1 same2 same3 same4 far1 far2 far3 far4
agrees 'random classes' 3 same1 same2 same3
agrees 'random classes of several clocks' 3 far4 same1 far1 far2
python3 t/helper/merge-model.py --make 3 "$tmp" >"$tmp/list"
for name in $(cat "$tmp/list"); do ctp fromjsonl -q -o "$tmp/$name.ctp" "$tmp/$name.in"; json "$name"; done
# shellcheck disable=SC2046
agrees 'clocks that are set, and drift' 0 $(cat "$tmp/list")

# --- more than are read at a time, and pipes
names=
for i in $(seq 70); do
	{ echo "{\"type\":\"@section\",\"attrs\":{$here,\"pid\":\"$i\"}}"; sed -n "2,300p" "$tmp/gap$((i % 6 + 1)).j"; } | ctp fromjsonl -q -o "$tmp/n$i.ctp"
	names="$names n$i"
done
# shellcheck disable=SC2086
json $names
# shellcheck disable=SC2086
agrees 'two rounds' 3 $names
ctp merge -q -o "$tmp/files.ctp" "$tmp/a.ctp" "$tmp/b.ctp" 2>"$tmp/err"
mkfifo "$tmp/fifo"
cat "$tmp/b.ctp" >"$tmp/fifo" &
# shellcheck disable=SC2002
cat "$tmp/a.ctp" | ctp merge -q - "$tmp/fifo" >"$tmp/pipes.ctp" 2>"$tmp/err"
wait
json files pipes
is 'pipes give the same as files' "$(grep -v '@section\|"type":"origin"' "$tmp/pipes.j")" "$(grep -v '@section\|"type":"origin"' "$tmp/files.j")"

# Records without a time stay with the one before them, also where several inputs have the same time.
for name in x y z; do
	echo '{"type":"@section","attrs":{"clock":"monotonic","boot_id":"b","wall_offset_ns":"5"}}
{"type":"@schema","name":"tick","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"of","type":"string"}]}
{"type":"@schema","name":"note","fields":[{"name":"text","type":"string"}]}' >"$tmp/glue$name.in"
done
tick() { echo "{\"type\":\"tick\",\"ts\":$2,\"of\":\"$1$2\"}"; for n in 1 2; do echo "{\"type\":\"note\",\"text\":\"after $1$2\"}"; done; }
{ echo '{"type":"note","text":"before x"}'; tick x 10; tick x 10; tick x 20; } >>"$tmp/gluex.in"
{ tick y 10; tick y 30; } >>"$tmp/gluey.in"
{ tick z 5; tick z 10; tick z 30; } >>"$tmp/gluez.in"
for name in x y z; do ctp fromjsonl -q -o "$tmp/glue$name.ctp" "$tmp/glue$name.in" 2>"$tmp/err"; done
json gluex gluey gluez
ctp merge -q -o "$tmp/glued.ctp" "$tmp/gluex.ctp" "$tmp/gluey.ctp" "$tmp/gluez.ctp"
json glued
order() { sed -n 's/^{"type":"tick".*"of":"\([^"]*\)".*/\1/p; s/^{"type":"note","text":"\([^"]*\)".*/(\1)/p' "$1" | tr '\n' ' '; }
is 'records without a time' "$(order "$tmp/glued.j")" "(before x) z5 (after z5) (after z5) x10 (after x10) (after x10) x10 (after x10) (after x10) \
y10 (after y10) (after y10) z10 (after z10) (after z10) x20 (after x20) (after x20) y30 (after y30) (after y30) z30 (after z30) (after z30) "

# A pipe of two sections: an origin for each, as of a file, but for the name of the input.
cat "$tmp/two.ctp" | ctp merge -q "$tmp/d.ctp" - >"$tmp/pipes.ctp" 2>"$tmp/err"
is 'a pipe of two sections: status' "$? $(cat "$tmp/err")" '3 '
ctp merge -q "$tmp/d.ctp" "$tmp/two.ctp" >"$tmp/files.ctp"
json pipes
python3 t/helper/merge-model.py "$tmp/pipes.j" "$tmp/d.j" "$tmp/two.j" >"$tmp/says" 2>&1
is 'a pipe of two sections: all records, the earlier ones late' "$(sed 's/ [0-9]* late//' "$tmp/says" | tail -n 1)" \
	"$(json files; python3 t/helper/merge-model.py "$tmp/files.j" "$tmp/d.j" "$tmp/two.j" | sed 's/ [0-9]* late//' | tail -n 1)"
is 'a pipe of two sections: its origins' "$(sed -n 's/.*"section":\([0-9]*\),.*"state":"complete".*/\1/p' "$tmp/pipes.j" | tr '\n' ' ')" '1 2 1 '
for i in $(seq 10); do sed "s/\"pid\":\"[0-9]*\"/\"pid\":\"$i\"/" "$tmp/d.j" | ctp fromjsonl -q; done >"$tmp/ten.ctp"
cat "$tmp/ten.ctp" | ctp merge -q - >"$tmp/none" 2>"$tmp/err"
is 'a pipe of ten sections' "$? $(cat "$tmp/err")" \
	'1 ctp-merge: stdin: section 10 would be origin 10, for which the numbers have no room; give it as a file'
{ cat "$tmp/d.ctp"; sed '1s/"boot_id":"[^"]*"/"boot_id":"another"/' "$tmp/a.j" | ctp fromjsonl -q; } | ctp merge -q - >"$tmp/none" 2>"$tmp/err"
is 'a pipe with another clock' "$? $(cat "$tmp/err")" \
	'1 ctp-merge: stdin: section 2 has another clock than the sections before, which was not known in time; give it as a file'

# --- what is refused
refuses() { # WHAT PATTERN FILE...
	refused=$1 pattern=$2
	shift 2
	ctp merge -o "$tmp/refused.ctp" "$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	is "$refused: status" $? 1
	like "$refused: the message" "$(cat "$tmp/err")" "$pattern"
	ok "$refused: there is no output" test ! -e "$tmp/refused.ctp"
}
refuses 'the same section twice' ': section 1 is also in .*a.ctp; leave one of them out$' "$tmp/a.ctp" "$tmp/b.ctp" "$tmp/a.ctp"
# A merge has the sections that were merged into it. There is no trace in both of each pair.
ctp merge -q "$tmp/a.ctp" "$tmp/b.ctp" >"$tmp/m1.ctp"
ctp merge -q "$tmp/m1.ctp" "$tmp/d.ctp" >"$tmp/m2.ctp"
refuses 'a merge, and a merge of it' ': origin 11 of section 1 is also in .*m1.ctp; leave one of them out$' "$tmp/m1.ctp" "$tmp/m2.ctp"
refuses 'the other order' ': origin 1 of section 1 is also in .*m2.ctp; leave' "$tmp/m2.ctp" "$tmp/m1.ctp"
refuses 'a merge, and what was merged' ': section 1 is also in .*m1.ctp; leave' "$tmp/m1.ctp" "$tmp/b.ctp"
refuses 'what was merged, and a merge of a merge' ': origin 21 of section 1 is also in .*b.ctp; leave' "$tmp/b.ctp" "$tmp/m2.ctp"
for from in a:a m2:a m1:m2; do
	# shellcheck disable=SC2002
	cat "$tmp/${from#*:}.ctp" | ctp merge -q "$tmp/${from%:*}.ctp" - >"$tmp/none" 2>"$tmp/err"
	like "twice, once from a pipe, $from" "$? $(cat "$tmp/err")" '^1 ctp-merge: stdin: (section 1|origin [12]+1 of section 1) is also in .*.ctp; leave one of them out$'
done
cat "$tmp/d.ctp" "$tmp/d.ctp" | ctp merge -q - >"$tmp/none" 2>"$tmp/err"
is 'twice in a pipe' "$? $(cat "$tmp/err")" '1 ctp-merge: stdin: section 2 is also in stdin; leave one of them out'
# Two pieces of a merge have the same origins, and no record in common.
half=$(ctp tojsonl -qa "$tmp/m1.ctp" | jq -r 'select(.type == "transition").ts' | sort -n | awk '{ ts[NR] = $0 } END { printf "%d", (ts[int(NR / 2)] - ts[1]) / 1000 + 1 }')
ctp filter -q --until "${half}us" "$tmp/m1.ctp" >"$tmp/half1.ctp" 2>"$tmp/err"
ctp filter -q --since "${half}us" "$tmp/m1.ctp" >"$tmp/half2.ctp" 2>>"$tmp/err"
ctp merge -q -o "$tmp/halves.ctp" "$tmp/half1.ctp" "$tmp/half2.ctp" 2>"$tmp/err"
is 'pieces of a merge can be merged' "$? $(cat "$tmp/err")" '3 '
# Streams of older versions have no ids of sections in the records of origins. They are read as before, and beside new ones.
ctp tojsonl -qa "$tmp/m1.ctp" | sed 's/,"section_id":"[^"]*"//; s/,{"name":"section_id"[^}]*}//' | ctp fromjsonl -q >"$tmp/old.ctp"
is 'a merge of an older version has no such field' "$(ctp tojsonl -qa "$tmp/m1.ctp" | grep -c section_id) $(ctp tojsonl -qa "$tmp/old.ctp" | grep -c section_id)" '5 0'
ctp merge -q "$tmp/old.ctp" "$tmp/m2.ctp" >"$tmp/both.ctp" 2>"$tmp/err"
is 'it can be merged with a new one' "$? $(cat "$tmp/err")" '3 '
is 'with all origins of both' "$(ctp tojsonl -qa "$tmp/both.ctp" | jq -r 'select(.type == "origin" and .state == "begins").origin' | sort -n | tr '\n' ' ')" \
	"$(ctp tojsonl -qa "$tmp/both.ctp" | jq -r 'select(.type == "transition").origin' | sort -nu | tr '\n' ' ')"
for n in 1 21 112; do
	is "and origin $n can be cut out of it" "$(ctp filter -q --origin $n "$tmp/both.ctp" | ctp tojsonl -qa - | grep -c '"type":"transition"')" \
		"$(ctp tojsonl -qa "$tmp/both.ctp" | jq -c "select(.type == \"transition\" and .origin == $n)" | wc -l)"
done
sed '1s/.*/{"type":"@section","attrs":{"clock":"ordinal"}}/' "$tmp/a.j" | ctp fromjsonl -q -o "$tmp/ordinal.ctp"
refuses 'numbers of records' ': section 1 has no clock' "$tmp/a.ctp" "$tmp/ordinal.ctp"
sed '1s/.*/{"type":"@section","attrs":{"clock":"tsc"}}/' "$tmp/gap1.j" | ctp fromjsonl -q -o "$tmp/tsc.ctp"
refuses 'a clock without a relation' ': nothing relates the clock of section 1 to the wall clock' "$tmp/a.ctp" "$tmp/tsc.ctp"
refuses 'no stream' ': is JSON' "$tmp/a.ctp" "$tmp/a.j"
refuses 'no file' 'No such file' "$tmp/a.ctp" "$tmp/nothing"
ctp merge "$tmp/a.ctp" "$tmp/b.ctp" >/dev/full 2>"$tmp/err"
is 'a full disk: status' $? 1
like 'a full disk: the message' "$(cat "$tmp/err")" 'No space left on device'
done_testing
