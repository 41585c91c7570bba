#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Each source file names its licence and its authors in its first four lines, as LICENSE does.
# Not under sanitizers: it runs no tool.
. t/helper/tap.sh

sources() { # every source that is ours; what fuzzers found, and what was built, is not
	find GNUmakefile lib formats tools sdk t .ci .debian .rpm -type f ! -path '*/corpus-*' ! -path '*/target/*' \( -name '*.[cht]' -o -name '*.[ch]pp' -o \
		-name '*.rs' -o -name '*.js' -o -name '*.css' -o -name '*.html' -o -name '*.xml' -o -name '*.py' -o -name '*.sh' -o \
		-name '*.mk' -o -name '*.awk' -o -name '*.pml' -o -name '*.toml' -o -name GNUmakefile -o -perm -100 \)
}
sources >"$tmp/sources"
ok 'there are sources' test "$(wc -l <"$tmp/sources")" -gt 1000
while read -r file; do
	head -n 4 "$file" | grep -q 'SPDX-License-Identifier: MIT' && head -n 4 "$file" | grep -q 'Copyright (c) [0-9]* the ctptools authors' ||
		echo "$file"
done <"$tmp/sources" >"$tmp/without"
is 'each says whose it is, and by which licence' "$(cat "$tmp/without")" ''
like 'so does LICENSE' "$(cat LICENSE)" 'Copyright \(c\) [0-9]* the ctptools authors'
done_testing
