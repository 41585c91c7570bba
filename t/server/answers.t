#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The page of ctp-tohtml says what somebody with a hang asks first: which coroutines are stuck, what holds what they wait for, since when,
# and what is only inferred. On a phone, too.
# Not under sanitizers: it waits for a browser.
# Mostly waits.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
python3 t/helper/page/answers.py "$tmp"
