#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Orderings that the probe and the collector rest on, checked exhaustively by spin in a weak memory (t/model): those that t/proof does not
# prove, and those whose models also check that everybody gets to an end, or reorder loads. Each model must hold as it is, and must
# fail with each of the switches that its opening comment lists: what they take away is needed.
# make check tries the first of a model's switches, make check-all every one. tcc, if it is there, compiles a verifier in a fiftieth of
# the time that gcc needs.
# Not under sanitizers: it runs no tool that a sanitizer could watch.
. t/helper/tap.sh
CC=${CC:-cc}
for tool in spin cpp "$CC"; do
	command -v "$tool" >/dev/null || skip_all "$tool is not installed"
done
if command -v tcc >/dev/null; then CC=tcc; fi
models=$PWD/t/model

verify() { # SWITCH MODEL [VARIANT]
	folder=$tmp/$1.d switch=$1 model=$2
	shift 2
	mkdir -p "$folder" && cd "$folder" &&
		spin -a -D"$switch" "$@" "$models/$model.pml" && "$CC" -w -O0 -DSAFETY -o pan pan.c && ./pan -m100000
}

errors() { # NUMBER SWITCH: the verifier finished, or stopped at the first error, and found this number
	cat "$tmp/$2" && grep -q "errors: $1\$" "$tmp/$2" && ! grep -q 'max search depth too small' "$tmp/$2"
}

model() { # MODEL [VARIANT], verified two switches at a time: most of it is the compiler's time
	switches="$(sed -n 's/^ \*	\([A-Z_]*\)  *[a-z].*/\1/p' "t/model/$1.pml")" pair=
	[ "${EVERY:-}" ] || switches=${switches%%
*}
	switches="$switches REACH"
	for switch in NOTHING $switches; do
		verify "$switch" "$@" >"$tmp/$switch" 2>&1 &
		if [ "$pair" ]; then wait; pair=; else pair=1; fi
	done
	wait
	ok "$* holds" errors 0 NOTHING
	for switch in $switches; do
		ok "$* fails with $switch" errors 1 "$switch"
	done
}

model wakeup
model wakeup -DMEMBARRIER
model skips
model holes
model reuse
model remember
done_testing
