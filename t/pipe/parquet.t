#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A stream as Parquet, read by DuckDB: every value of random classes, row groups and their statistics, damage, names, partitions.
# Under sanitizers only in check-all: DuckDB takes most of the time.
. t/helper/tap.sh
parquet=$BIN/ctp-toparquet from=$BIN/ctp-fromjsonl to=$BIN/ctp-tojsonl
[ -x "$parquet" ] || skip_all 'ctp-toparquet was not built'
command -v node >/dev/null && command -v npm >/dev/null || skip_all 'there is no node with npm'
modules=build/duckdb
said=$(t/helper/parquet-duckdb $modules 2>&1) || skip_all "DuckDB cannot be had from npm: $(echo "$said" | head -n 1)"
modules=$PWD/$modules/node_modules
dump() { node t/helper/parquet-dump.js "$modules" "$@"; }
judge() { # FOLDER JSONL...
	folder=$1
	shift
	dump "$folder"/*.parquet >"$tmp/dump" && python3 t/helper/parquet-judge.py "$@" <"$tmp/dump"
}
# One DuckDB answers all questions: for each line that it reads, the rows, or an error, and a line with the status.
mkfifo "$tmp/questions" "$tmp/answers"
node -e '
	const { DuckDBInstance } = require(process.argv[1] + "/@duckdb/node-api");
	(async () => {
		const c = await (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();
		await c.run("SET enable_external_file_cache = false"); // a file may be replaced within a tick of its clock
		for await (const line of require("readline").createInterface({ input: process.stdin })) {
			try {
				for (const r of (await c.runAndReadAll(line)).getRowsJson()) console.log(r.map(String).join("|"));
				console.log("status 0");
			} catch (e) {
				console.log(e.message + "\nstatus 1");
			}
		}
	})()' "$modules" <"$tmp/questions" >"$tmp/answers" &
exec 8>"$tmp/questions" 9<"$tmp/answers"
sql() { # QUESTION
	echo "$1" >&8
	while IFS= read -r answer <&9; do
		case $answer in 'status '*) return "${answer#status }" ;; esac
		printf '%s\n' "$answer"
	done
	return 2
}

# --- everything that a stream can hold ---------------------------------------------------------------------------------------
for seed in 1 2 3 ${EVERY:+4 5 6}; do
	"$O/t/helper/randstream" $seed >"$tmp/r$seed.ctp"
	"$to" -qa "$tmp/r$seed.ctp" >"$tmp/r$seed.jsonl"
	case $seed in [135]) rows=1048576 ;; *) rows=17 ;; esac
	"$parquet" -q --rows $rows -o "$tmp/r$seed" "$tmp/r$seed.ctp"
	ok "random classes are reproduced, seed $seed, row groups of $rows" judge "$tmp/r$seed" "$tmp/r$seed.jsonl"
done
"$parquet" -q -o "$tmp/several" "$tmp/r1.ctp" - "$tmp/r3.ctp" <"$tmp/r2.ctp"
ok 'several inputs are converted, one of them stdin' judge "$tmp/several" "$tmp/r1.jsonl" "$tmp/r2.jsonl" "$tmp/r3.jsonl"
judge "$tmp/r2" "$tmp/r1.jsonl" >/dev/null 2>&1
is 'the comparison notices a different stream' $? 1
"$BIN/ctp-collect" -q "$O/examples/lostwake" >"$tmp/real.ctp" 2>/dev/null
"$to" -qa "$tmp/real.ctp" >"$tmp/real.jsonl"
"$parquet" -o "$tmp/real" "$tmp/real.ctp"
is 'a real stream ends with status 0' $? 0
ok 'a real stream is reproduced' judge "$tmp/real" "$tmp/real.jsonl"
like 'wall-clock times are those of today' "$(sql "SELECT min(wall)::DATE FROM '$tmp/real/transition.parquet'")" "^$(date -u +%Y)-"

# --- edges --------------------------------------------------------------------------------------------------------------------
{
	echo '{"type":"@section","attrs":{"host":"../../x y","wall_offset_ns":"1700000000000000000","start_ns":"5"}}'
	for name in e e ../../up sections; do
		case $name$twice in e) more='' ;; e*) more=',{"name":"more","type":"u8"}' ;; *) more='' ;; esac
		printf '{"type":"@schema","name":"%s","kind":"other","fields":[{"name":"ts","type":"u64","role":"time","pred":"time"},{"name":"Wall","type":"i64"},{"name":"section","type":"f64"},{"name":"host","type":"string"},{"name":"SECTION","type":"bytes"}%s]}\n' "$name" "$more"
		i=0
		for n in -9223372036854775808 9223372036854775807 0 -1; do
			printf '{"type":"%s","ts":%d,"Wall":%s,"section":%s,"host":"%s","SECTION":"00ff%s"%s}\n' "$name" $((i += 1)) $n \
				"$(set -- '"NaN"' '"Infinity"' '-0.0' 1.5; eval echo "\$$i")" "$(set -- 'a\\\\\\u0000b' '\\udcff\\udcc3' '\\\\\\\\x41' ''; eval echo "\"\$$i\"")" \
				"0$i" "${more:+,\"more\":$i}"
		done
		twice=1
	done
	echo '{"type":"@end","complete":true}'
} >"$tmp/edge.in"
"$from" -q "$tmp/edge.in" >"$tmp/edge.ctp"
is 'the edge cases are a valid stream' $? 0
"$to" -qa "$tmp/edge.ctp" >"$tmp/edge.jsonl"
"$parquet" -q -o "$tmp/edge" "$tmp/edge.ctp"
ok 'smallest and largest numbers, NaN and all bytes are reproduced' judge "$tmp/edge" "$tmp/edge.jsonl"
is 'names of files are safe, and two declarations are two files' "$(ls "$tmp/edge" | tr '\n' ' ')" \
	'%2E%2E%2F%2E%2E%2Fup.parquet e.parquet e~2.parquet sections.parquet sections~2.parquet '
is 'names of columns differ without regard to case' "$(sql "SELECT column_name FROM (DESCRIBE SELECT * FROM '$tmp/edge/e.parquet')" | tr '\n' ' ')" \
	'section section_id wall ts Wall_2 section_2 host_2 SECTION_3 '

# --- row groups ---------------------------------------------------------------------------------------------------------------
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "{\"probe_id\":%d,\"tid\":%d,\"addr\":\"0x%016x\",\"seq\":%d,\"is_active\":%s,\"ts\":%d}\n",
	i < 40000 ? 1 + i * i % 509 * 1000003 : i, 40 + i % 3, 4096 + i % 977, i / 5, i % 2 ? "true" : "false", 1000000 + i * 1000 }' | "$from" -q >"$tmp/many.ctp"
"$to" -qa "$tmp/many.ctp" >"$tmp/many.jsonl"
"$parquet" -q --rows 20000 -o "$tmp/ten" "$tmp/many.ctp"
"$parquet" -q -o "$tmp/one" "$tmp/many.ctp"
file=transition.parquet class=transition
is 'ten row groups' "$(sql "SELECT count(DISTINCT row_group_id) FROM parquet_metadata('$tmp/ten/$file')")" 10
ok 'a row group with 160,500 different values in a column has every value' judge "$tmp/one" "$tmp/many.jsonl"
rows() { sql "SELECT count(*) FROM (FROM '$tmp/$1/$file' EXCEPT ALL FROM '$tmp/$2/$file')"; } # of FOLDER that the other FOLDER has not
is 'ten row groups have the same rows' "$(rows one ten) $(rows ten one) $(sql "SELECT count(*) FROM '$tmp/ten/$file'")" '0 0 200000'
is 'that column has a dictionary, and differences once it is full' \
	"$(sql "SELECT encodings FROM parquet_metadata('$tmp/one/$file') WHERE path_in_schema = 'probe_id'")" 'PLAIN, RLE, DELTA_BINARY_PACKED, RLE_DICTIONARY'
is 'times are stored as differences' "$(sql "SELECT DISTINCT encodings FROM parquet_metadata('$tmp/ten/$file') WHERE path_in_schema = 'ts'")" 'RLE, DELTA_BINARY_PACKED'
is 'each row group has statistics of its times' "$(sql "SELECT row_group_id, stats_min_value, stats_max_value FROM parquet_metadata('$tmp/ten/$file') WHERE path_in_schema = 'ts' AND row_group_id IN (0, 9) ORDER BY 1" | tr '\n' ' ')" \
	'0|1000000|20999000 9|181000000|200999000 '
is 'an engine needs one row group for a time' "$(sql "SELECT count(*) FROM parquet_metadata('$tmp/ten/$file') WHERE path_in_schema = 'ts' AND stats_min_value::UBIGINT <= 50000000 AND stats_max_value::UBIGINT >= 50000000")" 1
is 'and DuckDB finds the row' "$(sql "SELECT seq FROM '$tmp/ten/$file' WHERE ts = 50000000")" 9800
# From here on all pages of the other nine are zeros: an engine that read them would fail.
sql "SELECT min(coalesce(dictionary_page_offset, data_page_offset)), sum(total_compressed_size) FROM parquet_metadata('$tmp/ten/$file') GROUP BY row_group_id ORDER BY row_group_id" >"$tmp/groups"
cp "$tmp/ten/$file" "$tmp/hollow.parquet"
n=0
while IFS='|' read -r at len; do
	n=$((n + 1))
	[ $n = 3 ] || dd if=/dev/zero of="$tmp/hollow.parquet" bs=65536 oflag=seek_bytes iflag=count_bytes seek="$at" count="$len" conv=notrunc 2>/dev/null
done <"$tmp/groups"
is 'DuckDB finds a range of rows without reading the other row groups' "$(sql "SELECT count(*), min(seq), max(seq), count(DISTINCT probe_id) FROM '$tmp/hollow.parquet' WHERE ts BETWEEN 45000000 AND 55000000")" \
	"$(sql "SELECT count(*), min(seq), max(seq), count(DISTINCT probe_id) FROM '$tmp/ten/$file' WHERE ts BETWEEN 45000000 AND 55000000")"
sql "SELECT count(DISTINCT seq) FROM '$tmp/hollow.parquet'" >/dev/null
is 'DuckDB notices the zeros when it must read them' $? 1

# --- a pipe -------------------------------------------------------------------------------------------------------------------
"$parquet" -q --rows 20000 -o - --class "$class" "$tmp/many.ctp" | cat >"$tmp/pipe.parquet"
ok 'one class written to a pipe is the same file' cmp "$tmp/pipe.parquet" "$tmp/ten/$file"
"$parquet" -q -o - --class none "$tmp/many.ctp" >"$tmp/none" 2>"$tmp/err"
is 'a class that is not there: status 1' "$?" 1
like 'the missing class is reported' "$(cat "$tmp/err")" '^ctp-toparquet: class none: the input has no record of it'
"$parquet" -q -o - --class "$class" "$tmp/many.ctp" 2>"$tmp/err" >/dev/full
is 'a full disk: status 1' "$?" 1

# --- damage -------------------------------------------------------------------------------------------------------------------
bytes=$(wc -c <"$tmp/pipe.parquet")
sums() { sql "SELECT sum(hash(t)) FROM '$1' t"; }
want=$(sums "$tmp/pipe.parquet")
wrong=0 refused=0 i=0
while [ $i -lt 24 ]; do
	cp "$tmp/pipe.parquet" "$tmp/hurt.parquet"
	printf '\252' | dd of="$tmp/hurt.parquet" bs=1 seek=$((bytes * 8 / 10 * i / 24 + 200)) conv=notrunc 2>/dev/null
	i=$((i + 1))
	cmp -s "$tmp/pipe.parquet" "$tmp/hurt.parquet" && continue
	if got=$(sums "$tmp/hurt.parquet"); then [ "$got" = "$want" ] || wrong=$((wrong + 1)); else refused=$((refused + 1)); fi
done
is 'a changed byte of a page is never read as another value' $wrong 0
like 'at least half of the changed bytes are refused' $refused '^(1[2-9]|2[0-4])$'
head -c $((bytes - 1)) "$tmp/pipe.parquet" >"$tmp/cut.parquet"
sums "$tmp/cut.parquet" >/dev/null
is 'a truncated file is refused' $? 1

# --- folders ------------------------------------------------------------------------------------------------------------------
"$parquet" -q -o "$tmp/ten" "$tmp/many.ctp" 2>"$tmp/err"
is 'a folder that is not empty: status 1' $? 1
like 'the folder is reported' "$(cat "$tmp/err")" 'exists and is not empty'
for n in 1 2 2; do # the second twice: it replaces its files
	echo '{"type":"@section","attrs":{"host":"h '$n'","wall_offset_ns":"1700000000000000000","start_ns":"'${n}00000000000000'"}}' >"$tmp/h$n.in"
	sed -n '2,6p;$p' "$tmp/edge.in" >>"$tmp/h$n.in"
	[ -e "$tmp/h$n.ctp" ] || "$from" -q "$tmp/h$n.in" >"$tmp/h$n.ctp"
	"$parquet" -q --partition host,date -o "$tmp/tree" "$tmp/h$n.ctp"
done
is 'the tree is partitioned by host and date' "$(cd "$tmp/tree" && find . -name 'e-*.parquet' | sed 's/-[0-9a-f]*-[0-9a-f]*\.parquet//' | sort | tr '\n' ' ')" \
	'./host=h%201/date=2023-11-16/e ./host=h%202/date=2023-11-17/e '
is 'one glob reads the tree' "$(sql "SELECT host, date, count(*) FROM read_parquet('$tmp/tree/*/*/e-*.parquet', hive_partitioning = true) GROUP BY ALL ORDER BY 1" | tr '\n' ' ')" \
	'h 1|2023-11-16|4 h 2|2023-11-17|4 '
is 'one query joins the sections' "$(sql "SELECT DISTINCT hostname FROM read_parquet('$tmp/tree/*/*/e-*.parquet') e JOIN read_parquet('$tmp/tree/*/*/sections-*.parquet') s USING (section_id) ORDER BY 1" | tr '\n' ' ')" 'h 1 h 2 '
sed 's/100000000000000"/100000000000001"/' "$tmp/h1.in" | "$from" -q >"$tmp/h1b.ctp"
"$parquet" -q --partition host,date -o "$tmp/tree" "$tmp/h1b.ctp" "$tmp/h1b.ctp"
is 'traces of one machine and day are separate, and one that is given twice is there once' "$(sql "SELECT count(*), count(DISTINCT filename), count(DISTINCT section_id) FROM read_parquet('$tmp/tree/host=h%201/*/e-*.parquet', filename = true)")" '8|2|2'
is 'each trace has its row of sections' "$(sql "SELECT hostname, count(*) FROM read_parquet('$tmp/tree/*/*/sections-*.parquet') GROUP BY ALL ORDER BY 1" | tr '\n' ' ')" 'h 1|2 h 2|1 '
python3 -c 'import sys
whole = open(sys.argv[1], "rb").read()
at = whole.index(whole[:8], len(whole) // 2) # a packet begins there
open(sys.argv[2] + "1.ctp", "wb").write(whole[:at])
open(sys.argv[2] + "2.ctp", "wb").write(whole[at:])' "$tmp/many.ctp" "$tmp/part"
for part in 1 2 1; do "$parquet" -q --partition host -o "$tmp/parts" "$tmp/part$part.ctp"; done
is 'parts of a stream are separate, and each is there once' "$(sql "SELECT count(*), count(DISTINCT filename) FROM read_parquet('$tmp/parts/*/$class-*.parquet', filename = true)")" \
	"$(sql "SELECT count(*) FROM read_parquet('$tmp/ten/$class.parquet')")|2"
state() { sql "SELECT (SELECT count(*) FROM read_parquet('$tmp/parts/*/$class-*.parquet')), count(*), bool_and(complete) FROM read_parquet('$tmp/parts/*/sections-*.parquet')"; }
is 'the parts have one row of the section' "$(state)" '200000|1|false'
head -c $(($(wc -c <"$tmp/part1.ctp") / 2)) "$tmp/part1.ctp" >"$tmp/less.ctp"
"$parquet" --partition host -o "$tmp/parts" "$tmp/less.ctp" 2>"$tmp/err"
is 'a shorter copy gives status 3' $? 3
like 'a message says that the longer copy stays' "$(cat "$tmp/err")" "ctp-toparquet: $tmp/less.ctp: a copy in $tmp/parts/host=__HIVE_DEFAULT_PARTITION__ has more of the section, and stays"
is 'the longer copy stays' "$(state)" '200000|1|false'
"$parquet" -q --partition host -o "$tmp/parts" "$tmp/many.ctp"
is 'the complete stream replaces its parts' "$(state)" '200000|1|true'
ls -R "$tmp/parts" >"$tmp/listed"
for part in less part1 part2; do
	"$parquet" --partition host -o "$tmp/parts" "$tmp/$part.ctp" 2>"$tmp/err"
	is "after it, $part gives status 3" $? 3
	like 'a message says that the complete copy stays' "$(cat "$tmp/err")" "ctp-toparquet: $tmp/$part.ctp: a copy in $tmp/parts/host=__HIVE_DEFAULT_PARTITION__ has the whole section, and stays"
done
is 'the complete copy stays' "$(state)" '200000|1|true'
is 'there is nothing beside it' "$(ls -R "$tmp/parts")" "$(cat "$tmp/listed")"
awk 'BEGIN { for (i = 0; i < 300; i++) print "no stream at all" }' >"$tmp/a0.ctp"
cp "$tmp/h1.in" "$tmp/a2.ctp"
"$parquet" -q --partition host,date -o "$tmp/some" "$tmp/a0.ctp" "$tmp/h1.ctp" "$tmp/missing.ctp" "$tmp/a2.ctp" "$tmp" "$tmp/h2.ctp" 2>"$tmp/err"
is 'inputs that are no streams give status 3' $? 3
is 'each such input is named' "$(sed "s|$tmp|T|; s|: [^:]*; it is skipped$||" "$tmp/err" | tr '\n' ' ')" \
	'ctp-toparquet: T/a0.ctp ctp-toparquet: T/missing.ctp ctp-toparquet: T/a2.ctp ctp-toparquet: T '
is 'the inputs after them are converted' "$(sql "SELECT hostname FROM read_parquet('$tmp/some/*/*/sections-*.parquet') ORDER BY 1" | tr '\n' ' ')" 'h 1 h 2 '
"$parquet" -q -o "$tmp/whole" "$tmp/a0.ctp" 2>"$tmp/err"
is 'without a partition such an input alone fails' $? 1
ok 'no file is written' test ! -e "$tmp/whole"
for host in null NULL __HIVE_DEFAULT_PARTITION__ nullx; do
	sed "s/h 1/$host/" "$tmp/h1.in" | "$from" -q | "$parquet" -q --partition host -o "$tmp/null"
done
is 'a host whose name means null has its name' "$(sql "SELECT host = hostname, host FROM read_parquet('$tmp/null/*/sections-*.parquet', hive_partitioning = true) ORDER BY 2" | tr '\n' ' ')" \
	'true|NULL true|__HIVE_DEFAULT_PARTITION__ true|null true|nullx '
rm -f "$tmp/none"
"$parquet" -q --partition date,host -o "$tmp/none" "$tmp/many.ctp"
is 'unknown values are null' "$(sql "SELECT DISTINCT date IS NULL FROM read_parquet('$tmp/none/*/*/sections-*.parquet', hive_partitioning = true)")" true
done_testing
