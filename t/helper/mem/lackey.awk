# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# lackey.awk - what lackey --trace-mem=yes prints, as rows for ctp-fromjsonl. A modify is a read and a write.
function row(op, at) {
	split(at, part, ",")
	printf "{\"type\":\"cacheray_access\",\"ts\":%d,\"address\":\"0x%s%s\",\"size\":%d,\"thread\":1,\"op\":\"%s\",\"atomic\":false,\"unaligned\":false}\n",
		ts++, substr("0000000000000000", length(part[1]) + 1), part[1], part[2], op
}
BEGIN {
	print "{\"type\":\"@section\",\"attrs\":{\"clock\":\"ordinal\"}}"
	print "{\"type\":\"@schema\",\"name\":\"cacheray_access\",\"kind\":\"other\",\"fields\":[{\"name\":\"ts\",\"type\":\"u64\",\"role\":\"time\",\"pred\":\"time\"}," \
		"{\"name\":\"address\",\"type\":\"u64\",\"role\":\"address\"},{\"name\":\"size\",\"type\":\"u8\"},{\"name\":\"thread\",\"type\":\"u64\",\"role\":\"thread\"}," \
		"{\"name\":\"op\",\"type\":\"enum\",\"labels\":{\"read\":0,\"write\":1}},{\"name\":\"atomic\",\"type\":\"bool\"},{\"name\":\"unaligned\",\"type\":\"bool\"}]}"
}
$1 == "L" || $1 == "M" { row("read", $2) }
$1 == "S" || $1 == "M" { row("write", $2) }
END { print "{\"type\":\"@end\",\"complete\":true}" }
