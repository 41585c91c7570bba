# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# stream.sh - streams of accesses for the tests of ctp-mem, and its answers: `. t/helper/mem/stream.sh`, after tap.sh.
# shellcheck shell=sh

# Rows from a list: read|write ADDRESS SIZE THREAD [atomic] [unaligned]; add ADDRESS ELEMENT COUNT TYPE; remove ADDRESS; lost COUNT.
rows() {
	awk 'BEGIN {
		ts = "{\"name\":\"ts\",\"type\":\"u64\",\"role\":\"time\",\"pred\":\"time\"}"
		at = "{\"name\":\"address\",\"type\":\"u64\",\"role\":\"address\"},{\"name\":\"thread\",\"type\":\"u64\",\"role\":\"thread\"}"
		schema = "{\"type\":\"@schema\",\"name\":\"%s\",\"kind\":\"%s\",\"fields\":[" ts ",%s]}\n"
		print "{\"type\":\"@section\",\"attrs\":{\"clock\":\"ordinal\"}}"
		printf schema, "cacheray_access", "other", at ",{\"name\":\"size\",\"type\":\"u8\"}," \
			"{\"name\":\"op\",\"type\":\"enum\",\"labels\":{\"read\":0,\"write\":1}},{\"name\":\"atomic\",\"type\":\"bool\"},{\"name\":\"unaligned\",\"type\":\"bool\"}"
		printf schema, "cacheray_add", "other", at ",{\"name\":\"element_size\",\"type\":\"u32\"},{\"name\":\"count\",\"type\":\"u32\"},{\"name\":\"type\",\"type\":\"string\"}"
		printf schema, "cacheray_remove", "other", at
		printf schema, "cacheray_lost", "loss", "{\"name\":\"count\",\"type\":\"u64\",\"role\":\"count\"}"
	}
	function begin(class, address, thread) {
		printf "{\"type\":\"%s\",\"ts\":%d,\"address\":\"0x%s%s\",\"thread\":%s", class, NR, substr("0000000000000000", length(address) + 1), address, thread
	}
	$1 == "read" || $1 == "write" {
		begin("cacheray_access", $2, $4)
		printf ",\"size\":%d,\"op\":\"%s\",\"atomic\":%s,\"unaligned\":%s}\n", $3, $1, / atomic/ ? "true" : "false", / unaligned/ ? "true" : "false"
	}
	$1 == "add" {
		begin("cacheray_add", $2, 1)
		printf ",\"element_size\":%s,\"count\":%s,\"@type\":\"", $3, $4
		sub(/^add [^ ]* [^ ]* [^ ]* /, "")
		print $0 "\"}"
	}
	$1 == "remove" { begin("cacheray_remove", $2, 1); print "}" }
	$1 == "lost" { printf "{\"type\":\"cacheray_lost\",\"ts\":%d,\"count\":%d}\n", NR, $2 }
	END { print "{\"type\":\"@end\",\"complete\":true}" }'
}
stream() { rows | "$BIN/ctp-fromjsonl" -q -o "$tmp/$1.ctp"; }
mem() { # NAME STATUS OPTIONS...: JSON of a stream
	name=$1 want=$2
	shift 2
	"$BIN/ctp-mem" -qj --cache none "$@" "$tmp/$name.ctp" >"$tmp/json" 2>"$tmp/err"
	is "$name: status $want" $? "$want"
	is "$name: one line" "$(wc -l <"$tmp/json")" 1
}
has() { ok "$1" grep -qF -- "$2" "$tmp/json"; }
counts() { echo "\"reads\":$1,\"writes\":$2,\"atomics\":${3-0},\"unaligned\":${4-0},\"straddles\":${5-0},\"misses\":[]"; }
