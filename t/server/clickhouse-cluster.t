#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-scale(7) on a cluster of two servers: its five questions have SQLite's rows, and a fleet that ships its traces in any order, some twice
# and some cut, by four loaders at once, is what a model says.
# Not under sanitizers: it waits for servers most of the time.
. t/helper/tap.sh
. t/helper/clickhouse.sh
to=$BIN/ctp-toclickhouse from=$BIN/ctp-fromjsonl
[ -x "$BIN/ctp-sqlite" ] || skip_all 'ctp-sqlite was not built'
command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
ch_need 2
# Not in the database default, which a server that starts again may take for another.
at() { echo "$(ch_quick "$1") --database=traces"; } # SHARD
quick=$(at 1)
ask() { $quick --query "$1"; }
"$to" --schema --cluster two --database traces >"$tmp/schema.sql"
for shard in 1 2; do
	ch -$shard -q 'CREATE DATABASE traces'
	is "shard $shard: tables and views are made, and again" "$(ch -$shard -n <"$tmp/schema.sql" && ch -$shard -n <"$tmp/schema.sql")" ''
done
"$to" --schema --cluster two >"$tmp/out" 2>"$tmp/err"
is '--cluster needs the name of the database' "$? $(head -n 1 "$tmp/err")" '2 ctp-toclickhouse: --cluster needs --database, the database of these tables on each shard'

# --- the five questions -----------------------------------------------------------------------------------------------------
sed 's/\\e/\\/g' doc/ctp-scale.7 | awk -v to="$tmp" '/^\.Bd -literal/ { first = 1; next } /^\.Ed/ { file = ""; next } /^\.Sh A CLICKHOUSE/ { ours = 1 } /^\.Ss Panels|^\.Sh OTHER/ { ours = 2 }
	first { first = 0; file = /^SELECT/ && ours < 2 ? to (ours ? "/c" ++c : "/q" ++q) ".sql" : "" }
	file != "" { print >file }'
is 'the page has five questions, in two ways' "$(cd "$tmp" && echo [cq]?.sql)" 'c1.sql c2.sql c3.sql c4.sql c5.sql q1.sql q2.sql q3.sql q4.sql q5.sql'
for n in 1 2 3 4; do
	awk -v requests=$((400 + 100 * n)) -v host=web$n -v seed=$n -f t/bench/scale.awk | "$from" -q >"$tmp/web$n.ctp"
done
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp"/web?.ctp
"$to" -q --load "$(ch_at 2) --database=traces" "$tmp"/web?.ctp
is 'four sections are delivered through one shard' "$? $(ask 'SELECT count() FROM deliveries')" '0 4'
for shard in 1 2; do ch_kill $shard && ch_start $shard; done
is 'and are there when the servers start again' "$(ask 'SELECT count() FROM deliveries')" 4
# Ids are random, and so is where a section is.
split=$(for shard in 1 2; do $(at $shard) --query 'SELECT count() FROM deliveries_local'; done | tr '\n' ' ')
note "sections of the shards: $split"
hosts() { # replaces the number of a section by its host; the last question has none
	[ $n != 5 ] || cat >/dev/null
	while read -r number host; do printf 's/^%s|/%s|/\n' "$number" "$host"; done >"$tmp/hosts.sed"
}
for n in 1 2 3 4 5; do
	ask 'SELECT section_id, hostname FROM delivered_sections' | hosts
	$quick <"$tmp/c$n.sql" | tr '\t' '|' | sed -f "$tmp/hosts.sed" | sort >"$tmp/there"
	sqlite3 -separator ' ' "$tmp/a.sqlite" 'SELECT id, host FROM sections' | hosts
	sqlite3 "$tmp/a.sqlite" <"$tmp/q$n.sql" | sed -f "$tmp/hosts.sed" | sort >"$tmp/here"
	is "question $n has SQLite's rows" "$(test -s "$tmp/here" && diff "$tmp/here" "$tmp/there" | head -5)" ''
done
for view in coroutine_states:'count(), sum(for_ns), max(since_ns)' coroutine_times:'count(), sum(running_ns), sum(suspended_ns), sum(uncertain)' thread_times:'count(), sum(busy_ns)' \
	gaps:'count()' loss_totals:'count(), sum(lost)' wall_times:'max(wall), count()'; do
	query="SELECT ${view#*:} FROM ${view%%:*}"
	is "$query: as SQLite" "$(ask "$query" | tr '\t' '|')" "$(sqlite3 "$tmp/a.sqlite" "$(echo "$query" | sed 's/count()/count(*)/')")"
done
# The queries of ctp-toclickhouse(1), as they are printed.
manual() { sed "s/\\\\(aq/'/g" doc/ctp-toclickhouse.1 >"$tmp/manual" && awk "$@" "$tmp/manual"; }
is 'tables of all shards are joined by each for itself' \
	"$(ask "$(manual '/^\$ .* -q "SELECT parent/, /"$/ { sub(/.* -q "/, ""); sub(/"$/, ""); print }')" | tr '\t' '|')" \
	"$(sqlite3 "$tmp/a.sqlite" 'SELECT parent, count(*) AS n FROM coro_trace_events e JOIN births b ON b.section = e.section AND b.coro = e.coro GROUP BY parent ORDER BY n DESC, parent')"
