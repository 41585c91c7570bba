#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Thousands of threads: each has a ring, or the closing line says why not.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
collect=$BIN/ctp-collect

# N threads at a time, TIMES times; each of them does 40 events while all others live.
cat >"$tmp/threads.c" <<'C'
#include <ctp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static pthread_barrier_t bar;
static void *run(void *arg)
{
	struct ctp_coro c;
	ctp_coro_new(&c, (uint64_t)(uintptr_t)arg + 1);
	for (int k = 0; k < 20; k++) {
		ctp_coro_resume(&c);
		ctp_coro_suspend(&c, CTP_HERE);
	}
	pthread_barrier_wait(&bar);
	ctp_coro_death(&c);
	return NULL;
}
int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1, times = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	pthread_t *thread = calloc(n, sizeof *thread);
	pthread_attr_t small;
	ctp_init();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 131072);
	pthread_barrier_init(&bar, NULL, n);
	while (times--) {
		for (unsigned i = 0; i < n; i++)
			if (pthread_create(&thread[i], &small, run, (void *)(uintptr_t)i))
				_exit(9);
		for (unsigned i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
	}
	return 0;
}
C
cc_traced -o "$tmp/threads" "$tmp/threads.c" 2>"$tmp/err" || skip_all "$(head -1 "$tmp/err")"
if "$tmp/threads" 3000; then
	"$collect" -o "$tmp/a.ctp" "$tmp/threads" 3000 2>"$tmp/err"
	like '3000 threads lose no event' "$(cat "$tmp/err")" '^ctp-collect: 120000 events, 3000 coroutines, 0 lost, 0 untraced'
else
	note 'the system does not let us have so many threads'
fi
"$collect" -v -o "$tmp/a.ctp" "$tmp/threads" 100 30 2>"$tmp/err"
like '3000 threads, 100 at a time, lose no event' "$(tail -1 "$tmp/err")" \
	'^ctp-collect: 120000 events, 3000 coroutines, 0 lost, 0 untraced'
rings=$(sed -n 's/^ctp-collect: \([0-9]*\) rings of threads.*/\1/p' "$tmp/err")
ok "rings are reused ($rings)" [ "${rings:-9999}" -lt 1000 ]

# Successive children have a ring each, up to a limit; then rings of ended processes are reused first.
cat >"$tmp/forks.c" <<'C'
#include <ctp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 1400; i++) {
		pid_t child = fork();
		if (!child) {
			struct ctp_coro c;
			ctp_coro_new(&c, 1);
			ctp_coro_resume(&c);
			ctp_coro_death(&c);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 9;
	}
	return 0;
}
C
cc_traced -o "$tmp/forks" "$tmp/forks.c"
"$collect" -v -o "$tmp/a.ctp" "$tmp/forks" 2>"$tmp/err"
like '1400 children are traced' "$(tail -1 "$tmp/err")" '^ctp-collect: 1400 events, 1400 coroutines, 0 lost, 0 untraced'
rings=$(sed -n 's/^ctp-collect: \([0-9]*\) rings of threads.*/\1/p' "$tmp/err")
ok "rings of ended children are reused ($rings)" [ "${rings:-9999}" -lt 1300 ]

# With little address space there are few rings.
if (ulimit -v 4000000 && "$tmp/threads" 300) 2>/dev/null; then
	(ulimit -v 4000000 && "$collect" -o "$tmp/a.ctp" "$tmp/threads" 300) 2>"$tmp/err"
	like 'fewer rings than threads are reported' "$(cat "$tmp/err")" \
		' [1-9][0-9]* lost \(of threads beyond the (16|32|64) that have a ring: a smaller --ring, or more of ulimit -v, would help\)'
	(ulimit -v 4000000 && "$collect" --ring 2048 -o "$tmp/a.ctp" "$tmp/threads" 300) 2>"$tmp/err"
	like 'the smaller --ring that is suggested loses no event' \
		"$(cat "$tmp/err")" '^ctp-collect: 12000 events, 300 coroutines, 0 lost, 0 untraced'
fi
done_testing
