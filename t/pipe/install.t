#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# make install puts everything where PREFIX and DESTDIR say, it works from there, and make uninstall takes it all away.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh

echo '{"probe_id":7,"tid":8,"addr":"0x0000000000000009","seq":2,"is_active":true,"ts":10}' >"$tmp/row"
root=$tmp/root prefix=/opt/ctp
top=$root$prefix
for_user() { make --no-print-directory O="$O" DESTDIR="$root" PREFIX="$prefix" "$@"; }

ok 'make install' for_user install
for tool in "$BIN"/ctp-*; do ok "${tool##*/} is installed and runs" "$top/bin/${tool##*/}" -V; done
for page in doc/*.[0-9]; do ok "$page is installed" test -f "$top/share/man/man${page##*.}/${page##*/}"; done
is 'bin has the tools and nothing else' "$(cd "$top/bin" && ls)" "$(cd "$BIN" && ls)"

example() { # PAGE NUMBER: that literal block of the page
	awk -v want="$2" '/^\.Bd/ { inside = ++n == want; next } /^\.Ed/ { inside = 0 } inside' "doc/$1" | sed 's/\\e/\\/g'
}

# A probe needs the header and nothing else.
example ctp.h.3 1 >"$tmp/probe.c"
ok 'the program in ctp.h.3 compiles with the installed ctp.h' \
	"${CC:-cc}" -Wall -Wextra -Werror -I"$top/include" -o "$tmp/probe" "$tmp/probe.c"
ok 'it runs untraced' "$tmp/probe"
like 'the installed tools trace it' \
	"$("$top/bin/ctp-collect" -q "$tmp/probe" | "$top/bin/ctp-tojsonl")" '^{"probe_id":7,.*"is_active":true,"ts":[0-9]+}$'

example ctp-ppt.h.3 1 >"$tmp/server.c"
ok 'the program in ctp-ppt.h.3 compiles with the installed ppt.h' \
	"${CC:-cc}" -Wall -Wextra -Werror -pthread -I"$top/include" -o "$tmp/server" "$tmp/server.c"
ok 'it runs without an agent' "$tmp/server" 1

# The programs in ctp.3, built with pkg-config alone.
export LD_LIBRARY_PATH="$top/lib"
installed() { PKG_CONFIG_PATH=$top/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" ${PC:-libctp}; }
if command -v pkg-config >/dev/null; then
	is 'pkg-config knows the version' "$(installed --modversion)" "$("$BIN/ctp-stat" -V | cut -d ' ' -f 2)"
	for n in 1 3; do
		example ctp.3 $n >"$tmp/example$n.c"
		# shellcheck disable=SC2046
		ok "example $n of ctp.3 builds against the installed library" \
			"${CC:-cc}" -Wall -Wextra -Werror -o "$tmp/example$n" "$tmp/example$n.c" $(installed --cflags --libs)
	done
	# shellcheck disable=SC2046
	ok 'the program with the probe, which comes from the installed archive' \
		"${CC:-cc}" -Wall -Wextra -Werror -o "$tmp/probe" "$tmp/probe.c" $(PC=ctp-probe installed --cflags --libs)
	like 'the installed tools trace that, too' \
		"$("$top/bin/ctp-collect" -q "$tmp/probe" | "$top/bin/ctp-tojsonl")" '^{"probe_id":7,.*"is_active":true,"ts":[0-9]+}$'
	is 'the first example reads a stream' \
		"$("$BIN/ctp-fromjsonl" -q <"$tmp/row" | "$tmp/example1")" '1 transitions, the last at 10'
	"$tmp/example3" >"$tmp/weather.ctp"
	is 'the second example writes a stream that ctp-tojsonl reads' \
		"$("$BIN/ctp-tojsonl" -a "$tmp/weather.ctp" | grep -c '"type":"weather".*"celsius":20.5')" 10
fi
# Each header alone, as the C and the C++ that its page promises.
alone() { "$@" -I"$top/include" -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only; } # COMPILER -std=STANDARD -x LANGUAGE HEADER
for header in "$top"/include/ctp/*/*.h "$top/include/ctp.h" "$top/include/ppt.h"; do
	for std in c11 gnu17; do ok "${header##*/} stands alone ($std)" alone "${CC:-cc}" -std=$std -x c "$header"; done
