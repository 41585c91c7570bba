#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The real code on a machine with C11's weak memory (t/proof/view-machine.h): compiled with -fsanitize=thread, and linked with functions
# of our own in place of libtsan, so that each access to the shared memory is a step. No schedule may break what the worlds of
# t/proof/world-*.c watch; and each order and fence, weakened by one step, must break it, or be listed in t/proof/survivors.
# The numbers of steps are for make check; make check-all has a hundred times as many.
# The machine itself is compared with the one that is extracted from t/proof/machine.v, where coqc and ocamlopt are.
# Not under sanitizers: the code is compiled with its own.
. t/helper/tap.sh
case $(uname -m) in x86_64 | aarch64) ;; *) skip_all "the machine has no threads on $(uname -m)" ;; esac
times=$([ "${EVERY:-}" ] && echo 100 || echo 1)

worlds=$(echo t/proof/world-*.c | sed 's,t/proof/world-\([a-z]*\).c,\1,g')
real="lib/shm/slots.c lib/shm/rings.c lib/shm/arena.c lib/shm/barrier.c $(echo lib/collect/v1-*.c) lib/collect/collect-loop.c lib/collect/ring-gaps.c
$(echo lib/collect/coro*.c) lib/collect/shm-texts.c lib/shm/object-copy.c"
wraps='syscall clock_gettime ctp_membarrier ctp_signals_thread pthread_mutex_lock pthread_mutex_unlock pthread_cond_wait
	pthread_cond_timedwait pthread_cond_broadcast pthread_join mmap munmap munlock mprotect madvise'
flags='-std=gnu11 -D_GNU_SOURCE -gdwarf-4 -fno-pie -fno-optimize-sibling-calls -Ilib -Isdk/c -It/proof -It/helper -Wall -Wextra'

object() { echo "$1" | sed 's,.*/,,; s,c$,o,'; }

build() { # COMPILER: each file by itself, two at a time
	folder=$tmp/$1 objects='' all=$(printf '&world_%s,' $worlds) pair=''
	mkdir -p "$folder"
	for file in $(echo t/proof/*.c | sed 's,t/proof/steps.c,,') $real; do
		case $file in
		t/proof/real-*.c | lib/*) own="-O1 -fsanitize=thread -DCTP_STORES_IN_ORDER=0" ;;
		*) own="-O2" ;;
		esac
		# shellcheck disable=SC2086
		"$1" $flags $own "-DWORLDS=$all" -c -o "$folder/$(object "$file")" "$file" 2>"$folder/$(object "$file").log" &
		if [ "$pair" ]; then wait; pair=; else pair=1; fi
		objects="$objects $folder/$(object "$file")"
	done
	wait
	# shellcheck disable=SC2086
	"$1" -no-pie -o "$folder/proof-runtime" $objects \
		$(printf ' -Wl,--wrap=%s' $wraps) "$O/libctp.a" -pthread -ldl || cat "$folder"/*.log
	[ -x "$folder/proof-runtime" ]
}

holds() { # COMPILER STEPS
	ok "$1 compiles the real code for the machine" build "$1" || return
	ok "$1: no schedule breaks it" "$tmp/$1/proof-runtime" -n "$2"
}

fails() { "$@" && return 1; return 0; }

ran=
for compiler in gcc clang; do
	command -v $compiler >/dev/null || { skip "$compiler is not installed"; continue; }
	holds $compiler $(($([ $compiler = gcc ] && echo 11 || echo 2) * 1000000 * times)) && ran=$compiler
done
[ "$ran" ] || skip_all "neither gcc nor clang is installed"

# The names of the mutants are those that gcc's debug information gives.
if [ -x "$tmp/gcc/proof-runtime" ] && command -v addr2line >/dev/null; then
	machine=$tmp/gcc/proof-runtime
	"$machine" -m t/proof/survivors -n $((1000000 * times)) >"$tmp/mutants"
	is 'each mutant is killed, or known to survive' $? 0
	sed 's/^/# /' "$tmp/mutants"
	like 'there are mutants' "$(tail -n 1 "$tmp/mutants")" '^[0-9]+ mutants: '
else
	skip 'the mutants: gcc or addr2line is not installed'
fi

# A million random steps, which the machine of Coq does again.
if [ ! -e t/proof/extract.v ] || ! command -v coqc >/dev/null || ! command -v ocamlopt >/dev/null || [ ! "$ran" ]; then
	skip 'the comparison with the machine of Coq: coqc or ocamlopt is not installed'
else
	extract() {
		mkdir "$tmp/coq" && cp t/proof/machine.v t/proof/extract.v t/proof/replay.ml "$tmp/coq" && cd "$tmp/coq" &&
			coqc -Q . Ctp machine.v && coqc -Q . Ctp extract.v && ocamlopt -w -a machine_coq.mli machine_coq.ml replay.ml -o replay
	}
	compare() { # SED: applied to the machine
		sed "$1" t/proof/view-memory.c >"$tmp/view-memory.c"
		# shellcheck disable=SC2086
		"$ran" $flags -w -O2 -no-pie -o "$tmp/steps" t/proof/steps.c "$tmp/view-memory.c" && "$tmp/steps" "$2" 7 | "$tmp/coq/replay"
	}
	ok 'the machine of Coq is extracted' eval '(extract)'
	like 'both machines do the same' "$(compare '' 24000 2>&1)" '^1[0-9]{6} steps in 24000 runs, no difference$'
	like 'a machine that forgets release sequences is found out' "$(compare 's/, .view = view}, order/}, order/' 1000 2>&1)" '^line [0-9]+: '
fi
done_testing
