#!/bin/sh
# make install puts everything where PREFIX and DESTDIR say, it works from there, and make uninstall takes it all away.
. t/tap.sh

echo '{"probe_id":7,"tid":8,"addr":"0x0000000000000009","seq":2,"is_active":true,"ts":10}' >"$tmp/row"
root=$tmp/root prefix=/opt/ctp
top=$root$prefix
for_user() { make --no-print-directory O="$O" DESTDIR="$root" PREFIX="$prefix" "$@"; }

ok 'make install' for_user install
for tool in "$BIN"/ctp-*; do ok "${tool##*/} is installed and runs" "$top/bin/${tool##*/}" -V; done
for page in doc/*.[0-9]; do ok "$page is installed" test -f "$top/share/man/man${page##*.}/${page##*/}"; done
is 'nothing but tools is in bin' "$(cd "$top/bin" && ls)" "$(cd "$BIN" && ls)"

example() { # PAGE NUMBER: that literal block of the page
	awk -v want="$2" '/^\.Bd/ { inside = ++n == want; next } /^\.Ed/ { inside = 0 } inside' "doc/$1" | sed 's/\\e/\\/g'
}

# A probe needs the header and nothing else.
example ctp.h.3 1 >"$tmp/probe.c"
ok 'the program in ctp.h.3 compiles with the installed ctp.h' \
	"${CC:-cc}" -Wall -Wextra -Werror -I"$top/include" -o "$tmp/probe" "$tmp/probe.c"
ok 'and runs untraced' "$tmp/probe"
like 'and is traced by the installed tools' \
	"$("$top/bin/ctp-collect" -q "$tmp/probe" | "$top/bin/ctp-tojsonl")" '^{"probe_id":7,.*"is_active":true,"ts":[0-9]+}$'

# The programs in ctp.3, told where the library is by pkg-config alone.
installed() { PKG_CONFIG_PATH=$top/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" libctp; }
if command -v pkg-config >/dev/null; then
	is 'pkg-config knows the version' "$(installed --modversion)" "$("$BIN/ctp-stat" -V | cut -d ' ' -f 2)"
	for n in 1 2; do
		example ctp.3 $n >"$tmp/example$n.c"
		# shellcheck disable=SC2046
		ok "example $n of ctp.3 builds against the installed library" \
			"${CC:-cc}" -Wall -Wextra -Werror -o "$tmp/example$n" "$tmp/example$n.c" $(installed --cflags --libs)
	done
	is 'the first reads what there is' \
		"$("$BIN/ctp-fromjsonl" -q <"$tmp/row" | "$tmp/example1")" '1 transitions, the last at 10'
	"$tmp/example2" >"$tmp/weather.ctp"
	is 'the second writes what all tools read' \
		"$("$BIN/ctp-tojsonl" -a "$tmp/weather.ctp" | grep -c '"type":"weather".*"celsius":20.5')" 10
fi
for header in "$top"/include/ctptools/*.h "$top/include/ctp.h"; do
	for std in c11 gnu17; do
		ok "${header##*/} stands alone ($std)" \
			"${CC:-cc}" -std=$std -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -x c "$header"
	done
done

# What other programs load.
"$BIN/ctp-fromjsonl" -q <"$tmp/row" >"$tmp/row.ctp"
ok 'the analysis for Trace Compass is installed' test -f "$top/share/ctptools/ctp-tracecompass.xml"
if [ -f "$O/lib/ctp.so" ] && command -v sqlite3 >/dev/null; then
	is 'sqlite3 loads the installed extension' \
		"$(sqlite3 -cmd ".load $top/lib/ctp" :memory: "select ts from ctp('$tmp/row.ctp')")" 10
fi
if [ -f "$O/plugins/babeltrace-plugin-ctp.so" ] && command -v babeltrace2 >/dev/null; then
	like 'babeltrace2 loads the installed plugin' \
		"$(BABELTRACE_PLUGIN_PATH=$top/lib/babeltrace2/plugins babeltrace2 "$tmp/row.ctp")" 'transition.*running'
	like 'for /usr/local it goes where babeltrace2 looks by itself' "$(make -n O="$O" DESTDIR=/d PREFIX=/usr/local install)" \
		"/d$(pkg-config --variable=libdir babeltrace2)/babeltrace2/plugins/babeltrace-plugin-ctp.so"
fi

ok 'make uninstall' for_user uninstall
is 'nothing is left' "$(find "$root" -type f)" ''
done_testing
