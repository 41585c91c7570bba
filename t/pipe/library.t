#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# libctp.so exports the functions that the installed headers declare, each with its version, and nothing else; so does no plugin.
# Not under sanitizers: they have no shared library.
. t/helper/tap.sh
lib=$(ls "$O"/libctp.so.* 2>/dev/null) || skip_all 'there is no shared library in this build'
command -v readelf >/dev/null || skip_all 'there is no readelf'

make --no-print-directory -s O="$O" DESTDIR="$tmp/root" PREFIX=/usr libdir=/usr/lib install >"$tmp/log" 2>&1 || diag "$(cat "$tmp/log")"
top=$tmp/root/usr
exported() { readelf -W --dyn-syms "$1" | awk '$4 == "FUNC" && $7 != "UND" && $5 == "GLOBAL" { print $8 }'; } # FILE

# A declaration begins in the first column, is not inline, and may go on in a second line.
declared() {
	cat "$top"/include/ctp/*/*.h | sed 's,/\*.*\*/,,' | grep -v '^static\|^#\|^typedef\|^ ' |
		sed -n 's/^[a-z].*[ *]\(ctp_[a-z0-9_]*\)(.*/\1/p' | sort
}
declared >"$tmp/declared"
ok 'headers declare functions' test "$(wc -l <"$tmp/declared")" -gt 150
is 'none is declared twice' "$(uniq -d "$tmp/declared")" ''
exported "$lib" | sed 's/@.*//' | sort >"$tmp/exported"
is 'the library exports what they declare' "$(diff "$tmp/declared" "$tmp/exported")" ''
is 'the list of exports has no other name' "$(sed -n 's/^	\(ctp_[a-z0-9_]*\);$/\1/p' lib/libctp.map | sort)" "$(cat "$tmp/exported")"
is 'the list is sorted' "$(sed -n 's/^	\(ctp_[a-z0-9_]*\);$/\1/p' lib/libctp.map | LC_ALL=C sort -c 2>&1)" ''
is 'each has a version' "$(exported "$lib" | grep -vc '@@LIBCTP_[0-9.]*$')" 0
is 'the soname is the name of the file' "$(readelf -d "$lib" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" "${lib##*/}"
is 'the links lead to it' "$(readlink -f "$top/lib/libctp.so") $(readlink -f "$top/lib/${lib##*/}")" \
	"$(cd "$top/lib" && pwd -P)/$(ls "$top/lib" | grep 'libctp.so.*\..*\.') $(cd "$top/lib" && pwd -P)/$(ls "$top/lib" | grep 'libctp.so.*\..*\.')"
for plugin in "$O"/plugins/*.so "$O"/lib/*.so; do
	[ -f "$plugin" ] || continue
	is "${plugin##*/} exports nothing of the library" "$(exported "$plugin" | sed 's/@.*//' | grep -Fxf "$tmp/exported")" ''
done

# A program that was linked with the library says which one it runs with.
cat >"$tmp/version.c" <<'C'
#include <ctp/base/version.h>
#include <ctp/stream/reader.h>
#include <stdio.h>
int main(void)
{
	struct ctp_input in;
	struct ctp_err err;
	int failed = ctp_input_open(&in, "/nowhere", &err);
	printf("%s %d %d\n", ctp_version(), failed, err.code == CTP_ERR_SYSTEM && err.sys_errno == 2);
	return 0;
}
C
ok 'a program is linked with the shared library' \
	"${CC:-cc}" -Wall -Wextra -Werror -pedantic -std=c11 -I"$top/include" -o "$tmp/version" "$tmp/version.c" -L"$top/lib" -lctp
like 'it needs the soname' "$(readelf -d "$tmp/version")" "NEEDED.*\[${lib##*/}\]"
is 'it has the version of the tools' "$(LD_LIBRARY_PATH=$top/lib "$tmp/version")" "$("$BIN/ctp-stat" -V | cut -d ' ' -f 2) -1 1"
done_testing
