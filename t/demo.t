#!/bin/sh
# make demo ends well, and finds the coroutine that the example itself says it lost. In a pipe it prints no colours.
. t/tap.sh
O=$O t/demo.sh >"$tmp/out" 2>&1
is 'the demo ends with status 0' $? 0
is 'there are no escape sequences in a pipe' "$(grep -c "$(printf '\033')" "$tmp/out")" 0
is 'it shows five lines of JSON and the one it found' "$(grep -c '^{"' "$tmp/out")" 6
lost=$(sed -n 's/^lostwake: lost .*, probe_id \([0-9]*\)$/\1/p' "$tmp/out")
like 'it shows how' "$(grep -A 1 '^[$] cat stuck.awk' "$tmp/out" | tail -n 1)" '^match'
like 'the example says which one it lost' "$lost" '^[0-9]+$'
like 'and that is the one that was found' "$(tail -n 3 "$tmp/out")" "probe_id $lost waits at .*lostwake.c:[0-9]+:handler_step"
done_testing
