#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# demo.sh - what `make demo` runs: it traces an example, shows the trace, and finds the coroutine that the example loses on purpose.
#
# Every command is shown as it is run, in the folder $O/demo, where the trace stays.
set -eu
O=${O:-build}
top=$PWD
PATH=$top/$O/bin:$top/$O/examples:$PATH
bold='' dim='' off=''
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && [ -z "${NO_COLOR:-}" ]; then
	bold=$(printf '\033[1m') dim=$(printf '\033[2m') off=$(printf '\033[0m')
fi
mkdir -p "$O/demo"
cd "$O/demo"

say() { printf '\n%s%s%s\n' "$dim" "$1" "$off"; }
run() { printf '%s$ %s%s\n' "$bold" "$1" "$off"; sh -c "$1" 2>&1 || printf '(status %s)\n' "$?"; }

say '# A small M:N scheduler, traced. It has a bug.'
run 'ctp-collect lostwake | zstd -q > lostwake.ctp.zst'

say '# Its events, as JSON lines in time order.'
run 'zstdcat lostwake.ctp.zst | ctp-tojsonl | head -n 5'

say '# What is in the stream.'
run 'ctp-stat lostwake.ctp.zst'

say '# What went wrong?'
run 'ctp-report lostwake.ctp.zst | tee report.txt'

say '# The same for a browser, with a timeline, in one file.'
run 'ctp-tohtml -o lostwake.html lostwake.ctp.zst'

where=$(sed -n 's/.* suspended at \([^ ]*\) for .* and not woken .*/\1/p' report.txt)
if [ -z "$where" ]; then
	printf '\nctp-report did not find the lost wake-up: that was not to be expected.\n' >&2
	exit 1
fi
printf '\n%sThat is the one: it waits at %s for a wake-up that was lost.%s\n' "$bold" "$where" "$off"
printf 'To look at: %s/lostwake.html\n' "$PWD"
