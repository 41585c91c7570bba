#!/bin/sh
# The scripts of the page of ctp-tohtml under node: the parts that need no browser.
# Not under sanitizers: it runs no tool that a sanitizer could watch.
. t/helper/tap.sh
command -v node >/dev/null || skip_all 'there is no node'

# All scripts become one: a name that two of them declare would be one of them.
is 'no name is declared twice' "$(cat formats/html/*.js formats/html/*/*.js | sed -nE 's/^(async )?(function|class|const|let) ([A-Za-z_]+).*/\3/p' | sort | uniq -d)" ''
for script in t/helper/page/*.js; do
	case $script in */load.js) continue ;; esac
	node "$script" >"$tmp/out" 2>&1
	is "$script: nothing fails" "$? $(grep '^not ok' "$tmp/out")" '0 '
	like "$script: all is tried" "$(tail -n 1 "$tmp/out")" '^1\.\.[1-9]'
done
done_testing
