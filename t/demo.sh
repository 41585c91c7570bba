#!/bin/sh
# demo.sh - what `make demo` runs: an example traced, looked at, and the coroutine found that it loses on purpose.
#
# Every command is shown as it is run, in the folder $O/demo, where the trace stays for more looking.
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

say '# Who is left suspended, or never ran? The last that is known of each coroutine tells. (This program is in the README.)'
sed -n '/^    match/,/^$/s/^    //p' "$top/README" >stuck.awk
run 'cat stuck.awk'
run 'zstdcat lostwake.ctp.zst | ctp-tojsonl -a | awk -f stuck.awk | tee stuck.jsonl'

lost=$(ctp-stat -j lostwake.ctp.zst | grep -o '"lost":[0-9]*' | head -n 1 | cut -d : -f 2)
found=$(wc -l <stuck.jsonl)
probe=$(sed 's/.*"probe_id":\([0-9]*\).*/\1/' stuck.jsonl)
where=$(sed 's/.*"site_text":"\([^"]*\)".*/\1/' stuck.jsonl)
if [ "$found" != 1 ]; then
	printf '\n%s coroutines found: that was not to be expected.\n' "$found" >&2
	exit 1
fi
printf '\n%sThat is the one: the coroutine with probe_id %s waits at %s\n' "$bold" "$probe" "$where"
printf 'for a wake-up that was lost.%s\n' "$off"
# Only a stream that is whole proves that nobody resumed it.
if [ "$lost" = 0 ]; then
	printf 'No event is missing from the trace, so this is proved. The trace stays in %s/demo.\n' "$O"
else
	printf '%s events are missing from the trace, so this is likely and not proved. The trace stays in %s/demo.\n' "$lost" "$O"
fi
