#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# doc/README.zh is the README in Chinese: the same headings, paragraphs and blocks in the same order, with the same commands.
# Not under sanitizers: it runs no tool.
. t/helper/tap.sh
zh=doc/README.zh

# What both have: a line for each heading; for each paragraph, with the names, options and numbers in it; for each block, with the
# code in it. Output of a tool follows a `$', and is the same in both; elsewhere comments, and texts after two spaces, are translated.
outline() { # FILE
	grep -v "$mark" "$1" | awk '
	function names(text,    n, i, word, token, sorted, swap) {
		gsub(/[^A-Za-z0-9_.\/:+=<>()-]+/, " ", text)
		n = split(text, word, " ")
		for (i = 1; i <= n; i++) {
			token = word[i]
			sub(/^\(/, "", token)
			sub(/[.:]+$/, "", token)
			if (token !~ /\(/)
				sub(/\)$/, "", token)
			if (token ~ /^ctp|^-|[0-9_:=(]/)
				seen[token]
		}
		sorted = 0
		for (token in seen)
			list[++sorted] = token
		for (i = 2; i <= sorted; i++)
			for (n = i; n > 1 && list[n] "" < list[n - 1] ""; n--) { # "": gawk has numbers among the strings
				swap = list[n]
				list[n] = list[n - 1]
				list[n - 1] = swap
			}
		text = ""
		for (i = 1; i <= sorted; i++)
			text = text " " list[i]
		for (token in seen)
			delete seen[token]
		return text
	}
	function paragraph() {
		if (prose != "")
			print "paragraph:" names(prose)
		prose = ""
	}
	/^(===+|---+)$/ { prose = ""; print (/^=/ ? "title" : "heading"); next }
	/^$/ { paragraph(); next }
	/^[^ ]/ { prose = prose " " $0; block = 0; next }
	{
		if (!block++) {
			print "block:"
			output = /^    \$/
		}
		if (!output && !/==>/) {
			gsub(/\/\*.*\*\//, "")
			match($0, /^ */)
			indent = substr($0, 1, RLENGTH)
			$0 = substr($0, RLENGTH + 1)
			sub(/  .*/, "")
			sub(/ +$/, "")
			$0 = indent $0
		}
		print
	}
	END { paragraph() }'
}
mark='^译自 README'
prose() { grep '^[^ ]' "$1" | cksum | sed 's/ .*//'; } # FILE
same() { # README: whether the Chinese one is its translation
	outline "$1" >"$tmp/en"
	outline $zh >"$tmp/zh"
	diff "$tmp/en" "$tmp/zh" && translated "$1"
}
translated() { # README
	grep -q "$mark.* $(prose "$1")\$" $zh && return
	echo "the text of README has changed: translate that, and end doc/README.zh with $(prose "$1")"
	return 1
}

ok 'both have the same structure, commands and names, and the same state' same README
for what in title heading block: paragraph:; do ok "there is a $what" grep -q "^$what" "$tmp/en"; done
ok 'there are many commands' test "$(grep -c '^    ' "$tmp/en")" -gt 100
like 'each has the name of the other in its first lines' "$(head -n 5 $zh)" 'README$'
is 'no line is too long: three bytes are two columns' "$(awk 'length > 198' $zh)" ''

# Edits of one alone.
edited() { # NAME SED-PROGRAM
	sed "$2" README >"$tmp/edited"
	if cmp -s README "$tmp/edited"; then is "$1: is an edit" no yes; fi
	same "$tmp/edited" >"$tmp/said"
	is "$1 is noticed" $? 1
}
edited 'a heading that is gone' '/^Recipe: fail CI/,/^---/d'
edited 'a paragraph that is gone' '/^A new coroutine needs no wake/,/^$/d'
edited 'a block that is gone' '/^    PATH=/d'
edited 'another option in a command' 's/--fail-on likely t/--fail-on proved t/'
edited 'another call' 's/^    ctp_coro_resume(&co)/    ctp_coro_continue(\&co)/'
edited 'another tool in the list' 's/^    ctp-toctf  /    ctp-toxtf  /'
edited 'another line in the report' 's/^    \.\.\.$/    ..../'
edited 'another number in the text' 's/ shows 137\./ shows 139./'
edited 'another word in the text' 's/ Use -s KILL\./ Please use -s KILL./'
edited 'commands in another order' '/^    ctp-collect -l /{h;d;};/^    ctp-collect -p PID --once/G'
done_testing