done
if command -v c++ >/dev/null; then
	for header in ctp.h ppt.h; do
		for std in c++11 c++20; do ok "$header stands alone ($std)" alone c++ -std=$std -x c++ "$top/include/$header"; done
	done
	ok 'ctp.hpp stands alone' alone c++ -std=c++20 -x c++ "$top/include/ctp.hpp"
	echo '#include <asio.hpp>' >"$tmp/asio.cpp"
	if c++ -E "$tmp/asio.cpp" >/dev/null 2>&1; then
		ok 'ctp-asio.hpp needs Asio and nothing else' alone c++ -std=c++20 -x c++ "$top/include/ctp-asio.hpp"
	fi
fi
{
	(cd "$top/include" && ls ctp/*/*.h) | sed 's/.*/#include <&>/'
	cat <<'EOF'
int main()
{
	ctp_err err{};
	ctp_input in{};
	ctp_output out{};
	ctp_sink_ops ops{};
	ctp_sink sink{};
	sink.ops = &ops;
	ctp_convert_stats stats{};
	ctp_follow_ops listener{};
	static ctp_follow follow{};
	if (ctp_input_open(&in, "/dev/null", &err) || ctp_output_open(&out, nullptr, false, false, &err) ||
	    ctp_follow_init(&follow, &listener, nullptr, &err))
		return 1;
	bool empty = stats.reader.packets == 0 && !ctp_convert(&in, &sink, nullptr, nullptr, &stats, &err);
	ctp_output_put(&out, ctp_rule_name(CTP_RULE_CRASH), 5);
	ctp_follow_fini(&follow);
	ctp_input_close(&in);
	return empty && stats.harmed && !ctp_output_close(&out, &err) ? 0 : 1;
}
EOF
} >"$tmp/all.cpp"
for cxx in g++ clang++; do
	command -v $cxx >/dev/null || continue
	for header in "$top"/include/ctp/*/*.h; do
		ok "${header##*/} stands alone ($cxx)" alone $cxx -std=c++17 -include "$header" -x c++ /dev/null
	done
	# shellcheck disable=SC2046
	! command -v pkg-config >/dev/null ||
		ok "a program in C++ includes all headers ($cxx)" \
			$cxx -std=c++17 -Wall -Wextra -Werror -o "$tmp/all" "$tmp/all.cpp" $(installed --cflags --libs)
	! command -v pkg-config >/dev/null || is 'and runs' "$("$tmp/all")" crash
done
is 'no header refers to one that is not installed' \
	"$(cd "$top/include" && grep -Eo '[a-z0-9_/-]+\.h\b' ctp/*/*.h | while IFS=: read -r header name; do
		echo | "${CC:-cc}" -I. $(printf ' -I%s' ctp ctp/*/) -include "$name" -fsyntax-only -x c - 2>/dev/null || echo "$header: $name"
	done)" ''
is 'ctp.3 names each header of the library, and no other' \
	"$(sed -n 's,^\.It Pa \(.*\.h\)$,\1,p' doc/ctp.3 | sort)" "$(cd "$top/include/ctp" && ls */*.h | sort)"

