#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# How long ctp-mysql and ctp-postgres wait for a server that is silent, when a signal is to end them. Nobody waits here: a library that is
# preloaded notes each limit, and makes it short.
# Not under sanitizers: a library that makes calls fail is preloaded.
# Mostly waits.
. t/helper/tap.sh
. t/helper/false-server.sh
command -v cc >/dev/null || skip_all 'there is no compiler'
server='' child='' dir=$(mktemp -d /tmp/ctp-silent.XXXXXX) # a socket's path is short
trap 'kill -9 $server $child 2>/dev/null; rm -rf "$dir" "$tmp"' EXIT

# An alarm comes a thousand times sooner. A poll with a limit of a second and more waits until the server has said in the file GOT that it
# is silent for the second time, and then its limit is over. Each of these limits is a line of the file LIMITS.
cat >"$tmp/quick.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void note(const char *what, unsigned seconds)
{
	char line[64];
	const char *path = getenv("LIMITS");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	snprintf(line, sizeof line, "%s %u\n", what, seconds);
	if (fd >= 0 && write(fd, line, strlen(line)) > 0)
		close(fd);
}

unsigned alarm(unsigned seconds)
{
	struct itimerval at = {.it_value = {.tv_usec = seconds * 1000}};
	if (seconds)
		note("alarm", seconds);
	setitimer(ITIMER_REAL, &at, NULL);
	return 0;
}

static int silences(void)
{
	char text[4096];
	int n = 0, fd = open(getenv("GOT"), O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, text, sizeof text - 1);
	close(fd);
	text[len > 0 ? len : 0] = 0;
	for (const char *at = text; (at = strstr(at, "silent")); at++)
		n++;
	return n;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	static int (*real)(struct pollfd *, nfds_t, int);
	int got;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "poll");
	if (ms < 1000)
		return real(fds, n, ms);
	while (!(got = real(fds, n, 20)) && silences() < 2)
		;
	if (!got)
		note("poll", (unsigned)ms / 1000);
	return got;
}
C
cc -shared -fPIC -o "$tmp/quick.so" "$tmp/quick.c" -ldl || skip_all 'no library can be made'

# silent KIND SOCKET PATTERN=ANSWER... -- COMMAND...: ends it with one signal when the server is silent; the status and the limits that
# were met are in $met. One that waits without a limit is killed. (Not in the foreground, timeout signals twice.)
silent() {
	kind=$1 socket=$2
	shift 2
	said=
	while [ "$1" != -- ]; do said="$said $1"; shift; done
	shift
	rm -f "$socket" "$tmp/limits"
	: >"$tmp/got"
	# shellcheck disable=SC2086
	python3 t/helper/hostile-server.py "$kind" "$socket" $said >"$tmp/got" &
	server=$!
	until grep -q listens "$tmp/got" || ! kill -0 $server; do sleep 0.1; done
	timeout --foreground -s KILL 60 env LIMITS="$tmp/limits" GOT="$tmp/got" LD_PRELOAD="$tmp/quick.so" "$@" <"$tmp/a.ctp" 2>"$tmp/err" &
	child=$!
	until grep -q silent "$tmp/got" || ! kill -0 $child 2>/dev/null; do sleep 0.1; done
	rm -f "$tmp/limits" # those before the signal
	kill -TERM $child
	wait $child 2>/dev/null
	met="$? $(cat "$tmp/limits" 2>/dev/null | tr '\n' ' ')"
	kill -9 $server
	wait $server 2>/dev/null
	server='' child=''
}

if [ -x "$postgres" ]; then
	silent postgres "$dir/.s.PGSQL.5432" COPIED=silent -- "$postgres" -q --live -d "host=$dir user=me dbname=db"
	is 'postgres --live: 5 seconds for the input, and 30 for the server' "$met" '143 alarm 5 alarm 30 '
	is '  which is said' "$(cat "$tmp/err")" 'ctp-postgres: ended by a signal while the server did not answer; rows since the last commit may be lost'
fi
if [ -x "$mysql" ]; then
	silent mysql "$dir/s" '^CREATE.TABLE=silent' KILL=silent -- "$mysql" -q -S "$dir/s" -u me -D db
	is 'mysql: 90 seconds for an answer' "$met" '143 poll 90 '
	silent mysql "$dir/s" '^CREATE.TABLE=silent' LOGIN.2=silent -- "$mysql" -q -S "$dir/s" -u me -D db
	is 'mysql: 10 seconds for a connection' "$met" '143 poll 10 '
fi
done_testing
