#!/bin/sh
# The README's program in C compiles as it stands there, and is traced; the README's first screen names every tool.
# Not under sanitizers: it builds the tree.
. t/helper/tap.sh

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

# The park function records where it was called.
{
	printf '#include <ctp.h>\nstruct task { struct ctp_coro co; };\n'
	sed -n '/^    void park_at(.*);/,/^    }/p' README
	printf 'int main(void) { struct task t; ctp_coro_new(&t.co, 1); ctp_coro_resume(&t.co);\n#line 77 "caller.c"\n'
	printf 'park(&t); ctp_coro_death(&t.co); return 0; }\n'
} >"$tmp/park.c"
ok 'the park function compiles' cc -Wall -Wextra -Werror -Isdk/c -o "$tmp/park" "$tmp/park.c"
like 'and records the place of its caller' "$("$BIN/ctp-collect" -q "$tmp/park" | "$BIN/ctp-tojsonl" -a)" 'caller.c:77:main'

head -n 33 README >"$tmp/screen"
for tool in "$BIN"/ctp-*; do ok "${tool##*/} is in the first screen" grep -qE "^    (ctp-[a-z]+  .*[ ,])?${tool##*/}([ ,]|\$)" "$tmp/screen"; done
ok 'and so is the header for ppt' grep -q '^    ctp-ppt .*sdk/ppt' "$tmp/screen"
for target in demo check; do ok "make $target is in the first screen" grep -q "^    make $target " "$tmp/screen"; done
sed -n 's/^    make \([a-z][a-z-]*\( [A-Z]*=[^ ]*\)*\) .*/\1/p' README | sort -u >"$tmp/targets"
while read -r target variables; do
	# shellcheck disable=SC2086
	ok "make $target $variables is a target" make -n "$target" $variables NODEPS=1
done <"$tmp/targets"
done_testing
