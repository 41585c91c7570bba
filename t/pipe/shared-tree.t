#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Links that other users put where a tool creates folders and files: none is followed below the named folder, which itself may be a
# link. The folders have no sticky bit, because with it the kernel would already refuse such links.
. t/helper/tap.sh
victim=$tmp/victim
mkdir "$victim" && echo secret >"$victim/file"
untouched() { # NAME
	is "$1: the target of the link is unchanged" "$(ls -A "$victim") $(cat "$victim/file")" 'file secret'
	rm -rf "$victim" && mkdir "$victim" && echo secret >"$victim/file"
}
"$BIN/ctp-collect" -q "$O/examples/lostwake" >"$tmp/a.ctp" 2>/dev/null
cat "$tmp/a.ctp" "$tmp/a.ctp" >"$tmp/two.ctp"
len=$(wc -c <"$tmp/a.ctp")
head -c $((len / 2)) "$tmp/a.ctp" >"$tmp/cut.ctp"

refused() { # NAME LINK COMMAND...
	name=$1 link=$2
	shift 2
	"$@" 2>"$tmp/err"
	is "$name: status 1" $? 1
	like "$name: it is reported in one line" "$(wc -l <"$tmp/err") $(cat "$tmp/err")" \
		"^ *1 [a-z-]*: .*$link: is a link, and .* none is followed"
	untouched "$name"
}

# --- ctp-toparquet -------------------------------------------------------------------------------------------------------------
if [ -x "$BIN/ctp-toparquet" ]; then
	tree() { "$BIN/ctp-toparquet" -q --partition host,date -o "$tmp/tree" "$@"; }
	tree "$tmp/a.ctp"
	is 'a tree is written' $? 0
	host=$(ls "$tmp/tree") && date=$(ls "$tmp/tree/$host")
	rows=$(ls "$tmp/tree/$host/$date"/transition-*.parquet)

	for where in "$host" "$host/$date"; do
		rm -rf "$tmp/tree" && mkdir -p "$tmp/tree/$host"
		[ "$where" != "$host" ] || rmdir "$tmp/tree/$host"
		ln -s "$victim" "$tmp/tree/$where"
		refused "a folder by a link, $where" "$where" tree "$tmp/a.ctp"
		rm "$tmp/tree/$where"
		ln -s "$victim/new" "$tmp/tree/$where"
		refused "a folder by a link that leads nowhere, $where" "$where" tree "$tmp/a.ctp"
	done

	rm -rf "$tmp/tree" && tree "$tmp/a.ctp" && cp "$rows" "$tmp/rows"
	ln -sf "$victim/file" "$rows"
	tree "$tmp/a.ctp"
	is 'a link in the place of a file is replaced' "$? $([ -h "$rows" ] || cmp "$rows" "$tmp/rows" && echo same)" '0 same'
	untouched 'a file by a link'
	cp "$rows" "$tmp/rows" && chmod 666 "$rows"
	tree "$tmp/a.ctp"
	is 'a file of the same user keeps its mode' "$(stat -c %a "$rows")" 666
	if root_part 'a file of another user'; then
		chown 12345 "$rows"
		tree "$tmp/a.ctp"
		is 'a file of another user is replaced by one that only its owner can read' "$(stat -c '%a %u' "$rows")" '600 0'
	fi

	rm -rf "$tmp/tree"
	tree "$tmp/cut.ctp" 2>/dev/null
	for cut in "$tmp/tree/$host/$date"/*.cut.parquet; do ln -sf "$victim/file" "$cut"; done
	tree "$tmp/cut.ctp" 2>/dev/null
	is 'links in the place of truncated copies are replaced' "$(find "$tmp/tree" -type l)" ''
	untouched 'files that are cut, by links'
	for cut in "$tmp/tree/$host/$date"/*.cut.parquet; do ln -sf "$victim/file" "$cut"; done
	tree "$tmp/a.ctp"
	is '  they are removed when the section is complete' "$? $(find "$tmp/tree" -name '*.cut.*')" '0 '
	untouched '  and removed'

	rm -rf "$tmp/tree" && mkdir "$tmp/real" && ln -s real "$tmp/tree"
	tree "$tmp/a.ctp"
	is 'the folder that is named may be a link' "$? $(ls "$tmp/real")" "0 $host"

	mkdir "$tmp/flat" && ln -s "$victim/file" "$tmp/flat/transition.parquet"
	"$BIN/ctp-toparquet" -qf -o "$tmp/flat" "$tmp/a.ctp"
	is 'without a partition a link is replaced' "$? $(find "$tmp/flat" -type l)" '0 '
	untouched 'without a partition, by a link'
fi

# --- ctp-toctf -----------------------------------------------------------------------------------------------------------------
# An attacker who may write to the folder moves the one that is being filled away, and puts a link in its place.
mkdir "$tmp/shared"
mkfifo "$tmp/stream"
swap() { # LEADS_TO
	mv "$1" "$tmp/shared/away" && ln -s "$victim" "$1"
}
until_there() { # PATTERN
	while [ ! -e "$(echo $1)" ]; do sleep 0.01; done
	echo $1
}
"$BIN/ctp-toctf" -q -o "$tmp/shared/out" "$tmp/stream" 2>"$tmp/err" &
tool=$!
temp=$(until_there "$tmp/shared/out.*") # before there is a writer, so before the first section
swap "$temp"
cat "$tmp/two.ctp" >"$tmp/stream" &
writer=$!
wait $tool
is 'ctp-toctf: a folder that was replaced by a link gives status 1' $? 1
kill $writer 2>/dev/null # it waits for a reader if the link was there before ctp-toctf had opened its folder
like '  it is reported in one line' "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^ *1 ctp-toctf: '
untouched '  and nothing else'
done_testing
