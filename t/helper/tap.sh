# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# tap.sh - what tap.h is for C, for tests in shell: `. t/helper/tap.sh`, from the top of the tree. Gives $O, $BIN and an empty $tmp.
#
#	ok NAME COMMAND...   is NAME GOT WANT   like NAME GOT PATTERN (of grep -E)   skip WHY   skip_all WHY   done_testing
#	cc_traced, cxx_traced FLAGS...: the compiler, for a traced program
#	in_turn: true for each third call in make check, and for each one in make check-all, by the variable EVERY
#	needs_root WHY: ends a script that is for root alone      if root_part WHY: whether that part of it runs
#	if can COMMAND...: whether it works here, as in `can unshare -n true`; skips if not, with its message. needs COMMAND... ends the script
#
# make check lists at its end what was skipped: those lines are in the file $SKIPPED. With AS_ROOT it runs each script that has a line
# with needs_root or root_part as root, too; so such a part is not skipped.
# What a command of `ok` prints is shown only where it fails.
# shellcheck shell=sh
O=${O:-build} BIN=${BIN:-${O:-build}/bin}
LC_ALL=C
export LC_ALL # messages and sorting of other programs are the same everywhere
tap_run=0 tap_failed=0
tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# A program with the probe, linked from the archive, which is far quicker than compiling it: FLAGS... -o PROGRAM SOURCE...
cc_traced() { "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O1 -pthread -Werror=implicit -DCTP_LIBRARY -Isdk/c "$@" "$O/libctp-probe.a"; }
cxx_traced() { "${CXX:-c++}" -std=c++20 -O1 -pthread -DCTP_LIBRARY -Isdk/c -Isdk/c++ "$@" "$O/libctp-probe.a"; }

# diag is for what went wrong: it goes to stderr, which prove shows. note is for the rest: stdout, shown by prove -v.
note() { printf '%s\n' "$*" | sed 's/^/# /'; }
diag() { note "$@" >&2; }

# For many planted bugs, each of which has to be compiled: the text to change must be there for all.
tap_turns=0
in_turn() {
	tap_turns=$((tap_turns + 1))
	[ "${EVERY:-}" ] || [ $((tap_turns % 3)) = 1 ]
}

tap_result() { # STATUS NAME
	tap_run=$((tap_run + 1))
	[ "$1" = 0 ] || { tap_failed=$((tap_failed + 1)); printf 'not '; }
	printf 'ok %d - %s\n' "$tap_run" "$2"
	[ "$1" = 0 ] || diag "failed: $2"
	return "$1"
}

ok() {
	tap_name=$1
	shift
	tap_said=$("$@" 2>&1)
	tap_result $? "$tap_name" || diag "$*: $tap_said"
}

is() {
	[ "$2" = "$3" ]
	tap_result $? "$1" || { diag "     got: $2"; diag "expected: $3"; }
}

like() {
	printf '%s\n' "$2" | grep -Eq -- "$3"
	tap_result $? "$1" || { diag "          got: $2"; diag "does not match: $3"; }
}

# An awk that cannot parse its program fails, which a pipe would hide.
awk() {
	command awk "$@" && return
	tap_awk=$?
	[ $tap_awk -gt 128 ] || printf '%s: %s\n' "$tap_awk" "$*" >>"$tmp/awk-failed"
	return $tap_awk
}

skip() {
	note "skipped: $1"
	[ -z "${SKIPPED:-}" ] || printf '%s: %s\n' "$0" "$1" >>"$SKIPPED"
}

skip_all() {
	echo "1..0 # SKIP $1"
	skip "$1" >/dev/null
	exit 0
}

tap_root=$(id -u)
root_part() {
	[ "$tap_root" = 0 ] || { [ "${AS_ROOT:-}" ] || skip "$1 (for root)"; false; }
}
needs_root() { [ "$tap_root" = 0 ] || skip_all "$1 (for root)"; }

# Root may have some rights and not others: in a plain chroot a network namespace, and no mount in a namespace. So a test asks for exactly
# what it uses.
tap_works() { tap_said=$("$@" 2>&1 >/dev/null) || { tap_said="$*: $(echo "$tap_said" | head -n 1)" && false; }; }
can() { tap_works "$@" || { skip "$tap_said" && false; }; }
needs() { tap_works "$@" || skip_all "$tap_said"; }

done_testing() {
	[ ! -e "$tmp/awk-failed" ] || is 'awk understands its programs' "$(cat "$tmp/awk-failed")" ''
	echo "1..$tap_run"
	[ "$tap_failed" = 0 ] && [ "$tap_run" -gt 0 ]
	exit
}