# What other programs load.
"$BIN/ctp-fromjsonl" -q <"$tmp/row" >"$tmp/row.ctp"
for xml in formats/*/*.xml; do
	ok "${xml##*/} is installed" test -f "$top/share/ctptools/${xml##*/}"
	like 'it is where ctp-toctf(1) says' "$(cat doc/ctp-toctf.1)" "/usr/local/share/ctptools/${xml##*/}"
done
if [ -f "$O/lib/ctp.so" ] && command -v sqlite3 >/dev/null; then
	is 'sqlite3 loads the installed extension' \
		"$(sqlite3 -cmd ".load $top/lib/ctp" :memory: "select ts from ctp('$tmp/row.ctp')")" 10
fi
if [ -f "$O/plugins/babeltrace-plugin-ctp.so" ] && command -v babeltrace2 >/dev/null; then
	like 'babeltrace2 loads the installed plugin' \
		"$(BABELTRACE_PLUGIN_PATH=$top/lib/babeltrace2/plugins babeltrace2 "$tmp/row.ctp")" 'transition.*running'
	like 'for /usr/local the plugin is where babeltrace2 looks by default' \
		"$(make -n O="$O" DESTDIR=/d PREFIX=/usr/local install)" \
		"/d$(pkg-config --variable=libdir babeltrace2)/babeltrace2/plugins/babeltrace-plugin-ctp.so"
fi

is 'the licence is installed' "$(cat "$top/share/doc/ctptools/LICENSE")" "$(cat LICENSE)"

ok 'make uninstall' for_user uninstall
is 'nothing is left' "$(find "$root" -type f)" ''

# Other folders: with spaces, and as a distribution names them.
root="$tmp/it's a root" prefix='/opt/my programs'
top=$root$prefix
ok 'make install to a folder with spaces' for_user install
is 'the tools are there' "$(cd "$top/bin" && ls)" "$(cd "$BIN" && ls)"
is 'nothing is installed elsewhere' "$(cd "$root" && find . -type f ! -path './opt/my programs/*')" ''
if command -v pkg-config >/dev/null; then
	pc() { PKG_CONFIG_PATH=$top/lib/pkgconfig pkg-config "$@"; }
	is 'pkg-config names the folder' "$(pc --cflags ctp-probe | sed 's/ *$//')" '-I/opt/my\ programs/include -DCTP_LIBRARY'
	ln -s "$top" "$tmp/my programs"
	eval "set -- $(pc --cflags --libs --define-variable=prefix="$tmp/my\\ programs" ctp-probe)"
	ok 'the program with the probe compiles with the flags of pkg-config' "${CC:-cc}" -o "$tmp/probe" "$tmp/probe.c" "$@"
fi
ok 'make uninstall from there' for_user uninstall
is 'nothing is left there' "$(find "$root" -type f)" ''

root=$tmp/multiarch
for_distribution() { make --no-print-directory O="$O" DESTDIR="$root" PREFIX=/usr "$@"; }
folders() { (cd "$root" && find . -type f | sed -E 's,^\.(/usr/share/[^/]*|/usr/lib/some-arch|/[^/]*/[^/]*)/.*,\1,' | sort -u | tr '\n' ' '); }
ok 'make install LIBDIR=' for_distribution LIBDIR=/usr/lib/some-arch bt2dir=/usr/lib/some-arch/babeltrace2/plugins install
is 'the libraries are there and nowhere else' "$(folders)" \
	'/usr/bin /usr/include /usr/lib/some-arch /usr/share/bash-completion /usr/share/ctptools /usr/share/doc /usr/share/fish /usr/share/man /usr/share/zsh '
for pc in "$root"/usr/lib/some-arch/pkgconfig/*.pc; do
	is "${pc##*/} names the folder" "$(grep '^libdir=' "$pc")" "libdir=\${prefix}/lib/some-arch"
done
ok 'make uninstall LIBDIR=' for_distribution LIBDIR=/usr/lib/some-arch bt2dir=/usr/lib/some-arch/babeltrace2/plugins uninstall
is 'nothing is left of it' "$(find "$root" -type f)" ''
set -- bindir=/a/bin libdir=/a/lib includedir=/a/inc mandir=/a/man docdir=/a/doc bt2dir=/a/lib
ok 'make install libdir= and the like' for_distribution "$@" install
is 'each is where it should be' "$(folders)" '/a/bin /a/doc /a/inc /a/lib /a/man /usr/share/bash-completion /usr/share/ctptools /usr/share/fish /usr/share/zsh '
like 'libctp.pc names the folders' "$(cat "$root/a/lib/pkgconfig/libctp.pc")" '^includedir=/a/inc$'
ok 'make uninstall libdir= and the like' for_distribution "$@" uninstall
is 'nothing is left of them' "$(find "$root" -type f)" ''

# What a build was made with.
o=$tmp/settings
ok 'a build with other settings' env CC='cc -DFIRST' make --no-print-directory O="$o" CFLAGS='-O1 -DTEXT="a#b"' "$o/.flags"
compiled() { (unset CC CFLAGS && make -n --no-print-directory O="$o" "$@" | grep -o -e 'cc -D[A-Z][A-Z]*' -e '-O[0-9] .*-c ' | sed 's/ $//; s/ -fno-lto -c$/ -c/' | sort -u | tr '\n' ' '); }
is 'make install keeps them' "$(compiled install)" '-O1 -DTEXT="a#b" -MMD -MP -c -O1 -DTEXT="a#b" -c cc -DFIRST '
is 'but not those that the caller gives' "$(compiled CC='cc -DSECOND' install)" '-O1 -DTEXT="a#b" -MMD -MP -c -O1 -DTEXT="a#b" -c cc -DSECOND '
is 'other goals do not' "$(compiled all)" '-O2 -g -MMD -MP -c -O2 -g -c '
done_testing
