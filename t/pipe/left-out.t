#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# make finds out which optional libraries are missing, and whether there is C++, and lists what it leaves out: t/helper/left-out has the list.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh

# What make would run if pkg-config knew nothing and no header was found. The last command prints the list.
make -n O="$tmp/build" PKG_CONFIG=false CPPFLAGS=-nostdinc CXX='c++ -nostdinc -nostdinc++' all >"$tmp/commands" 2>"$tmp/err"
is 'make -n succeeds' "$? $(cat "$tmp/err")" '0 '
sed -n '/^for what in/p' "$tmp/commands" | sh | sort >"$tmp/left-out"
is 'the list is complete' "$(cat "$tmp/left-out")" "$(cat t/helper/left-out)"
is 'tools that need libcsv are not built' "$(grep -c 'bin/ctp-fromcsv' "$tmp/commands")" 0
is 'libcsv is not linked' "$(grep -c -e '-lcsv' "$tmp/commands")" 0
is 'the examples in C++ are not built' "$(grep -c 'sdk/c++/examples/.*\.cpp' "$tmp/commands")" 0
# Without a compiler, what the shell says of it helps nobody.
env -u MAKELEVEL make --no-print-directory O="$tmp/none" CC=no-such-cc all >"$tmp/out" 2>&1
is 'without a compiler make says which package has one' "$? $(grep -v '^make: \*\*\*' "$tmp/out")" \
	'2 make: there is no C compiler, no-such-cc: install one (packages gcc and libc6-dev), or run make deps, which installs what make can use'
is 'what the message names is a target' "$(make --no-print-directory -n CC=no-such-cc deps)" 't/helper/deps build'
done_testing
