#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The mode of a new file: a text, and what is made to be looked at, has the one that the umask leaves, as with a redirection of the
# shell; what holds a trace is its owner's alone. A file that is replaced keeps its mode.
# Not under sanitizers: each tool has tests of its own.
. t/helper/tap.sh
. t/helper/example-trace.sh
make_trace example doc/ctp-report.1 t.ctp
bin=$(cd "$BIN" && pwd)
PATH=$bin:$PATH
cd "$tmp" || exit
ctp-tojsonl -qa t.ctp >t.jsonl

made() { # WANT UMASK FILE COMMAND...: the mode of FILE, which COMMAND makes
	want=$1 mask=$2 file=$3
	shift 3
	rm -rf "${file%%/*}"
	[ -x "$bin/$1" ] || { skip "there is no $1"; return; }
	(umask "$mask" && exec "$@") >said 2>&1
	is "umask $mask: $*" "$(stat -c %a "$file" 2>&1)" "$want" || diag "$(cat said)"
}
shown() { # FILE COMMAND...
	made 644 022 "$@"
	made 640 027 "$@"
	made 664 002 "$@"
	made 600 077 "$@"
	made 666 0 "$@"
}
private() { for mask in 0 022 077; do made 600 $mask "$@"; done; }

for form in sarif junit json markdown; do shown report.$form ctp-report -q --$form report.$form t.ctp; done
shown report.html ctp-tohtml -qo report.html t.ctp
shown t.pftrace ctp-toperfetto -qo t.pftrace t.ctp
shown t.json ctp-toperfetto -q --chrome -o t.json t.ctp
shown o.jsonl ctp-tojsonl -qo o.jsonl t.ctp
shown o.csv ctp-tocsv -qo o.csv t.ctp
private o.ctp ctp-collect -qo o.ctp true
private o.ctp ctp-fromjsonl -qo o.ctp t.jsonl
private o.ctp ctp-filter -qo o.ctp t.ctp
private o.ctp ctp-merge -qo o.ctp t.ctp
private o.sqlite ctp-sqlite -qo o.sqlite t.ctp
private ctf/metadata ctp-toctf -qo ctf t.ctp

chmod 604 report.html report.sarif
(umask 077 && ctp-tohtml -qo report.html t.ctp && ctp-report -q --sarif report.sarif t.ctp >said)
is 'a file that is replaced keeps its mode' "$(stat -c %a report.html report.sarif | tr '\n' ' ')" '604 604 '

command -v python3 >/dev/null || { skip "terminals: there is no python3"; done_testing; exit; }
# A page on a terminal would be of no use.
for tool in ctp-tohtml ctp-toperfetto; do
	[ -x "$bin/$tool" ] || continue
	python3 - "$tool" >terminal 2>said <<'END'
import os, pty, sys
parent, child = pty.openpty()
if not os.fork():
    os.dup2(child, 1)
    os.execvp(sys.argv[1], [sys.argv[1], "t.ctp"])
print(os.WEXITSTATUS(os.wait()[1]))
END
	is "$tool: a terminal is refused" "$(cat terminal)" 1
done
done_testing
