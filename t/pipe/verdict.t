#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A selection of the programs that test ctp-report's verdicts: defects are found at the right place, and their healthy twins and healthy
# programs that look defective give no finding. make check-verdict runs all of them, in ten conditions.
# Not under sanitizers: it runs programs whose timing matters.
# Mostly waits.
. t/helper/tap.sh

# They sleep nearly all of the time. A busy machine may spoil a run: it is tried again, but a wrong proof always fails.
run() { # CONDITION SCENARIO...
	condition=$1
	shift
	only=
	for scenario; do only="$only --only $scenario"; done
	# shellcheck disable=SC2086
	python3 t/defects/verdict/run -v --build "$O" --no-build --tries 4 --jobs 8 --condition "$condition" $only >"$tmp/said" 2>"$tmp/err"
	row=$(sed -n "\$s/  */ /gp" "$tmp/said")
	# In a selection all healthy ones may be "possible", because they were selected for looking defective.
	like "$condition: all defects are found, and the others have no likely finding" "$row" \
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
