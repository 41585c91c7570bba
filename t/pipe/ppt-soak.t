#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Attaches to a client of ppt and leaves it, 50 times or ROUNDS: no descriptor, segment or frame is lost, torn or left.
# Not under sanitizers: it kills at random moments.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
"$O/t/helper/ppt-client" -i >"$tmp/said" &
pid=$!
tries=0
until [ "$(readlink /proc/$pid/exe)" = "$(realpath "$O/t/helper/ppt-client")" ] || [ $((tries += 1)) -gt 1000 ]; do sleep 0.01; done
"$BIN/ctp-ppt" list $pid >"$tmp/list" 2>&1
status=$?
kill -9 $pid
[ $status = 0 ] || skip_all "$(cat "$tmp/list")"
seed=${SEED:-$$}
is "seed $seed: nothing is wrong" "$(O=$O BIN=$BIN python3 t/helper/ppt-soak.py "${ROUNDS:-50}" "$seed" 2>&1)" ''
done_testing
