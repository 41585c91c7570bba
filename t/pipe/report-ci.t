#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-report, the forms for services: which options go together, files that appear whole, statuses, and what each form has.
# report-ci-schemas.t checks the forms against their schemas.
. t/helper/tap.sh
. t/helper/example-trace.sh
bin=$(cd "$BIN" && pwd) rules=$PWD/doc/ctp-rules.7
report=$bin/ctp-report
make_trace example doc/ctp-report.1 t.ctp
make_trace 'script: possible possible' doc/ctp-rules.7 possible.ctp
block 'trace: double-resume proved' doc/ctp-rules.7 | "$BIN/ctp-fromjsonl" -q >"$tmp/proved.ctp"
cd "$tmp" || exit

# --- files ---------------------------------------------------------------------------------------------------------------
"$report" t.ctp >text
"$report" --sarif=a.sarif --junit=a.xml --json=a.json --markdown=a.md t.ctp >out 2>err
is 'four files and the text: status 0' "$? $(cat err)" '0 '
ok 'the text is printed all the same' cmp text out
ok 'the file of --json is what -j prints' sh -c '"$0" -j t.ctp | cmp - a.json' "$report"
ok 'the file of --markdown is what -m prints' sh -c '"$0" -m t.ctp | cmp - a.md' "$report"
for form in sarif junit json markdown; do
	"$report" --$form=- t.ctp >out
	ok "--$form=- prints it instead of the text" cmp out a."$(echo $form | sed 's/junit/xml/; s/markdown/md/')"
done
"$report" -j --markdown b.md t.ctp | cmp - a.json
is 'a file goes with another form on the standard output' "$? $(cmp b.md a.md)" '0 '
"$report" --folded --sarif=b.sarif t.ctp >folded
ok 'and with folded stacks' cmp b.sarif a.sarif
is 'the folded stacks are there too' "$(wc -l <folded)" 3
"$report" --junit=c.xml --fail-on likely t.ctp >/dev/null
is '--fail-on: status 4, and the file is written' "$? $(cmp c.xml a.xml)" '4 '
is 'nothing else is left in the folder' "$(find . -name '*.sarif.*' -o -name '*.xml.*' -o -name '*.json.*' -o -name '*.md.*')" ''

# --- files that fail -------------------------------------------------------------------------------------------------------
"$report" --sarif=none/a --junit=d.xml t.ctp >out 2>err
is 'a file that cannot be created: status 1' $? 1
like 'it is named' "$(cat err)" '^ctp-report: none/a: .*No such file'
ok 'the other file is written' cmp d.xml a.xml
ok 'the text is printed' cmp out text
"$report" --sarif=/dev/full --json=d.json t.ctp >out 2>err
is 'a full disk: status 1' $? 1
like 'the device is named' "$(cat err)" '^ctp-report: /dev/full: .*No space left'
ok 'the other file is written, too' cmp d.json a.json
"$report" --sarif=/dev/full --fail-on likely t.ctp >/dev/null 2>&1
is 'a finding that --fail-on asks for counts all the same' $? 4
"$report" --json=e.json t.ctp >/dev/full 2>err
is 'the standard output fails: status 1' $? 1
ok 'the file is written' cmp e.json a.json
mkfifo gone
exec 4<>gone 5>gone 4<&- # nobody reads what is written to 5
"$report" --json=f.json t.ctp >&5 2>err
is 'the reader has gone: the program ends without a word' "$? $(cat err)" '141 '
exec 5>&-
ok 'the file is written' cmp f.json a.json
echo old >g.sarif
"$report" --sarif=g.sarif text >/dev/null 2>&1
is 'an input that is no stream: status 1, and the file stays' "$? $(cat g.sarif)" '1 old'
"$report" --sarif=h.sarif text >/dev/null 2>&1
is 'or does not appear' "$(ls h.sarif 2>/dev/null)" ''
ln -s a.json link.json
"$report" --json=link.json possible.ctp >/dev/null
ok 'a link stays' test -L link.json
like 'its target is replaced' "$(cat a.json)" '"file":"possible\.ctp"'
"$report" --json=a.json t.ctp >/dev/null
if command -v zstd >/dev/null && "$report" --json=z.json.zst t.ctp >/dev/null 2>&1; then
	ok 'a name that ends in .zst is compressed' sh -c 'zstd -dqc z.json.zst | cmp - a.json'
fi

# --- usage -------------------------------------------------------------------------------------------------------------------
wrong() { # WANT ARGUMENT...
	want=$1
	shift
	"$report" "$@" >out 2>err
	is "$*: status 2" "$? $(wc -l <err) $(wc -c <out)" '2 1 0'
	like "$*: why" "$(cat err)" "^ctp-report: .*$want"
}
wrong 'another' --sarif=x --junit=x t.ctp
wrong 'twice' --sarif=x --sarif=y t.ctp
wrong 'also the input' --json=t.ctp t.ctp
wrong 'exclude one another' --brief -m t.ctp
wrong 'exclude one another' --annotations --sarif=- t.ctp
wrong 'exclude one another' --annotations --annotations=gitlab t.ctp
wrong 'not github or gitlab' --annotations=x t.ctp
is 'nothing was written' "$(ls x y 2>/dev/null)" ''
is 'the input is whole' "$("$report" t.ctp)" "$(cat text)"

