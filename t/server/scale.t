#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-scale(7): its SQL, taken from the page, gives the same rows in DuckDB, SQLite, PostgreSQL and MariaDB.
# Not under sanitizers: it waits for a server most of the time.
. t/helper/tap.sh
for tool in ctp-toparquet ctp-sqlite; do [ -x "$BIN/$tool" ] || skip_all "$tool was not built"; done
for tool in sqlite3 node npm; do command -v $tool >/dev/null || skip_all "there is no $tool"; done
said=$(t/helper/parquet-duckdb build/duckdb 2>&1) || skip_all "DuckDB cannot be had from npm: $(echo "$said" | head -n 1)"

# Literal texts, by how they begin, each to a file.
sed 's/\\e/\\/g' doc/ctp-scale.7 | awk -v to="$tmp" '/^\.Bd -literal/ { first = 1; next } /^\.Ed/ { file = ""; next } /^\.Sh A CLICKHOUSE/ { theirs = 1 }
	first { first = 0; file = /^SELECT/ ? (theirs ? "" : to "/q" ++n ".sql") : /^CREATE VIEW .*'\''t\// ? to "/views.sql" : /^CREATE VIEW .*REPLACE/ ? to "/tree.sql" : /^CREATE VIEW [a-z_]* AS$/ ? to "/both.sql" : \
		/^for f in/ ? to "/convert.sh" : /^find tree/ ? to "/retain.sh" : /^SET VARIABLE/ ? to "/join.sql" : /^mv joining/ ? to "/finish.sh" : /^ls tree/ ? to "/classes.sh" : "" }
	file != "" { print >file }'
is 'the page has five questions' "$(ls "$tmp"/q*.sql | wc -l | tr -d ' ')" 5

