#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A fleet of hosts on a cluster of two servers: sections that four loaders ship in any order, some of them twice and some of them cut, are there
# once, and the five questions and the panels of ctp-scale(7) have the answers of the simulation.
# Whole: HOSTS=1000 SECTIONS=20 EVENTS=2000, 40 M rows.
# Not under sanitizers: it waits for servers most of the time.
. t/helper/tap.sh
. t/helper/clickhouse.sh
to=$BIN/ctp-toclickhouse fleet=$O/t/helper/fleet hosts=${HOSTS:-32} sections=${SECTIONS:-5} events=${EVENTS:-400}
[ -x "$fleet" ] || skip_all "$fleet was not built"
ch_need 2
quick=$(ch_quick 1)
ask() { $quick --query "$1"; }
"$to" --schema --cluster two --database default >"$tmp/schema.sql"
for shard in 1 2; do ch -$shard -n <"$tmp/schema.sql"; done

# --- deliveries: of 20 sections one is delivered twice, of 50 one is cut, and whole in another delivery --------------------------------------
mkdir "$tmp/fleet"
n=0
for host in $(seq 0 $((hosts - 1))); do
	for section in $(seq 0 $((sections - 1))); do
		file=$tmp/fleet/$host-$section.ctp n=$((n + 1))
		"$fleet" write $events "$host" "$section" >"$file"
		[ $((n % 20)) != 7 ] || cp "$file" "${file%.ctp}-again.ctp"
		[ $((n % 50)) != 11 ] || head -c $(($(wc -c <"$file") * (n % 7 + 3) / 10)) "$file" >"${file%.ctp}-cut.ctp"
	done
done
is 'there are more deliveries than sections' "$(printf '%s\n' "$tmp"/fleet/* | wc -l | tr -d ' ')" $((hosts * sections + hosts * sections / 20 + hosts * sections / 50))
printf '%s\n' "$tmp"/fleet/* | awk 'BEGIN { srand(32) } { print rand(), $0 }' | sort | awk -v to="$tmp/list" '{ print $2 >(to NR % 4) }'
for loader in 0 1 2 3; do
	# Some at a time, so that what one has delivered another finds there.
	{ xargs -n 20 "$to" -q --load "$(ch_quick $((loader % 2 + 1)))" <"$tmp/list$loader" 2>>"$tmp/said"; echo $? >"$tmp/status$loader"; } &
	loaders="$loaders $!"
done
# shellcheck disable=SC2086 # many
wait $loaders
is 'no loader says that it failed' "$(cat "$tmp/said")" ''
note "CPU time of the servers: $(ch_cpu) ms"

# --- what there is -----------------------------------------------------------------------------------------------------------------------
"$fleet" know $events $hosts $sections >"$tmp/know"
for each in 'transition transition' 'wake wake' 'birth birth' 'death death' 'lost lost'; do
	echo "0	${each% *}	$(ask "SELECT count() FROM delivered_${each#* }")"
done >"$tmp/counts"
{
	echo "0	lost events	$(ask 'SELECT sum(count) FROM delivered_lost')"
	echo "0	sections	$(ask 'SELECT count() FROM deliveries')"
	echo "0	cut	$(ask 'SELECT count() FROM deliveries WHERE NOT whole')"
} >>"$tmp/counts"
is 'rows, losses and sections that were cut are those of the simulation' "$(cat "$tmp/counts")" "$(grep '^0' "$tmp/know")"
is 'sites are there once' "$(ask 'SELECT count(), uniqExact(section, site) FROM sites' | tr '\t' ' ')" "$((8 * hosts * sections)) $((8 * hosts * sections))"
is 'each host has all its events' "$(ask 'SELECT host, count() FROM delivered_transition GROUP BY host ORDER BY host' | md5sum)" \
	"$(ask "SELECT hostname, sum(n) FROM (SELECT section_id, count() AS n FROM delivered_transition GROUP BY section_id) ANY INNER JOIN (SELECT section_id, hostname FROM delivered_sections) USING section_id GROUP BY hostname ORDER BY hostname" | md5sum)"
ok 'both shards have sections' test "$(for shard in 1 2; do $(ch_quick $shard) --query 'SELECT count() > 0 FROM deliveries_local'; done | tr -d '\n')" = 11

# --- the five questions and the panels -------------------------------------------------------------------------------------------------------
. t/helper/clickhouse-questions.sh
questions "$fleet" $events $hosts
note "CPU time of the servers: $(ch_cpu) ms"
done_testing
