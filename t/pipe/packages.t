#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# make dist gives the same bytes everywhere. Each file that make install installs is in one package of Debian and in one of RPM.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh
version=$("$BIN/ctp-stat" -V | cut -d ' ' -f 2)
name=ctptools-$version
quiet_make() { env -u MAKEFLAGS -u MFLAGS make --no-print-directory "$@"; }

# --- the tarball ---------------------------------------------------------------------------------------------------------------

unpack() { # UMASK FOLDER TARBALL
	(umask "$1" && mkdir -p "$2" && tar -C "$2" --no-same-permissions -xf "$3")
}
dist() { # TREE UMASK O: the hash of the tarball that make dist makes there
	(cd "$1" && umask "$2" && quiet_make dist O="$3" | sed 's/ .*//')
}
if [ -e .git ] && ! git log -1 >/dev/null 2>&1; then
	skip 'make dist: git does not read this clone'
elif [ -e .git ] || [ -e .dist ]; then
	first=$(dist . 022 "$tmp/one")
	like 'make dist prints the hash of the tarball' "$first" '^[0-9a-f]{64}$'
	is 'another umask and another folder: the same hash' "$(dist . 077 "$tmp/other/two")" "$first"
	unpack 077 "$tmp/three" "$tmp/one/$name.tar.gz"
	ok 'it unpacks to one folder' test "$(ls "$tmp/three")" = "$name"
	is 'an unpacked tarball, without git: the same hash' "$(dist "$tmp/three/$name" 002 build)" "$first"
	is 'another time gives another tarball, and that the same again' "$(
		export SOURCE_DATE_EPOCH=1700000000
		dist . 022 "$tmp/four" >"$tmp/hash"
		unpack 022 "$tmp/five" "$tmp/four/$name.tar.gz"
		unset SOURCE_DATE_EPOCH
		[ "$(dist "$tmp/five/$name" 022 build)" = "$(cat "$tmp/hash")" ] && [ "$(cat "$tmp/hash")" != "$first" ] && echo yes
	)" yes
	is 'it has every source' "$(tar -tf "$tmp/one/$name.tar.gz" | grep -c "^$name/\(lib\|formats\|tools\)/.*\.c$")" \
		"$(find lib formats tools -name '*.c' | wc -l)"
	ok 'make understands it' quiet_make -n -C "$tmp/three/$name" O=build all
	if [ "${EVERY:-}" ]; then
		ok 'it builds' quiet_make -j2 -C "$tmp/three/$name" O=build
		ok 'its tools run' "$tmp/three/$name/build/bin/ctp-stat" -V
	fi
else
	skip 'make dist: this tree is neither a clone nor an unpacked tarball'
fi

# --- packages ------------------------------------------------------------------------------------------------------------------

like 'the changelog of Debian has the version' "$(head -n 1 .debian/changelog)" "^ctptools \($version-"
is 'so has the spec' "$(sed -n 's/^Version: *//p' .rpm/ctptools.spec)" "$version"
like 'so has doc/CHANGES' "$(cat doc/CHANGES)" "^$version"
sed -n '/^	build)$/,/;;/p; /^	deb)$/,/;;/p' t/helper/deps >"$tmp/installs"
for package in build-essential $(sed -n '/^Build-Depends:/,/^$/{/debhelper-compat/d; s/^[ ,]*\([a-z0-9.+-]*\).*/\1/p}' .debian/control); do
	ok "make deb installs $package" grep -q "need $package " "$tmp/installs"
done
for node in $(sed -n 's/^\(LIBCTP_[0-9.]*\) {$/\1/p' lib/libctp.map); do
	ok "Debian knows the symbols of $node" grep -q "^ (symver)$node [0-9]" .debian/libctp0.symbols
done
if command -v rpmspec >/dev/null; then
	ok 'rpmspec reads the spec' rpmspec -P .rpm/ctptools.spec
else
	skip 'the spec: there is no rpmspec'
fi

triplet=usr/lib/some-linux-gnu
installed() { # NAME=VALUE...: what make install installs, one name to a line
	quiet_make install O="$O" DESTDIR="$tmp/root" PREFIX=/usr libdir=/$triplet bt2dir=/$triplet/babeltrace2/plugins "$@" \
		>"$tmp/install.log" 2>&1 || cat "$tmp/install.log"
	(cd "$tmp/root" && find . ! -type d | sed 's,^\./,,' | sort)
}
belong() { # patterns on standard input: the files of each
	cd "$tmp/root" || exit
	while read -r pattern; do
		# shellcheck disable=SC2086
		find $pattern ! -type d 2>/dev/null || echo "nothing is $pattern"
	done
}
compare() { # WHOSE
	is "$1: each pattern of a package has a file" "$(grep '^nothing is ' "$tmp/owned" | grep -v ' usr/share/doc/')" ''
	grep -v '^nothing is ' "$tmp/owned" | sort >"$tmp/files"
	is "$1: no file is in two packages" "$(uniq -d "$tmp/files")" ''
	is "$1: each file is in a package" "$(comm -23 "$tmp/installed" "$tmp/files")" ''
}
if [ "$(ls tools/ctp-*.c | wc -l)" = "$(ls "$BIN" | wc -l)" ] && [ -f "$O/plugins/babeltrace-plugin-ctp.so" ] && [ -f "$O/lib/ctp.so" ]; then
	installed zshdir=/usr/share/zsh/vendor-completions >"$tmp/installed"
	ok 'make install' test "$(wc -l <"$tmp/installed")" -gt 100
	cat .debian/*.install .debian/not-installed >"$tmp/patterns"
	(belong) <"$tmp/patterns" >"$tmp/owned"
	compare Debian
	rm -rf "$tmp/root"
	installed >"$tmp/installed"
	sed -n '/^%files/,/^%changelog/s,^%{_\([a-z]*\)}/,\1 ,p' .rpm/ctptools.spec | sed "s,^bindir ,usr/bin/,; s,^libdir ,$triplet/,
		s,^datadir ,usr/share/,; s,^includedir ,usr/include/,; s,^mandir ,usr/share/man/," >"$tmp/patterns"
	{ cat "$tmp/patterns"; cat .debian/not-installed; } | (belong) >"$tmp/owned"
	compare RPM
else
	skip 'what is in the packages: make left out a part'
fi

if [ "${EVERY:-}" ] && command -v lintian >/dev/null && command -v dh >/dev/null; then
	ok 'make deb' env DEB_BUILD_OPTIONS=nocheck make --no-print-directory deb O="$tmp/deb"
	is 'lintian finds no error and nothing to warn of' "$(lintian --pedantic --allow-root "$tmp"/deb/deb/*.changes 2>&1 | grep '^[EW]:')" ''
else
	skip 'make deb and lintian (only with EVERY=1)'
fi
done_testing
