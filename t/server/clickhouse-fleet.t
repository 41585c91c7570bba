#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A fleet of hosts on a cluster of two servers: sections that four loaders ship in any order, some of them twice and some of them cut, are there
# once, and the five questions and the panels of ctp-scale(7) have the answers of the simulation.
# Not under sanitizers: it waits for servers most of the time.
. t/helper/tap.sh
. t/helper/clickhouse.sh
to=$BIN/ctp-toclickhouse fleet=$O/t/helper/fleet hosts=32 sections=5 events=400
[ -x "$fleet" ] || skip_all "$fleet was not built"
ch_need 2
quick=$(ch_quick 1)
ask() { $quick --query "$1"; }
"$to" --schema --cluster two >"$tmp/schema.sql"
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

# --- the five questions ---------------------------------------------------------------------------------------------------------------------
sed 's/\\e/\\/g' doc/ctp-scale.7 | awk -v to="$tmp" '/^\.Bd -literal/ { first = 1; next } /^\.Ed/ { file = ""; next }
	/^\.Sh A CLICKHOUSE/ { name = "/q" } /^\.Ss Panels/ { name = "/panel"; n = 0 } /^\.Sh OTHER/ { name = "" }
	first { first = 0; file = name != "" && /^SELECT/ ? to name (++n) ".sql" : "" }
	file != "" { print >file }'
# A section is a random number on the server, and a host and a process in the simulation.
ask 'SELECT section_id, hostname, pid FROM delivered_sections' | while read -r id host pid; do printf 's/^%s\t/%s\t%s\t/\n' "$id" "$host" "$pid"; done >"$tmp/hosts.sed"
known() { # QUESTION FILE
	awk -v n="$1" -F '\t' '$1 == n' "$2" | cut -f 2- | if [ "$1" = 5 ]; then sort -t '	' -k 3,3nr -k 1,1n -k 2,2n | head -n 20; else cat; fi | sort
}
same() { # NAME: the files here and there
	is "$1" "$(test -s "$tmp/here" && diff "$tmp/here" "$tmp/there" | head -5)" ''
}
for n in 1 2 3 4 5; do
	$quick <"$tmp/q$n.sql" | if [ $n = 2 ] || [ $n = 5 ]; then cat; else sed -f "$tmp/hosts.sed"; fi | sort >"$tmp/there"
	known "$(echo $n | sed 's/[134]/&c/')" "$tmp/know" >"$tmp/here"
	same "question $n has the answer of the simulation"
done

# --- panels, of the two hours in which the first two sections of each host began --------------------------------------------------------------
"$fleet" know $events $hosts 2 >"$tmp/know2"
# shellcheck disable=SC2016 # Grafana's
panel() { sed 's/\$__timeFilter(\([a-z]*\))/\1 >= toDateTime(1793000000) AND \1 <= toDateTime(1793003600)/' "$tmp/panel$1.sql" | $quick | sort; }
for n in 1 3 4 5; do
	panel $n >"$tmp/there"
	known "$(echo $n | sed 's/[134]/&c/')" "$tmp/know2" >"$tmp/here"
	same "panel $n has the answer of the simulation"
done
# By the hour on the wall, where the simulation has that of the section's clock: a site has the same wakes and the same longest one.
panel 2 >"$tmp/panel2"
awk -F '\t' '{ n[$2] += $3; ns[$2] += $3 * $4; if ($5 > most[$2]) most[$2] = $5 } END { for (f in n) printf "%s %d %d %.0f\n", f, n[f], most[f], ns[f] / 1e6 }' "$tmp/panel2" | sort >"$tmp/there"
known 2a "$tmp/know2" | awk -F '\t' '{ n[$1] += $3; ns[$1] += $4; if ($5 > most[$1]) most[$1] = $5 } END { for (f in n) printf "%s %d %d %.0f\n", f, n[f], most[f], ns[f] / 1e6 }' | sort >"$tmp/here"
same 'panel 2 has the wakes of the simulation'
is 'and hours from that of the first section on' "$(head -n 1 "$tmp/panel2" | cut -f 1)" "$(ask 'SELECT toStartOfHour(toDateTime(1793000000))')"
note "CPU time of the servers: $(ch_cpu) ms"
done_testing
