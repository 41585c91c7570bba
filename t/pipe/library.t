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

# It reads and writes numbers with a point in a program that has a locale with a comma.
cat >"$tmp/comma.c" <<'C'
#include <ctp/base/text.h>
#include <ctp/stream/value.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
	char text[CTP_TEXT_MAX], duration[CTP_TEXT_MAX];
	const char *comma = setlocale(LC_ALL, "de_DE.UTF-8") ? localeconv()->decimal_point : "none";
	struct ctp_field field = {.name = "celsius", .type = CTP_F64};
	static const char number[] = "20.5";
	uint64_t val = 0;
	*ctp_text_double(text, 20.5) = '\0';
	*ctp_text_duration(duration, 1500000000) = '\0';
	int read = ctp_value_parse(&field, ctp_form_of(&field), number, number + 4, &val);
	printf("%s %s %s %d %.1f\n", comma, text, duration, read, ctp_val_double(CTP_F64, val));
	return 0;
}
C
if localedef -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8" 2>/dev/null; then
	ok 'a program with a locale of its own' \
		"${CC:-cc}" -Wall -Wextra -Werror -std=c11 -I"$top/include" -o "$tmp/comma" "$tmp/comma.c" -L"$top/lib" -lctp
	is 'a point stays a point' "$(LOCPATH=$tmp LC_ALL='' LD_LIBRARY_PATH=$top/lib "$tmp/comma")" ', 20.5 1.50 s 1 20,5'
else
	skip 'there is no German locale (package locales)'
fi
done_testing
