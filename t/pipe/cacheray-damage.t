#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Damaged traces of many kinds: hardly a false record is kept, and hardly a true one is lost. Also inputs of former bugs.
. t/helper/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
from=$BIN/ctp-fromcacheray

# --- a wrong phase that repeats itself --------------------------------------------------------------------------------------------
# trace ADDRESS_BYTES BASE THREAD WHAT: 6,000 accesses, in whose middle there are bytes too many, or too few.
cat >"$tmp/trace.py" <<'EOP'
import struct, sys
width, base, thread, what = int(sys.argv[1]), int(sys.argv[2], 16), int(sys.argv[3]), sys.argv[4]
recs = [struct.pack('<B' + ('Q' if width == 8 else 'I') + 'BQ', i % 3 == 0, base + 8 * (i % 500), 8, thread) for i in range(6000)]
good = b''.join(recs[3000:])
more = {'record': bytes(width + 10), 'zeros': bytes(5), 'junk': b'\xa5' * 5, 'hole': b''}[what]
sys.stdout.buffer.write(b''.join(recs[:3000]) + more + (good[5:] if what == 'hole' else good))
EOP
# last: the bytes of the 2,999 last accesses.
for width in 4 8; do
	for base in 0x56001000 0x08041000 0x20000100 0x404000; do
		for what in record zeros junk hole; do
			python3 "$tmp/trace.py" $width $base 4000 $what >"$tmp/t.trace"
			last=$((2999 * (width + 10)))
			"$from" -q -a $width -b little "$tmp/t.trace" | "$BIN/ctp-tocacheray" -q >"$tmp/out"
			tail -c $last "$tmp/t.trace" >"$tmp/want"
			tail -c $last "$tmp/out" >"$tmp/got"
			ok "$width bytes, $base, $what: the records after the damage are read" cmp "$tmp/want" "$tmp/got"
		done
	done
done

# --- what few runtimes write ----------------------------------------------------------------------------------------------------------
# odd WIDTH THREAD WHAT: 3,000 accesses, and zeros for 100 more in the middle; or an unusual size, n times; or one record with a
# doubt: an unusual size, the thread of a pthread_t, an address that is not aligned, before two damaged bytes later on.
cat >"$tmp/odd.py" <<'EOP'
import struct, sys
width, thread, what = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
recs = [bytearray(struct.pack('<B' + ('Q' if width == 8 else 'I') + 'BQ', i % 3 == 0, 0x56001000 + 8 * (i * 7 % 4000), 8, thread)) for i in range(3000)]
if what == 'zeros': recs[1500:1500] = [bytes(width + 10)] * 100
elif what == 'first': recs[0][1 + width] = 32
elif what == 'last': recs[-1][1 + width] = 32
elif what == 'size': recs[1500][1 + width] = 32
elif what == 'thread': recs[1500][2 + width:] = struct.pack('<Q', 0x7f12deadb740)
elif what == 'address': recs[1500][1] ^= 1
else:
	for k in range(int(what)): recs[1500 + 10 * k][1 + width] = 24
if len(sys.argv) > 4: recs[2000:2000] = [b'\xa5\xa5']
sys.stdout.buffer.write(b''.join(recs))
EOP
for width in 8 4; do
	for thread in 0 4000; do
		at=$((1500 * (width + 10)))
		python3 "$tmp/odd.py" $width $thread zeros >"$tmp/t.trace"
		is "$width bytes, thread $thread: zeros are damage" "$("$from" -a $width -b little -o /dev/null "$tmp/t.trace" 2>&1 | sed -n '1s/.*: byte/byte/p')" \
			"byte $at: an access of 0 bytes; $((100 * (width + 10))) bytes skipped"
		for what in size thread address first last; do
			python3 "$tmp/odd.py" $width $thread $what >"$tmp/t.trace"
			"$from" "$tmp/t.trace" 2>"$tmp/err" | "$BIN/ctp-tocacheray" >"$tmp/out"
			is "$width bytes, thread $thread: one doubtful record is kept: $what" "$(cmp "$tmp/t.trace" "$tmp/out" 2>&1)$(cat "$tmp/err")" ''
			python3 "$tmp/odd.py" $width $thread $what damaged >"$tmp/t.trace"
			is "  so it is before damage" "$("$from" -v -a $width -b little -o /dev/null "$tmp/t.trace" 2>&1 | sed 's/.*: //' | xargs)" \
				"0xa5 is no tag; 2 bytes skipped 3000 records kept; damage at 1 place"
		done
		python3 "$tmp/odd.py" $width $thread 3 >"$tmp/t.trace"
		"$from" -a $width -b little "$tmp/t.trace" | "$BIN/ctp-tocacheray" >"$tmp/out"
		ok "$width bytes, thread $thread: a size that is repeated is accepted" cmp "$tmp/t.trace" "$tmp/out"
	done
done

