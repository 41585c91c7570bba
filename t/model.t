#!/bin/sh
# The orderings that ctp.h and station.c rest on, checked exhaustively by spin in a weak memory (t/model). Each model must hold
# as it is, and must fail with each of the switches that its opening comment lists: what they take away is needed.
. t/tap.sh
CC=${CC:-cc}
for tool in spin cpp "$CC"; do
	command -v "$tool" >/dev/null || skip_all "$tool is not installed"
done
models=$PWD/t/model

errors() { # NUMBER MODEL [SWITCH...]: the verifier went all the way, or to the first error, and found so many
	want=$1 model=$2
	shift 2
	cd "$tmp" && spin -a "$@" "$models/$model.pml" && "$CC" -w -O0 -DSAFETY -o pan pan.c && ./pan -m100000 >out
	cat out && grep -q "errors: $want\$" out && ! grep -q 'max search depth too small' out
}

model() { # NAME [VARIANT]
	ok "$* holds" errors 0 "$@"
	for switch in $(sed -n 's/^ \*	\([A-Z_]*\)  *[a-z].*/\1/p' "t/model/$1.pml") REACH; do
		ok "$* fails with $switch" errors 1 "$@" -D"$switch"
	done
}

model seqlock
model wakeup
model overrun
model overrun -DFIELD
done_testing
