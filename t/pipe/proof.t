#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The proofs of t/proof: Coq checks each file from nothing, its own small checker checks the result again, and no theorem rests on an
# axiom. A file that cannot be proved must be refused, or this test would say nothing. The machine, extracted to OCaml, does again
# what a trace says, and finds a step that is wrong.
# Not under sanitizers: it runs no tool that a sanitizer could watch.
. t/helper/tap.sh
for tool in coqc coqchk coqdep; do
	command -v "$tool" >/dev/null || skip_all "$tool is not installed (package coq)"
done

names=$(cd t/proof && ls ./*.v | sed 's,^\./,,; s,\.v$,,' | grep -vx axioms)
for name in $names; do cp "t/proof/$name.v" "$tmp"; done
cp t/proof/replay.ml "$tmp"
cd "$tmp" || exit

is 'nothing is left to be believed' "$(grep -nwE 'Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Abort' ./*.v)" ''

# Each file after those that it requires.
for file in $(coqdep -sort -Q . Ctp ./*.v 2>/dev/null); do
	ok "coqc accepts $(basename "$file")" coqc -q -Q . Ctp "$file"
done

# Every theorem, by the file and the name. What all of them rest on is asked at once: one by one takes ten times as long.
for name in $names; do
	sed -nE "s/^ *(Theorem|Corollary) +([A-Za-z0-9_']+).*/@$name.\\2/p" "$name.v"
done >theorems
{
	printf 'From Ctp Require'
	printf ' %s' $names
	printf '.\nDefinition all_of_them := (%s).\nPrint Assumptions all_of_them.\n' "$(paste -sd, theorems)"
} >axioms.v
ok 'there are many theorems' test "$(wc -l <theorems)" -gt 50
is 'all theorems are closed under the global context' "$(coqc -q -Q . Ctp axioms.v 2>&1)" 'Closed under the global context'
for theorem in accepted_is_written torn_with_release_mark overrun_accepted barrier_accepted quiet_eighth ring_fifo ring_race_free \
	no_lost_wakeup reuse_unique_owner header_is_its_own accounting; do
	ok "$theorem is one of them" grep -q "\\.$theorem\$" theorems
done

# All modules of ours, from all of which nothing is admitted. What they use of Coq's own library, which takes ten times as long, is
# checked by make check-all.
norec=-norec
[ ! "${EVERY:-}" ] || norec=
# shellcheck disable=SC2046,SC2086
ok 'coqchk agrees' coqchk -silent -Q . Ctp $(for name in $names; do printf '%s ' $norec "Ctp.$name"; done)

# The same claim with one order less, and the same proof.
sed 's/mark_fence y = true -> is_rel (publish y) = true/is_rel (publish y) = true/' seqlock.v >false.v
ok 'a theorem that is false was made of a true one' sh -c '! cmp -s seqlock.v false.v'
ok 'and coqc refuses it' sh -c '! coqc -q -Q . Ctp false.v'

if command -v ocamlopt >/dev/null; then
	ok 'the extracted machine is compiled' ocamlopt -w -a machine_coq.mli machine_coq.ml replay.ml -o replay
	# A store, and a load of the old message by another thread, which does not know of the new one; then of the new one.
	cat >steps <<-'EOS'
	start 2 1 0 0 5
	0 st rel 0 6 0 1 0
	1 ld acq 0 0 5 1 0
	1 ld acq 0 1 6 1 0
	bounds 1 0 1 1 0
	EOS
	is 'it does the same again' "$(./replay <steps)" '3 steps in 1 runs, no difference'
	# It may not load the old message after the new one.
	printf '1 ld acq 0 0 5 1 0\n' | cat steps - >backwards
	is 'and not what is not possible' "$(./replay <backwards)" 'line 6: not possible'
	sed 's/ 6 1 0$/ 7 1 0/' steps >other
	is 'nor another value' "$(./replay <other)" 'line 4: this machine has 6 1 0, the other one 7 1 0'
else
	skip 'ocamlopt is not installed: the extracted machine was not run'
fi
done_testing
