#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Each function of an installed header is described in one manual page of section 3, with its header and its prototype, and man
# finds it by its name. The programs of these pages are built against the installed library, and print what the pages say.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh

root=$tmp/root prefix=/opt/ctp
top=$root$prefix man=$root$prefix/share/man
for_user() { make --no-print-directory O="$O" DESTDIR="$root" PREFIX="$prefix" "$@"; }
ok 'make install' for_user install
for page in doc/ctp_*.3; do echo "$page"; done >"$tmp/pages"

# --- functions, one to a line: HEADER TYPE NAME(ARGUMENTS) ---

normal() { sed 's/[[:space:]][[:space:]]*/ /g; s/\* /*/g; s/ *\([(),]\) */\1/g; s/,/, /g; s/ $//' | sort; }
in_headers() { # without comments, directives, bodies and attributes
	(cd "$top/include" && for header in ctp/*/*.h; do
		awk -v header="$header" '
			/^[ \t]*#/ || directive { directive = /\\$/; next }
			/^CTP_C_(BEGIN|END)$/ { next }
			{ text = text " " $0 }
			END {
				while (i = index(text, "/*"))
					text = substr(text, 1, i - 1) substr(text, i + index(substr(text, i), "*/") + 1)
				for (i = 1; i <= length(text); i++) {
					c = substr(text, i, 1)
					if (c == "{" && !depth++)
						body = line ~ /\) *$/
					if (!depth && c != ";")
						line = line c
					if ((c == "}" && !--depth && body) || (c == ";" && !depth)) {
						gsub(/__attribute__ *\(\(.*\)\)|static inline /, "", line)
						if (line ~ /ctp_[a-z0-9_]+ *\(.*\) *$/ && line !~ /^ *typedef/)
							print header, line
						line = ""
					}
				}
			}' "$header"
	done) | normal
}
in_pages() {
	while read -r page; do
		awk '
			function word() { # the next argument of the macro, which may be quoted
				sub(/^ +/, "")
				if ($0 !~ /^"/)
					w = $1
				else
					w = substr($0, 2, index(substr($0, 2), "\"") - 1)
				$0 = substr($0, length(w) + 1 + 2 * ($0 ~ /^"/))
				return w
			}
			function add() { args = args (args == "" ? "" : ", ") word() }
			/^\.Sh / { inside = $2 == "SYNOPSIS" }
			!inside { next }
			/^\.In / { header = $2 }
			/^\.Ft / { sub(/^\.Ft /, ""); type = word() }
			/^\.F[no] / { sub(/^\.F/, ""); kind = word(); name = word(); args = "" }
			/^\.Fa / { sub(/^\.Fa /, ""); add() }
			kind == "n" { while ($0 ~ /[^ ]/) add() }
			kind == "n" || /^\.Fc/ { print header, type, name "(" args ")"; kind = "" }' "$page"
	done <"$tmp/pages" | normal
}
names() { sed 's/^[^(]*[ *]\([a-z0-9_]*\)(.*/\1/' "$1" | sort; }
in_headers >"$tmp/declared"
in_pages >"$tmp/described"
ok 'the headers have functions' test "$(wc -l <"$tmp/declared")" -ge 150
is 'each is in the SYNOPSIS of one page, with its header and its prototype, and no other is' \
	"$(diff "$tmp/declared" "$tmp/described")" ''

# --- names ---

named() { sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([a-z0-9_]*\).*/\1/p' "$1"; }
strangers() { # what a page refers to that is not there
	sed -n 's/^\(\.It \)\{0,1\}\.\{0,1\}Xr \(ctp_[a-z0-9_]*\) 3.*/\2/p' "$1" | while read -r x; do
		[ -f "doc/$x.3" ] || grep -qx "$x" "$tmp/named" || echo "$x"
	done
}
while read -r page; do named "$page"; done <"$tmp/pages" | sort >"$tmp/named"
for page in doc/ctp.3 doc/ctptools.7 doc/ctp-extend.7; do is "${page##*/}: what it refers to is there" "$(strangers $page)" ''; done
is 'each is in the NAME of one page, and no other is' "$(names "$tmp/declared" | diff - "$tmp/named")" ''
cat "$top"/include/ctp/*/*.h | sed 's/RULE(\([A-Z_]*\),/CTP_RULE_\1/' | grep -o '[A-Za-z0-9_]*' | sort -u >"$tmp/words"
while read -r page; do
	name=${page##*/}
	named "$page" | sort >"$tmp/one"
	is "$name: NAME and SYNOPSIS have the same functions" "$(cat "$tmp/one")" \
		"$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/s/^\.F[no] \([a-z0-9_]*\).*/\1/p' "$page" | sort)"
	is "$name: DESCRIPTION has each of them" \
		"$(sed '1,/^\.Sh DESCRIPTION/d' "$page" | grep -o '^\..*Fn .*' | tr ' ' '\n' | sort -u | comm -13 - "$tmp/one")" ''
	is "$name: man finds each" "$(while read -r f; do
		if [ "$f.3" = "$name" ]; then cat "$page"; else echo ".so man3/$name"; fi | cmp - "$man/man3/$f.3"
	done <"$tmp/one" 2>&1)" ''
	is "$name: the constants that it names are in the headers" \
		"$(sed '/^\.Dt/d' "$page" | grep -o 'CTP_[A-Z0-9_]*' | sort -u | comm -23 - "$tmp/words")" ''
	is "$name: the members that it lists are in the headers" \
		"$(sed -n 's/^\.It Fa //p' "$page" | sed 's/ , Fa /\n/g' | sort -u | comm -23 - "$tmp/words")" ''
	is "$name: what it refers to is a page, or a function of one" "$(strangers "$page")" ''
	ok "$name: ctp.3 refers to it" grep -q "^\.It Xr ${name%.3} 3\$" doc/ctp.3
done <"$tmp/pages"
if command -v man >/dev/null && man -M "$man" -w ctp >/dev/null 2>&1; then
	for name in ctp_reader ctp_reader_next ctp_convert ctp_rule_name; do
		like "man $name" "$(man -M "$man" -w $name)" "^$man/man3/ctp_[a-z_]*\.3$"
	done
else
	skip 'there is no man'
fi

# --- programs: the first literal block of EXAMPLES, and the second says how to run it and what it prints ---

example() { # PAGE NUMBER
	awk -v want="$2" '/^\.Sh / { inside = 0; examples = /EXAMPLES/ } /^\.Ed/ { inside = 0 } inside
		/^\.Bd -literal/ && examples { inside = ++n == want }' "$1" | sed 's/\\e/\\/g'
}
export LD_LIBRARY_PATH="$top/lib"
installed() { PKG_CONFIG_PATH=$top/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" libctp; }
built() { # as the page says, elsewhere, so that nothing of the tree is found
	# shellcheck disable=SC2046
	(cd "$tmp/outside" && "${CC:-cc}" -Wall -Wextra -Werror "$@" $(installed --cflags --libs))
}
mkdir "$tmp/outside"
# Two coroutines join each other.
"$BIN/ctp-fromjsonl" -q >"$tmp/outside/t.ctp" <<'EOF'
{"type":"@section","attrs":{"host":"db1","pid":"100"}}
{"type":"birth","ts":1,"coro":1,"pid":100}
{"type":"birth","ts":1,"coro":2,"pid":100}
{"type":"site","ts":1,"site":31,"line":12,"file":"pay.c","function":"lock_a"}
{"type":"site","ts":1,"site":32,"line":40,"file":"pay.c","function":"lock_b"}
{"type":"name","ts":1,"coro":1,"name":"payer"}
{"type":"transition","ts":2,"coro":1,"index":0,"tid":5,"is_active":true,"site":0}
{"type":"await","ts":3,"coro":1,"target":2,"joins":true}
{"type":"transition","ts":4,"coro":1,"index":1,"tid":5,"is_active":false,"site":31}
{"type":"transition","ts":5,"coro":2,"index":0,"tid":5,"is_active":true,"site":0}
{"type":"await","ts":6,"coro":2,"target":1,"joins":true}
{"type":"transition","ts":7,"coro":2,"index":1,"tid":5,"is_active":false,"site":32}
{"type":"@end","complete":true}
EOF
programs=0
command -v pkg-config >/dev/null || { skip 'the programs of the pages: there is no pkg-config' && : >"$tmp/pages"; }
while read -r page; do
	example "$page" 1 >"$tmp/outside/a.c"
	example "$page" 2 >"$tmp/says"
	[ -s "$tmp/outside/a.c" ] || continue
	command=$(sed -n '1s/^\$ //p' "$tmp/says")
	name=$(sed -n '1s,^[^/]*\./\([a-z0-9]*\).*,\1,p' "$tmp/says")
	programs=$((programs + 1))
	if [ "$command" ]; then
		ok "the program of $page builds" built -o "$name" a.c
		is "it prints what $page says" "$(cd "$tmp/outside" && PATH=$top/bin:$PATH sh -c "$command" 2>&1)" "$(sed 1d "$tmp/says")"
	else
		ok "the function of $page compiles" built -c a.c
	fi
done <"$tmp/pages"
[ ! -s "$tmp/pages" ] || ok 'there are programs' test $programs -ge 10

ok 'make uninstall' for_user uninstall
is 'no page is left' "$(find "$man" -type f)" ''
done_testing
