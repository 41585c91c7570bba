#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The n-th malloc, write, close, fsync, rename or mmap of a tool fails, and the tool copes with it or reports it: see faults.py.
# Not under sanitizers: a library that makes calls fail is preloaded.
. t/helper/tap.sh
. t/helper/faults.sh

echo old >"$in/old"
"$O/t/helper/randstream" 1 >"$in/random.ctp"
zstd -q "$in/real.ctp" -o "$in/real.ctp.zst"
"$BIN/ctp-tojsonl" "$in/real.ctp" >"$in/real.jsonl"
"$BIN/ctp-tojsonl" -qa "$in/random.ctp" >"$in/random.jsonl"
"$BIN/ctp-tocsv" "$in/real.ctp" >"$in/real.csv"
"$BIN/ctp-toctf" -o "$in/real.ctf" "$in/real.ctp"
[ ! -x "$BIN/ctp-sqlite" ] || "$BIN/ctp-sqlite" -o "$in/old.db" "$in/real.ctp"
python3 t/helper/pptfile.py make mixed "$in/frames.ppt" "$tmp/truth"
"$BIN/ctp-ppt" decode -q -o "$in/frames.ctp" "$in/frames.ppt"
python3 -c '
import struct, sys
add = struct.pack("<BQQIII", 2, 4096, 71, 24, 2, 10) + b"struct.Foo"
sys.stdout.buffer.write(add + b"".join(struct.pack("<BQBQ", i & 1, 4096 + i, 1, 71 + i % 3) for i in range(48)))' >"$in/trace"
"$BIN/ctp-fromcacheray" "$in/trace" >"$in/accesses.ctp"

faults "$tmp"
done_testing
