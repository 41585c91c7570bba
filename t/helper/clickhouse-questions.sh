# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# clickhouse-questions.sh - the questions and panels of ctp-scale(7): `. t/helper/clickhouse-questions.sh`, after tap.sh.
#
#	questions FLEET EVENTS HOSTS     compares their answers with those of the simulation, and asks with `ask QUERY` and `$quick <FILE`
#
# $tmp/know has what `FLEET know EVENTS HOSTS SECTIONS` says, with at least two sections of each host.
# shellcheck shell=sh disable=SC2154 # the test has $quick
hosts() { # instead of the number of a section
	awk -F '\t' -v OFS='\t' 'NR == FNR { host[$1] = $2 OFS $3; next } $1 in host { $1 = host[$1] } { print }' "$tmp/hosts" -
}
known() { # QUESTION FILE
	awk -v n="$1" -F '\t' '$1 == n' "$2" | cut -f 2- | if [ "$1" = 5 ]; then sort -t '	' -k 3,3nr -k 1,1n -k 2,2n | head -n 20; else cat; fi | sort
}
same_answer() { # NAME: the files here and there
	is "$1" "$(test -s "$tmp/here" || echo 'there is none'; diff "$tmp/here" "$tmp/there" | head -5)" ''
}
# shellcheck disable=SC2016 # Grafana's
panel() { sed 's/\$__timeFilter(\([a-z]*\))/\1 >= toDateTime(1793000000) AND \1 <= toDateTime(1793003600)/' "$tmp/panel$1.sql" | $quick | sort; }
questions() {
	sed 's/\\e/\\/g' doc/ctp-scale.7 | awk -v to="$tmp" '/^\.Bd -literal/ { first = 1; next } /^\.Ed/ { file = ""; next }
		/^\.Sh A CLICKHOUSE/ { name = "/q" } /^\.Ss Panels/ { name = "/panel"; n = 0 } /^\.Sh OTHER/ { name = "" }
		first { first = 0; file = name != "" && /^SELECT/ ? to name (++n) ".sql" : "" }
		file != "" { print >file }'
	# A section is a random number on the server, and a host and a process in the simulation.
	ask 'SELECT section_id, hostname, pid FROM delivered_sections' >"$tmp/hosts"
	for n in 1 2 3 4 5; do
		$quick <"$tmp/q$n.sql" | if [ $n = 2 ] || [ $n = 5 ]; then cat; else hosts; fi | sort >"$tmp/there"
		known "$(echo $n | sed 's/[134]/&c/')" "$tmp/know" >"$tmp/here"
		same_answer "question $n has the answer of the simulation"
	done

	# Panels, of the two hours in which the first two sections of each host began.
	"$1" know "$2" "$3" 2 >"$tmp/know2"
	for n in 1 3 4 5; do
		panel $n >"$tmp/there"
		known "$(echo $n | sed 's/[134]/&c/')" "$tmp/know2" >"$tmp/here"
		same_answer "panel $n has the answer of the simulation"
	done
	# By the hour on the wall, where the simulation has that of the section's clock: a site has the same wakes and the same longest one.
	panel 2 >"$tmp/panel2"
	awk -F '\t' '{ n[$2] += $3; ns[$2] += $3 * $4; if ($5 > most[$2]) most[$2] = $5 } END { for (f in n) printf "%s %d %d %.0f\n", f, n[f], most[f], ns[f] / 1e6 }' "$tmp/panel2" | sort >"$tmp/there"
	known 2a "$tmp/know2" | awk -F '\t' '{ n[$1] += $3; ns[$1] += $4; if ($5 > most[$1]) most[$1] = $5 } END { for (f in n) printf "%s %d %d %.0f\n", f, n[f], most[f], ns[f] / 1e6 }' | sort >"$tmp/here"
	same_answer 'panel 2 has the wakes of the simulation'
	is 'and hours from that of the first section on' "$(head -n 1 "$tmp/panel2" | cut -f 1)" "$(ask 'SELECT toStartOfHour(toDateTime(1793000000))')"
}