is 'the longest waits of all shards come first' "$(ask "$(manual -F "'" '/longest_waits ORDER/ { print $2 }')" | tr '\t' '|')" \
	"$(sqlite3 "$tmp/a.sqlite" 'SELECT coro, site_text, duration_ns FROM wait_intervals ORDER BY duration_ns DESC LIMIT 2')"
is 'the rows of a table that count are found on all shards' "$(ask "SELECT count() FROM transition $(manual '/^\.Dl WHERE/ { sub(/\.Dl /, ""); print }')")" \
	"$(sqlite3 "$tmp/a.sqlite" 'SELECT count(*) FROM coro_trace_events')"

# --- a fleet --------------------------------------------------------------------------------------------------------------------
mkdir "$tmp/fleet" "$tmp/cut"
for n in $(seq 20); do awk -v requests=30 -v host=h$n -v seed=$n -f t/bench/scale.awk | "$from" -q >"$tmp/fleet/$n.ctp"; done
awk -v requests=5000 -v host=cut -f t/bench/scale.awk | "$from" -q >"$tmp/cut/whole.ctp"
head -c $(($(wc -c <"$tmp/cut/whole.ctp") / 2)) "$tmp/cut/whole.ctp" >"$tmp/fleet/21.ctp"
cp "$tmp/fleet/3.ctp" "$tmp/fleet/22.ctp"
cp "$tmp/fleet/7.ctp" "$tmp/fleet/23.ctp"
for loader in 1 2 3 4; do
	(
		# shellcheck disable=SC2046 # names of files
		"$to" -q --load "$(at $((loader % 2 + 1)))" $(ls "$tmp"/fleet/*.ctp | awk -v l=$loader 'BEGIN { srand(7) } { print rand(), $0 }' | sort |
			awk -v l=$loader 'NR % 4 == l - 1 { print $2 }') 2>>"$tmp/said"
		echo $? >"$tmp/status$loader"
	) &
	loaders="$loaders $!"
done
# shellcheck disable=SC2086 # many
wait $loaders
is 'four loaders end, one with status 3 for what is cut' "$(sort "$tmp"/status? | tr '\n' ' ')" '0 0 0 3 '
rm "$tmp/fleet/22.ctp" "$tmp/fleet/23.ctp"
"$BIN/ctp-sqlite" -q -o "$tmp/b.sqlite" "$tmp"/fleet/*.ctp "$tmp"/web?.ctp 2>/dev/null
for what in coro_trace_events births wakes sites; do
	is "all $what are there, once" "$(ask "SELECT count() FROM $what")" "$(sqlite3 "$tmp/b.sqlite" "SELECT count(*) FROM $what")"
done
is 'by host, too' "$(ask 'SELECT host, count() FROM delivered_transition GROUP BY host ORDER BY host' | tr '\t' '|')" \
	"$(sqlite3 "$tmp/b.sqlite" 'SELECT host, count(*) FROM coro_trace_events e JOIN sections s ON s.id = e.section GROUP BY host ORDER BY host')"
"$to" -q --load "$quick" "$tmp/cut/whole.ctp"
is 'the whole of what was cut replaces it' "$? $(ask "SELECT uniqExact(delivery) FROM delivered_transition WHERE host = 'cut'") $(ask "SELECT count() FROM delivered_birth WHERE host = 'cut'")" '0 1 5000'
is 'the part is still on its shard' "$(ask "SELECT uniqExact(delivery) FROM birth WHERE host = 'cut'")" 2
for shard in 1 2; do "$to" --clean --load "$(at $shard)"; done
is 'and is deleted there' "$(ask "SELECT uniqExact(delivery), count() FROM birth WHERE host = 'cut'" | tr '\t' ' ')" '1 5000'

# --- a class that grows -----------------------------------------------------------------------------------------------------------
ch_own a >"$tmp/own1.ctp"
ch_own a b >"$tmp/own2.ctp"
"$to" --schema --upgrade --load "$quick" "$tmp/own2.ctp" >"$tmp/out" 2>"$tmp/err"
like 'a cluster is not upgraded like one server' "$? $(cat "$tmp/err" "$tmp/out")" '^1 ctp-toclickhouse: .*its tables are those of a cluster; give --cluster and --database, too$'
upgrade() { # STREAM: of each shard; the second one was interrupted before
	for shard in 1 2; do
		"$to" --schema --upgrade --cluster two --database traces --load "$(at $shard)" "$1" >"$tmp/up.sql"
		[ $shard = 1 ] || { grep -m 1 '^ALTER' "$tmp/up.sql" | ch -$shard -d traces -n && "$to" --schema --upgrade --cluster two --database traces --load "$(at $shard)" "$1" >"$tmp/up.sql"; }
		ch -$shard -n <"$tmp/up.sql" || echo "shard $shard: $?"
	done
	"$to" -q --load "$quick" "$1" || echo "load: $?"
}
is '--upgrade adds a table, and then a column of it' "$(for own in 1 2; do upgrade "$tmp/own$own.ctp"; done 2>&1) $(ask 'SELECT a, b FROM delivered_own ORDER BY b' | tr '\t\n' ', ')" ' 7,0 7,7 '
ch_kill 2
"$to" -q --load "$quick" "$tmp/cut/whole.ctp" 2>"$tmp/err"
like 'a shard that is gone is said' "$? $(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 1 ctp-toclickhouse: .*refused|^1 1 ctp-toclickhouse: .*DB::'
note "CPU time of the server: $(ch_cpu) ms"
done_testing
