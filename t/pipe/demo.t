#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# make demo succeeds, and finds the coroutine that the example lost on purpose. In a pipe it prints no colours.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh
O=$O t/helper/demo.sh >"$tmp/out" 2>&1
is 'the demo ends with status 0' $? 0
is 'there are no escape sequences in a pipe' "$(grep -c "$(printf '\033')" "$tmp/out")" 0
is 'it shows five lines of JSON' "$(grep -c '^{"' "$tmp/out")" 5
lost=$(sed -n 's/^lostwake: lost \(handler [0-9]*\), .*/\1/p' "$tmp/out")
like 'the example says which one it lost' "$lost" '^handler [0-9]+$'
like 'the report finds that coroutine' "$(cat "$tmp/out")" "who: $lost \\(#"
line=$(grep -n 'mailbox_get(&t->conn->request' sdk/c/examples/lostwake.c | cut -d : -f 1)
like 'the finding has its file and line' "$(tail -n 2 "$tmp/out")" "lostwake.c:$line:handler_step for a wake-up that was lost"
page=$(sed -n 's/^To look at: //p' "$tmp/out")
ok 'the page is at the printed path' test -s "$page"
done_testing
