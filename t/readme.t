#!/bin/sh
# The README's program in C compiles as it stands there, and is traced; the README's first screen names every tool.
. t/tap.sh

# The indented block that begins with the include, its statements put into a main.
sed -n '/^    #include <ctp.h>/,/^[^ ]/p' README | sed '/^[^ ]/d' >"$tmp/block"
is 'the six lines are there' "$(grep -c 'ctp_coro' "$tmp/block")" 6
{
	grep '#include' "$tmp/block"
	echo 'int main(void) {'
	grep -v '#include' "$tmp/block"
	echo 'return 0; }'
} >"$tmp/five.c"
for cc in cc c++ clang; do
	command -v $cc >/dev/null || continue
	case $cc in c++) lang=c++ ;; *) lang=c ;; esac
	ok "$cc compiles them without a warning" $cc -x $lang -Wall -Wextra -Werror -Isdk/c -o "$tmp/five" "$tmp/five.c"
done
is 'they are traced: two transitions' "$("$BIN/ctp-collect" -q "$tmp/five" | "$BIN/ctp-tojsonl" | wc -l)" 2
like 'and a death' "$("$BIN/ctp-collect" -q "$tmp/five" | "$BIN/ctp-tojsonl" -a)" '^{"type":"death"'

# The README's stuck.awk: who did not die and does not run. Numbers come back in another section; a late birth says nothing new.
sed -n '/^    match/,/^$/s/^    //p' README >"$tmp/stuck.awk"
for awk in awk mawk gawk 'busybox awk'; do
	command -v ${awk% *} >/dev/null || continue
	is "$awk: stuck.awk finds the suspended and the never run, section by section" "$($awk -f "$tmp/stuck.awk" <<-'J' |
		{"type":"@section","attrs":{}}
		{"type":"birth","ts":1,"probe_id":11,"coro":1}
		{"type":"birth","ts":1,"probe_id":12,"coro":2}
		{"type":"birth","ts":1,"probe_id":13,"coro":3}
		{"type":"transition","ts":2,"probe_id":12,"coro":2,"is_active":false}
		{"type":"transition","ts":2,"probe_id":13,"coro":3,"is_active":false}
		{"type":"death","ts":3,"probe_id":13,"coro":3}
		{"type":"transition","ts":2,"probe_id":13,"coro":3,"is_active":false,"late":true}
		{"type":"@end","complete":true}
		{"type":"@section","attrs":{}}
		{"type":"transition","ts":5,"probe_id":21,"coro":1,"is_active":true}
		{"type":"birth","ts":4,"probe_id":21,"coro":1,"late":true}
		{"type":"transition","ts":5,"probe_id":23,"coro":3,"is_active":false}
		{"type":"@end","complete":false}
	J
		sed 's/.*"probe_id":\([0-9]*\).*/\1/' | sort | paste -sd, -)" 11,12,23
done

head -n 30 README >"$tmp/screen"
for tool in "$BIN"/ctp-*; do ok "${tool##*/} has its line in the first screen" grep -q "^    ${tool##*/}  " "$tmp/screen"; done
for target in demo check; do ok "make $target is in the first screen" grep -q "^    make $target " "$tmp/screen"; done
for target in $(sed -n 's/^    make \([a-z]*\) .*/\1/p' README); do
	ok "make $target is a target" make -n "$target" NODEPS=1
done
done_testing