# --- zeros at the end -----------------------------------------------------------------------------------------------------------------
# rest WIDTH ORDER ADDRESS ZEROS: accesses, the last one of which has this address, and zeros.
cat >"$tmp/rest.py" <<'EOP'
import struct, sys
width, order, last, zeros = int(sys.argv[1]), '<>'[sys.argv[2] == 'big'], int(sys.argv[3], 16), int(sys.argv[4])
addresses = [0x56001000 + 8 * (i * 7 % 4000) for i in range(100)] + [last]
recs = [struct.pack(order + 'B' + ('Q' if width == 8 else 'I') + 'BQ', 1, a, 8, 4000) for a in addresses]
open(sys.argv[5], 'wb').write(b''.join(recs))
sys.stdout.buffer.write(b''.join(recs) + bytes(zeros))
EOP
for spelling in '8 little 56001000' '8 little dead00000000beef' '8 big dead00000000beef' '4 little 56001003' '4 big 8'; do
	for zeros in 18 3000 5000 1000000; do
		# shellcheck disable=SC2086
		python3 "$tmp/rest.py" $spelling $zeros "$tmp/want" >"$tmp/t.trace"
		"$from" -o "$tmp/t.ctp" "$tmp/t.trace" 2>"$tmp/err"
		is "$spelling, $zeros zeros at the end are no damage" "$? $(sed 's/.*: byte/byte/' "$tmp/err")" \
			"3 byte $(($(wc -c <"$tmp/want"))): zeros up to the end: the program did not end through exit, or a limit cut its trace; its records are those before"
		"$BIN/ctp-tocacheray" -q "$tmp/t.ctp" >"$tmp/out"
		ok "$spelling, $zeros: all records before the zeros are read" cmp "$tmp/want" "$tmp/out"
	done
done
is 'the section has no end' "$("$BIN/ctp-tojsonl" -a -q "$tmp/t.ctp" | tail -n 1)" '{"type":"@end","complete":false}'

# hole WRITTEN AFTER ZEROS: 1,000 accesses, one with only WRITTEN bytes, AFTER more accesses, and zeros.
cat >"$tmp/hole.py" <<'EOP'
import struct, sys
written, after, zeros = map(int, sys.argv[1:4])
recs = [struct.pack('<BQBQ', i % 2, 0x56001000 + 8 * (i * 7 % 4000), 8, 4000 + i % 3) for i in range(1000 + after)]
open(sys.argv[4], 'wb').write(b''.join(recs))
sys.stdout.buffer.write(b''.join(recs[:1000]) + recs[1][:written] + bytes(18 - written) + b''.join(recs[1000:]) + bytes(zeros))
EOP
for zeros in 5000 1000000; do
	for after in 1 3 7; do
		for written in 0 1 8; do
			python3 "$tmp/hole.py" $written $after $zeros "$tmp/want" >"$tmp/t.trace"
			"$from" "$tmp/t.trace" 2>"$tmp/err" | "$BIN/ctp-tocacheray" -q >"$tmp/out"
			is "$zeros zeros after $after records that follow one of $written bytes" "$(sed -n 's/.*: byte/byte/p' "$tmp/err" | tr '\n' '.')$(cmp "$tmp/out" "$tmp/want")" \
				"byte 18000: an access of 0 bytes; 18 bytes skipped.byte $((18 * (1001 + after))): zeros up to the end: the program did not end through exit, or a limit cut its trace; its records are those before."
		done
	done
	python3 "$tmp/hole.py" 8 0 $zeros "$tmp/want" >"$tmp/t.trace"
	"$from" "$tmp/t.trace" 2>"$tmp/err" | "$BIN/ctp-tocacheray" -q >"$tmp/out"
	is "$zeros zeros after a part of a record" "$(grep -c 'zeros up to the end' "$tmp/err") $(grep -c 'most of it' "$tmp/err") $(cmp "$tmp/out" "$tmp/want")" '1 0 '
done

# --- what some runtime may write ------------------------------------------------------------------------------------------------------
python3 - >"$tmp/t.trace" <<'EOP'
import struct, sys
recs = [struct.pack('<BQBQ', 0, 0x560000001000 + 8 * i, 8, 1 + i % 2) for i in range(40)]
recs[20:20] = [struct.pack('<BQQIII', 2, 0x560000002000, 0, 24, 0, 8) + b'struct.T']
sys.stdout.buffer.write(b''.join(recs))
EOP
"$from" "$tmp/t.trace" | "$BIN/ctp-tocacheray" >"$tmp/out"
ok 'an add of no elements by a new thread 0 is a record' cmp "$tmp/t.trace" "$tmp/out"

# wild ORDER: accesses of any size, and names of any bytes.
cat >"$tmp/wild.py" <<'EOP'
import random, struct, sys
o, g = {'little': '<', 'big': '>'}[sys.argv[1]], random.Random(int(sys.argv[2]))
for i in range(300):
	address, thread = 0x560000000000 + g.randrange(5000), 4000 + g.randrange(9)
	if i % 20 == 4:
		name = bytes(g.randrange(256) for _ in range(g.choice((1, 10, 300, 5000))))
		rec = struct.pack(o + 'BQQIII', 2, address, thread, 24, 2, len(name)) + name
	else: rec = struct.pack(o + 'BQBQ', 128 + g.randrange(2), address, g.randrange(256), thread)
	sys.stdout.buffer.write(rec)
EOP
for order in little big; do
	wrong=
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		python3 "$tmp/wild.py" $order $seed >"$tmp/t.trace"
		"$from" -b $order -a 8 "$tmp/t.trace" 2>/dev/null | "$BIN/ctp-tocacheray" -q | cmp -s - "$tmp/t.trace" || wrong="$wrong $seed"
	done
	is "$order: any sizes, and names of any bytes, are records" "$wrong" ''
done

# --- many ---------------------------------------------------------------------------------------------------------------------------
python3 t/helper/cacheray-model.py "$BIN" 0 160 >"$tmp/model"
is 'the model ran' $? 0
grep '^#' "$tmp/model"
read -r garbage lost <<END
$(tail -n 1 "$tmp/model")
END
ok "of 480,000 records in 160 traces at most 60 false ones are kept: $garbage" test "$garbage" -le 60
ok "at most 60 true ones are lost: $lost" test "$lost" -le 60
done_testing