awk -v requests=5200 -f t/bench/scale.awk | "$BIN/ctp-fromjsonl" -q -o "$tmp/t.ctp"
"$BIN/ctp-toparquet" -q -o "$tmp/t" "$tmp/t.ctp"
is 'ctp-toparquet' $? 0
"$BIN/ctp-sqlite" -q -o "$tmp/t.db" "$tmp/t.ctp"
is 'ctp-sqlite' $? 0
modules=$PWD/build/duckdb/node_modules
cat >"$tmp/duckdb.js" <<'END'
const { DuckDBInstance } = require(process.argv[2] + "/@duckdb/node-api"), { readFileSync } = require("fs");
(async () => {
	const c = await (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();
	await c.run(readFileSync(process.argv[4] || "views.sql", "utf8"));
	for (const r of (await c.runAndReadAll(readFileSync(process.argv[3], "utf8"))).getRowsJson()) console.log(r.map(String).join("|"));
})().catch((e) => { console.log(e.message); process.exit(1); });
END
duckdb() ( cd "$tmp" && exec node duckdb.js "$modules" "$@" ) # QUESTION [VIEWS]

for n in 1 2 3 4 5; do
	sqlite3 "$tmp/t.db" <"$tmp/q$n.sql" >"$tmp/sqlite$n"
	ok "question $n has an answer" test -s "$tmp/sqlite$n"
	is "and DuckDB has it too" "$(duckdb "q$n.sql")" "$(cat "$tmp/sqlite$n")"
done
is 'the one that is stuck is found' "$(cut -d '|' -f 2 "$tmp/sqlite3")" 4999
is 'and the views of ctp-sqlite say so as well' "$(sqlite3 "$tmp/t.db" "SELECT coro FROM coroutine_states WHERE state = 'suspended'")" 4999

awk -v requests=2000 -v host=web2 -v seed=2 -f t/bench/scale.awk | "$BIN/ctp-fromjsonl" -q -o "$tmp/t2.ctp"
"$BIN/ctp-toparquet" -q --partition host,date -o "$tmp/tree" "$tmp/t.ctp" "$tmp/t2.ctp"
is 'of a tree of two machines the threads of both are told apart' "$(duckdb q4.sql tree.sql | wc -l | tr -d ' ')" 16
duckdb q4.sql tree.sql | cut -d '|' -f 2- | sort >"$tmp/both"
is 'and those of one are as they were' "$(cut -d '|' -f 2- "$tmp/sqlite4" | sort | comm -23 - "$tmp/both")" ''

bin=$(cd "$BIN" && pwd)
# A spool with a stream, one that is cut, and what is none; days that are joined, and days that are over.
mkdir "$tmp/new" "$tmp/raw"
mv "$tmp/tree" "$tmp/tree.1"
gzip <"$tmp/t2.ctp" >"$tmp/new/0.ctp.zst"
zstd -q -o "$tmp/new/1.ctp.zst" "$tmp/t.ctp"
head -c 400000 "$tmp/t2.ctp" | zstd -q -o "$tmp/new/2.ctp.zst"
(cd "$tmp" && PATH=$bin:$PATH sh convert.sh) 2>"$tmp/err"
is 'the spool is converted but for what is no stream' "$(cd "$tmp" && echo new/* raw/*)" 'new/0.ctp.zst raw/1.ctp.zst raw/2.ctp.zst'
day=$(cd "$tmp/tree" && echo host=web1/date=*)
day=${day#*date=}
sed -i "s/2026-11-16/$day/" "$tmp/join.sql" "$tmp/classes.sh" "$tmp/finish.sh"
# A class that has a column more in a later section, and twelve classes.
for n in 1 2; do
	{
		printf '{"type":"@section","attrs":{"host":"web%s","wall_offset_ns":"1794700800000000000"}}\n' $n
		for c in 1 2 3 4 5 6 7; do
			more=
			[ $n = 1 ] || more=',{"name":"more","type":"u64"}'
			printf '{"type":"@schema","name":"k%s","kind":"other","fields":[{"name":"ts","type":"u64","role":"time"}%s]}\n' $c "$more"
			printf '{"type":"k%s","ts":1000000000%s}\n' $c "$([ $n = 1 ] || echo ',"more":5')"
		done
		echo '{"type":"@end","complete":true}'
	} | "$BIN/ctp-fromjsonl" -q -o "$tmp/k$n.ctp"
	"$BIN/ctp-toparquet" -q --partition host,date -o "$tmp/tree" "$tmp/k$n.ctp"
done
count="SELECT count(*), count(DISTINCT host) FROM read_parquet"
echo "$count('tree/*/date=$day/transition-????????????????-????????.parquet', hive_partitioning = true)" >"$tmp/all.sql"
echo "$count('days/transition/*/*.parquet', hive_partitioning = true)" >"$tmp/joined.sql"
echo 'SELECT 1' >"$tmp/one.sql"
all=$(duckdb all.sql one.sql)
join_class() { # CLASS: by the page
	mkdir -p "$tmp/joining" "$tmp/days/$1/date=$day"
	sed "s/transition/$1/g" "$tmp/join.sql" >"$tmp/join-$1.sql"
	sed "s/transition/$1/g" "$tmp/finish.sh" >"$tmp/finish-$1.sh"
	duckdb one.sql "join-$1.sql" >"$tmp/said" || { cat "$tmp/said"; return 1; }
	(cd "$tmp" && sh "finish-$1.sh")
}
join() { for class in $(cd "$tmp" && sh classes.sh); do join_class "$class"; done; }

# Killed as soon as it writes a file, or a little later: a day that has one machine already, and gets the other.
cp -R "$tmp/tree" "$tmp/tree.2"
echo "SELECT count(*) FROM read_parquet('days/transition/*/*.parquet')" >"$tmp/rows.sql"
is 'one machine is joined' "$(join_class transition)" ''
had=$(duckdb rows.sql one.sql)
"$BIN/ctp-toparquet" -q --partition host,date -o "$tmp/tree" "$tmp/t2.ctp"
new=$(duckdb all.sql one.sql)
is 'another one has come' "${new#*|}" 1
full=$((had + ${new%|*}))
: >"$tmp/bad"
for wait_ms in 0 0 0 2 5 10 20 40 80 160; do
	rm -f "$tmp"/joining/*
	find "$tmp/days" -name '*.parquet' | sort >"$tmp/before"
	(cd "$tmp" && exec setsid sh -c 'node duckdb.js "$1" one.sql join-transition.sql >killed && sh finish-transition.sh' sh "$modules") &
	join=$!
	while kill -0 $join 2>"$tmp/err"; do
		[ -z "$(find "$tmp/joining" "$tmp/days" -name '*.parquet' | sort | comm -13 "$tmp/before" -)" ] || break
	done
	sleep "0.$(printf %03d $wait_ms)"
	kill -9 -$join 2>"$tmp/err"
	wait $join 2>"$tmp/err"
	now=$(duckdb rows.sql one.sql)
	case $now in
	"$had") ;;
	"$full") break ;;
	*) echo "after $wait_ms ms: $now" >>"$tmp/bad" ;;
	esac
done
is 'whenever a join is killed, the day has all of it or nothing' "$(cat "$tmp/bad")" ''
[ -z "$(find "$tmp/tree" -name 'transition-*[0-9a-f].parquet')" ] || is 'it can be done again' "$(join_class transition)" ''
is 'and then the day is whole' "$(duckdb joined.sql one.sql)" "$full|2"
rm -r "$tmp/days" "$tmp/joining" "$tmp/tree"
mv "$tmp/tree.2" "$tmp/tree"

is 'the classes of the day' "$(cd "$tmp" && sh classes.sh | tr '\n' ' ')" 'birth death k1 k2 k3 k4 k5 k6 k7 sections site transition wake '
is 'each is joined' "$(join)" ''
is 'a day of all machines is whole' "$(duckdb joined.sql one.sql)" "$all"
echo "SELECT host, more FROM read_parquet('days/k3/*/*.parquet', hive_partitioning = true) ORDER BY host" >"$tmp/more.sql"
is 'a column that a later section has is there' "$(duckdb more.sql one.sql)" 'web1|null
web2|5'
is 'nothing that is whole is left in the tree' "$(find "$tmp/tree" -name '*.parquet' | grep -vc '\.cut\.parquet')" 0
is 'and what is cut is there' "$(cd "$tmp/tree" && find . -name 'transition-*' | sed 's/[0-9a-f-]\{26\}/-ID/')" "./host=web2/date=$day/transition-ID.cut.parquet"
"$BIN/ctp-toparquet" -q --partition host,date -o "$tmp/tree" "$tmp/t.ctp" "$tmp/k2.ctp"
is 'what is delivered again is joined again' "$(join)" ''
is 'and nothing is there twice, or lost' "$(duckdb joined.sql one.sql) $(duckdb more.sql one.sql | tr '\n' ' ')" "$all web1|null web2|5 "
# A part of what was joined. What was cut from the beginning is there, too: that of web2.
echo 'SELECT count(*), count(DISTINCT section) FROM coro_trace_events' >"$tmp/count.sql"
echo "SELECT count(*) FROM read_parquet(['tree/*/*/transition-*.parquet', 'days/transition/*/*.parquet'], union_by_name = true)" >"$tmp/plain.sql"
before=$(duckdb count.sql both.sql) plain=$(duckdb plain.sql one.sql)
is 'the tree and the days together' "$before" "$plain|2"
head -c 700000 "$tmp/t.ctp" >"$tmp/part.ctp"
"$BIN/ctp-toparquet" -q --partition host,date -o "$tmp/tree" "$tmp/part.ctp"
ok 'a part of what was joined is in the tree' [ "$(duckdb plain.sql one.sql)" -gt "$plain" ]
is 'and is not counted' "$(duckdb count.sql both.sql)" "$before"
"$BIN/ctp-toparquet" -q --partition host,date -o "$tmp/tree" "$tmp/t.ctp"
is 'nor is the whole, before it is joined again' "$(duckdb count.sql both.sql)" "$before"
today=$(date -u +%F)
rm -r "$tmp/tree"
mkdir -p "$tmp/tree/host=a b/date=2020-01-01" "$tmp/tree/host=web1/date=2020-01-01" "$tmp/tree/host=web1/date=$today"
for d in "$tmp"/tree/*/*; do echo >"$d/f"; done
(cd "$tmp" && sh retain.sh)
is 'days that are over are gone, and folders that are empty' "$(cd "$tmp" && find tree -type f)" "tree/host=web1/date=$today/f"
is 'all of them' "$(ls "$tmp/tree")" host=web1

. t/helper/postgres.sh
if [ -x "$BIN/ctp-postgres" ] && [ -x "$pg_bin/initdb" ] && command -v psql >/dev/null; then
	pg_need
	"$BIN/ctp-postgres" -q -d scale "$tmp/t.ctp"
	is 'ctp-postgres' $? 0
	for n in 1 2 3 4 5; do
		is "PostgreSQL has the answer to question $n" "$(psql -A -t -d scale -f "$tmp/q$n.sql")" "$(cat "$tmp/sqlite$n")"
	done
	pg_stop
else
	note 'PostgreSQL is not there'
fi

. t/helper/mysql.sh
if [ -x "$mysql" ] && command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null; then
	my_need
	my_start
	load -q -D scale "$tmp/t.ctp"
	is 'ctp-mysql' $? 0
	for n in 1 2 3 4 5; do
		is "MariaDB has the answer to question $n" "$(sql -D scale <"$tmp/q$n.sql" | tr '\t' '|')" "$(cat "$tmp/sqlite$n")"
	done
else
	note 'MariaDB is not there'
fi
done_testing
