#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A file of ppt with many gaps, and frames without a time in it: these stay after the frame that they followed.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all "there is no python3"
ppt=$BIN/ctp-ppt
python3 t/helper/pptfile.py make gaps "$tmp/gaps.ppt1" "$tmp/gaps.truth"
"$ppt" decode --exact -o "$tmp/gaps.ctp" "$tmp/gaps.ppt1" 2>"$tmp/err"
is 'gaps: status, and what is lost' "$? $(sed 's/.*kept, //' "$tmp/err")" '3 2999 lost'
"$BIN/ctp-tojsonl" -aq "$tmp/gaps.ctp" >"$tmp/gaps.jsonl"
is 'all values' "$(python3 t/helper/pptfile.py judge "$tmp/gaps.truth" <"$tmp/gaps.jsonl")" ''
is 'each gap is a record' "$(grep -c '"type":"ppt_lost"' "$tmp/gaps.jsonl")" 2999
is 'frames without a time keep their places' "$(python3 t/helper/pptfile.py order <"$tmp/gaps.jsonl" | sed -n 1,3p)" ''
done_testing
