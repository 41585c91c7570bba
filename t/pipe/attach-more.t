#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# ctp-collect -p on programs whose memory does not have the last states: the trace has nothing that is not true.
# Mostly waits.
. t/helper/tap.sh
collect=$BIN/ctp-collect
CC=${CC:-cc}
command -v "$CC" >/dev/null || skip_all "there is no $CC"
cat >"$tmp/target.c" <<'END'
#include "ctp.h"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_t first;
/* One coroutine; a character on stdin is what it does next, and is answered when that is done. */
static void *serve(void *leaves)
{
	struct ctp_coro co;
	if (leaves)
		pthread_join(first, NULL);
	ctp_coro_new(&co, 1);
	ctp_coro_resume(&co);
	ctp_coro_suspend(&co, (void *)0xaaaa);
	for (int c; (c = getchar()) != EOF;) {
		if (c == 'r')
			ctp_coro_resume(&co);
		else if (c == 's')
			ctp_coro_suspend(&co, (void *)0xbbbb);
		else if (c == 'k')
			ctp_record();
		else if (c == 'x')
			execlp("cat", "cat", NULL);
		else
			continue;
		puts("done");
		fflush(stdout);
	}
	return NULL;
}
/* With an argument the main thread leaves, and another serves. */
int main(int argc, char **argv)
{
	pthread_t thread;
	first = pthread_self();
	if (argc > 1 && !pthread_create(&thread, NULL, serve, argv[1]))
		pthread_exit(NULL);
	serve(NULL);
	return 0;
}
END
cc_traced -o "$tmp/target" "$tmp/target.c" 2>"$tmp/err" || skip_all "$CC: $(head -n 1 "$tmp/err")"

start() { # COMMAND...: $target is its process
	rm -f "$tmp/in" "$tmp/out"
	mkfifo "$tmp/in" "$tmp/out"
	"$@" <"$tmp/in" >"$tmp/out" &
	target=$!
	exec 5>"$tmp/in" 6<"$tmp/out"
}
tell() { # CHARACTER
	echo "$1" >&5
	read -r reply <&6
}
end() {
	exec 5>&- 6<&-
	wait $target
}
attach() { # OPTION...: in the background, and attached when it returns
	rm -f "$tmp/err"
	"$collect" "$@" -o "$tmp/a.ctp" 2>"$tmp/err" 5>&- 6<&- &
	collector=$!
	until grep -q 'attached to process' "$tmp/err" 2>/dev/null; do kill -0 $collector 2>/dev/null || break; done
}
detach() { # SIGNAL
	kill "-$1" $collector
	wait $collector 2>/dev/null
}
suspended() { # number of coroutines whose last event is a suspension
	"$collect" -q -p $target --once | "$BIN/ctp-tojsonl" -q | tail -n 1 | grep -c '"is_active":false'
}

# --- a coroutine that suspends, and then runs while no slots are written ---
start env CTP_RECORD=1 "$tmp/target"
until "$collect" -l 2>/dev/null | grep -q "^ *$target "; do :; done
is 'the coroutine is suspended' "$(suspended)" 1
attach --bare -p $target
tell r
detach INT
is 'after --bare the running coroutine is not reported as suspended' "$(suspended)" 0
tell s
is 'the coroutine is suspended again, and reported as such' "$(suspended)" 1
attach --bare -p $target
tell r
detach KILL
is 'after a killed --bare collector the running coroutine is not reported as suspended' "$(suspended)" 0
end

start env -u CTP_RECORD "$tmp/target"
until "$collect" -l 2>/dev/null | grep -q "^ *$target "; do :; done
attach -p $target
tell r
tell s
detach INT
tell r # which is not recorded
tell k
is 'a coroutine that resumed while recording was off is not reported as suspended' "$(suspended)" 0
end

# --- a program whose main thread has ended ---
start env CTP_RECORD=1 "$tmp/target" leave
tell r
tell s
is 'a program that goes on without its main thread is listed, with its arguments' \
	"$("$collect" -l 2>"$tmp/err" | grep -c "^ *$target .*target leave\$")" 1
is 'its states are known' "$(suspended)" 1
attach -p $target
tell r
tell s
end
wait $collector
"$BIN/ctp-tojsonl" -q -a "$tmp/a.ctp" >"$tmp/all"
is 'it is followed until it ends: two resumes from before, one recorded' \
	"$(grep -c '"is_active":true' "$tmp/all") $(grep -c '"outcome":"ended"' "$tmp/all")" '3 1'
like 'its mappings are recorded, with their build-ids' "$(grep '/target"' "$tmp/all")" '"build_id":"[0-9a-f]'

# --- a program that calls exec ---
for event in no an; do
	start env -u CTP_RECORD "$tmp/target"
	until "$collect" -l 2>/dev/null | grep -q "^ *$target "; do :; done
	attach -t 60 -p $target
	[ $event = no ] || tell r
	echo x >&5
	wait $collector
	is "after $event event, an exec ends the trace before -t does, and the process lives" \
		"$? $(grep -c ' s$' "$tmp/err") $(grep -c ' 60\.[0-9]* s$' "$tmp/err") $(kill -0 $target && echo lives)" \
		'0 1 0 lives'
	end
done

# --- memory that is not what it seems ---
cat >"$tmp/huge.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
/* A descriptor as a probe has it, but of huge pages, of which there are none: who reads it gets SIGBUS. */
int main(void)
{
	int fd = memfd_create("ctp", MFD_HUGETLB | MFD_ALLOW_SEALING);
	puts(fd < 0 || ftruncate(fd, 64 << 20) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) ? "no" : "yes");
	fflush(stdout);
	return getchar() == EOF;
}
END
"$CC" -o "$tmp/huge" "$tmp/huge.c" 2>"$tmp/err"
start "$tmp/huge"
read -r reply <&6
if [ "$reply" = yes ]; then
	"$collect" -l >/dev/null 2>&1
	ok 'a memory of huge pages does not end -l' [ $? -lt 2 ]
	"$collect" -p $target -o "$tmp/b.ctp" 2>"$tmp/err"
	is '-p refuses a memory of huge pages' $? 125
else
	note "no huge pages here: $reply"
fi
end
done_testing
