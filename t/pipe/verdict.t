#!/bin/sh
# A selection of the programs that judge ctp-report: their defects are found at the right place, and of their twins and of healthy ones
# that look sick none is a finding. All of them, in ten conditions: make check-verdict.
# Not under sanitizers: it runs programs whose timing matters.
# Mostly waits.
. t/helper/tap.sh

# Nearly all of the time they sleep. A machine that is busy may spoil one: it is tried again, but a false proof is never forgiven.
run() { # CONDITION SCENARIO...
	condition=$1
	shift
	only=
	for scenario; do only="$only --only $scenario"; done
	# shellcheck disable=SC2086
	python3 t/defects/verdict/run -v --build "$O" --no-build --tries 4 --jobs 8 --condition "$condition" $only >"$tmp/said" 2>"$tmp/err"
	row=$(sed -n "\$s/  */ /gp" "$tmp/said")
	# Of a selection, as many healthy ones may be possible as there are: those are the ones that look sick.
	like "$condition: all defects are found, and nothing is likely of the others" "$row" \
		"^$condition ([1-9][0-9]*)/\\1 ([1-9][0-9]*)/\\2 0 0/\\1 0/\\1 0/([1-9][0-9]*) [0-9]+/\\3 0 0 "
	grep -E 'MISSED|NOISE|FALSE|BROKEN' "$tmp/said" | sed 's/^/# /'
}
run ended c-locks/forgotten-unlock c-locks/two-orders c-channels/both-full c-channels/reply-dropped c-pools/broken-connections \
	c-sched/resumed-twice c-life/join-circle c-life/null-session c-locks/idle-condition c-locks/patient-writer c-channels/slow-last-call \
	c-channels/empty-mailboxes c-pools/shrinking-pool c-idle/idle-tenants c-timers/back-off c-sockets/keep-alive \
	c-server/lost-wake c-server/leak c-server/sound
run killed c-locks/forgotten-unlock c-channels/both-full c-channels/slow-last-call c-locks/idle-condition
run once c-locks/forgotten-unlock c-locks/idle-condition c-sockets/keep-alive
done_testing
