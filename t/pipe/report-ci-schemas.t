#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The forms of ctp-report for services fit their schemas, of SARIF 2.1.0 and of JUnit: for each rule, with hostile names, without a
# clock, with lost events, and without events.
# Not under sanitizers: report-ci.t runs the same code.
. t/helper/tap.sh
. t/helper/example-trace.sh
command -v node >/dev/null && command -v npm >/dev/null || skip_all 'there is no node with npm'
schemas=build/ci-schemas
said=$(t/helper/ci-schemas $schemas 2>&1) || skip_all "npm has not delivered the schemas: $(echo "$said" | head -n 1)"
xmllint=$(command -v xmllint) || skip 'the schemas of JUnit: there is no xmllint'
report=$BIN/ctp-report from=$BIN/ctp-fromjsonl

judge() { # NAME TRACE...
	judged=$1
	shift
	"$report" -q --sarif="$tmp/r.sarif" --junit="$tmp/r.xml" "$@" >"$tmp/out"
	ok "$judged: SARIF fits its schema" node t/helper/sarif-judge.js $schemas "$tmp/r.sarif"
	[ "$xmllint" ] || return
	ok "$judged: JUnit fits the schema of Jenkins" "$xmllint" --noout --schema $schemas/junit/test/resources/jenkins-junit.xsd "$tmp/r.xml"
	# The edition that npm has does not know skipped tests. Ant's own does.
	sed -e 's/ skipped="[0-9]*"//' -e '/^<skipped>.*<\/skipped>$/d; /^<skipped>/,/<\/skipped>$/d' "$tmp/r.xml" >"$tmp/ant.xml"
	ok "$judged: it fits that of Ant" "$xmllint" --noout --schema $schemas/junit/test/resources/JUnit.xsd "$tmp/ant.xml"
}

make_trace example doc/ctp-report.1 t.ctp
make_trace 'script: possible possible' doc/ctp-rules.7 possible.ctp
judge 'a finding' "$tmp/t.ctp"
judge 'several sections' "$tmp/t.ctp" "$tmp/possible.ctp" "$tmp/t.ctp"
judge 'no finding' --ignore never-woken "$tmp/t.ctp"
judge 'no time' --until 1ns "$tmp/t.ctp"
judge 'nothing' </dev/null 2>/dev/null
sed -n 's/^\.\\" \(trace\|script\): \(.*\)/\1 \2/p' doc/ctp-rules.7 >"$tmp/traces"
while read -r kind rule level; do
	if [ $kind = trace ]; then
		block "trace: $rule $level" doc/ctp-rules.7
	else
		{ block functions doc/ctp-rules.7; block "script: $rule $level" doc/ctp-rules.7; } | sh
	fi | "$from" -q >"$tmp/rule-$rule.ctp"
done <"$tmp/traces"
judge 'each rule' "$tmp"/rule-*.ctp
is 'each rule has a result' "$(node -e 'const log = JSON.parse(require("fs").readFileSync(process.argv[1]));
	const found = new Set(log.runs[0].results.map(result => result.ruleId));
	console.log(log.runs[0].tool.driver.rules.filter(rule => !found.has(rule.id)).map(rule => rule.id).join(" "))' "$tmp/r.sarif")" ''

# Names with every byte from 1 to 255, and the characters that XML or a terminal does not have.
python3 - >"$tmp/rows" <<'END'
import json
name = "".join(map(chr, range(1, 128))) + "".join(chr(0xdc00 + c) for c in range(128, 256)) + "\ufffe\uffff\u202e\u2028]]>\U0001f600"
site = {"type": "site", "ts": 1, "site": 7, "file": "/a/" + name, "line": 9, "function": name}
print(json.dumps({"type": "@section", "attrs": {"pid": "1", "host": name, "argv": [name, ""]}}))
print(json.dumps({"type": "birth", "ts": 1, "coro": 1, "pid": 1}))
print(json.dumps({"type": "name", "ts": 1, "coro": 1, "name": name}))
print(json.dumps(site))
for i, (tid, active) in enumerate(((5, True), (5, False), (5, True), (6, True))):
    print(json.dumps({"type": "transition", "ts": 2 + i, "coro": 1, "index": i, "tid": tid, "is_active": active, "site": 0 if active else 7}))
print(json.dumps({"type": "@end", "complete": True}))
END
"$from" -q "$tmp/rows" >"$tmp/hostile.ctp"
like 'the hostile trace has a finding' "$("$report" "$tmp/hostile.ctp")" 'double-resume'
judge 'hostile names' "$tmp/hostile.ctp"
head -c 700 "$tmp/t.ctp" >"$tmp/cut.ctp"
judge 'a truncated trace' "$tmp/cut.ctp"
sed 's/"attrs":{/"attrs":{"clock":"ordinal",/' "$tmp/rows" | "$from" -q >"$tmp/ordinal.ctp"
judge 'no clock' "$tmp/ordinal.ctp"
{
	sed '$d' "$tmp/rows"
	echo '{"type":"lost","ts":9,"probe_id":1,"coro":1,"index":9,"count":5,"unverified":0,"after":8}'
} | "$from" -q >"$tmp/lossy.ctp"
judge 'lost events' "$tmp/lossy.ctp"

ok 'a package with another hash is refused' sh -c '! t/helper/npm-package "$0" ajv 6.12.6 sha512-other && [ ! -e "$0/package.json" ]' "$tmp/ajv"

# The judges notice what is wrong.
"$report" --sarif="$tmp/r.sarif" --junit="$tmp/r.xml" "$tmp/t.ctp" >/dev/null
bad() { # FILE SED
	sed "$2" "$tmp/r.$1" >"$tmp/bad"
	! cmp -s "$tmp/r.$1" "$tmp/bad" || return
	case $1 in
	sarif) ! node t/helper/sarif-judge.js $schemas "$tmp/bad" ;;
	xml) ! "$xmllint" --noout --schema $schemas/junit/test/resources/jenkins-junit.xsd "$tmp/bad" ;;
	esac
}
ok 'a level that SARIF does not have is noticed' bad sarif 's/"level":"warning"/"level":"bad"/'
ok 'a line of 0 is noticed' bad sarif 's/"startLine":41/"startLine":0/'
ok 'a key that SARIF does not have is noticed' bad sarif 's/"ruleIndex"/"rule"/'
ok 'a file that is no URI is noticed' bad sarif 's/"uri":"queue.c"/"uri":"queue c"/'
if [ "$xmllint" ]; then ok 'an attribute that JUnit does not have is noticed' bad xml 's/ errors=/ mistakes=/'; fi
done_testing