# --- annotations and brief ----------------------------------------------------------------------------------------------------
"$report" --annotations proved.ctp t.ctp possible.ctp >out
is 'GitHub: the command of each level' "$(sed 's/^::\([a-z]*\) .*title=\([^:]*\)::.*/\1 \2/' out)" \
	'error ctp-report%3A double-resume (proved)
warning ctp-report%3A never-woken (likely)
notice ctp-report%3A possible
notice ctp-report%3A what it could not see'
like 'GitHub: file and line' "$(grep never-woken out)" '^::warning file=queue\.c,line=41,title='
is 'without findings it prints nothing' "$("$report" --annotations --ignore never-woken t.ctp)" ''
"$report" --annotations </dev/null >out 2>/dev/null
is 'an empty input is an error, with status 3' "$? $(cat out)" '3 ::error title=ctp-report::there is nothing in the trace'
ok 'brief has at most 20 lines' test "$("$report" --brief t.ctp possible.ctp proved.ctp | wc -l)" -le 20
is 'brief: several sections' "$("$report" --brief t.ctp possible.ctp | head -n 1)" '### In 2 sections: 1 finding, in section 1.'

# A name with a command, and bytes that are no UTF-8. A file below the current directory is named from there.
sed -n 's/^x//p' >rows <<END
x{"type":"@section","attrs":{"pid":"1","argv":["./x\u001b\n::error::no"]}}
x{"type":"birth","ts":1,"coro":1,"pid":1}
x{"type":"name","ts":1,"coro":1,"name":"a\n::error::b\udcff]]>\u0000%0A"}
x{"type":"site","ts":1,"site":7,"file":"$(pwd)/src/a b.c","line":9,"function":"f<x>"}
x{"type":"transition","ts":2,"coro":1,"index":0,"tid":5,"is_active":true,"site":0}
x{"type":"transition","ts":3,"coro":1,"index":1,"tid":5,"is_active":false,"site":7}
x{"type":"transition","ts":4,"coro":1,"index":2,"tid":5,"is_active":true,"site":0}
x{"type":"transition","ts":5,"coro":1,"index":3,"tid":6,"is_active":true,"site":0}
x{"type":"@end","complete":true}
END
"$bin/ctp-fromjsonl" -q rows >hostile.ctp
"$report" --annotations hostile.ctp >out
is 'no name becomes a command' "$(grep -c '^ *::error ' out) $(grep -vc '^::[a-z]* ' out)" '1 0'
like 'a file below the current directory is named from there' "$(cat out)" '^::error file=src/a b\.c,line=9,'
sed 's|/src/a b|/build/../src/a b|' rows | "$bin/ctp-fromjsonl" -q >folder.ctp
like 'and so is one that goes through another folder' "$("$report" --annotations folder.ctp)" '^::error file=src/a b\.c,line=9,'
if command -v jq >/dev/null; then
	is 'SARIF: a file that goes through another folder' "$("$report" --sarif=- folder.ctp | jq -r '.runs[].results[].locations[].physicalLocation.artifactLocation.uri')" "file://$(pwd)/src/a%20b.c"
	is 'GitLab: an array of entries' "$("$report" --annotations=gitlab t.ctp possible.ctp | jq -c '.[] | [.check_name, .severity, .location.path, .location.lines.begin, (.fingerprint | length)]')" \
		'["never-woken","major","queue.c",41,16]
["possible","info","server",1,16]'
	is 'GitLab: that file, too' "$("$report" --annotations=gitlab hostile.ctp | jq -r '.[].location.path')" 'src/a b.c'
	is 'GitLab: no finding, an empty array' "$("$report" --annotations=gitlab --ignore never-woken t.ctp | jq -c .)" '[]'
	is 'SARIF: an absolute file is a URI' "$("$report" --sarif=- hostile.ctp | jq -r '.runs[].results[].locations[].physicalLocation.artifactLocation.uri')" \
		"file://$(pwd)/src/a%20b.c"
	is 'SARIF: the same finding of two traces has one fingerprint' \
		"$("$report" --sarif=- t.ctp t.ctp | jq -r '.runs[].results[].partialFingerprints[]' | sort -u | wc -l)" 1
	is 'SARIF: the texts of a rule are those of its page' "$(jq -r '.runs[].tool.driver.rules[] | select(.id == "double-resume") | .shortDescription.text, .help.text' a.sarif)" \
		'A coroutine was resumed while it was running.
Look for a coroutine that is put into the run queue twice, or before it has suspended. The manual page ctp-rules(7) has more.'
	is 'SARIF: its rules are those of the page' "$(jq -r '.runs[].tool.driver.rules[].id' a.sarif)" \
		"$(sed -n '/^\.Sh RULES/,/^\.Sh WAITS/s/^\.Ss //p' "$rules"; echo possible)"
	is 'SARIF: what it could not see is a notification' "$("$report" --sarif=- proved.ctp | jq -r '.runs[].invocations[] | .executionSuccessful, (.toolExecutionNotifications | length > 0)')" 'true
true'
fi
done_testing
