#!/bin/sh
# Plain make finds out which optional libraries are not there, and whether C++ is, and says what it leaves out: t/helper/left-out has the list.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh

# What would run, where pkg-config knows nothing and no header is found. The last command is the one that says it.
make -n O="$tmp/build" PKG_CONFIG=false CPPFLAGS=-nostdinc CXX='c++ -nostdinc -nostdinc++' all >"$tmp/commands" 2>"$tmp/err"
is 'make goes through' "$? $(cat "$tmp/err")" '0 '
sed -n '/^for what in/p' "$tmp/commands" | sh | sort >"$tmp/left-out"
is 'the list' "$(cat "$tmp/left-out")" "$(cat t/helper/left-out)"
is 'what needs libcsv is not made' "$(grep -c 'bin/ctp-fromcsv' "$tmp/commands")" 0
is 'nor linked' "$(grep -c -e '-lcsv' "$tmp/commands")" 0
is 'the examples in C++ are not made' "$(grep -c 'sdk/c++/examples/.*\.cpp' "$tmp/commands")" 0
done_testing
