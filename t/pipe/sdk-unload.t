#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# Shared objects with a probe are loaded and unloaded: nothing of them is left, and what others use is kept.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
cc=${CC:-cc} cxx=${CXX:-c++}
cycles=1100

cat >"$tmp/plugin.c" <<'C'
#include "ctp.h"
int use(int n);
void keep(struct ctp_coro *co);
int look(int what);
int use(int n)
{
	struct ctp_coro co;
	for (int i = 0; i < n; i++) {
		ctp_coro_new(&co, 0);
		ctp_coro_resume(&co);
		ctp_coro_suspend(&co, CTP_HERE);
		ctp_coro_suspend_in(&co, CTP_HERE, ctp_site_number("plugin.c", 7, "use"));
		ctp_coro_death(&co);
	}
	return ctp_traced();
}
void keep(struct ctp_coro *co)
{
	ctp_coro_new(co, 77);
	ctp_coro_resume(co);
}
int look(int what)
{
	struct ctp_probe_ *p = ctp_current_;
	return !p || !p->shm ? -1 : what == 0 ? ctp_traced() : what == 1 ? (int)p->shm->sites_used : (int)p->shm->rings_used;
}
C
cat >"$tmp/static.cc" <<'C'
#include "ctp.h"
struct last { /* its destructor runs when the object is unloaded */
	struct ctp_coro co = {};
	~last() { ctp_coro_suspend(&co, CTP_HERE), ctp_coro_death(&co); }
} last;
extern "C" int use(int n)
{
	if (n)
		ctp_coro_new(&last.co, 5), ctp_coro_resume(&last.co);
	return ctp_traced();
}
extern "C" void keep(struct ctp_coro *) {}
extern "C" int look(int) { return 0; }
C
cat >"$tmp/plain.c" <<'C'
struct ctp_coro;
int use(int n) { return n; }
void keep(struct ctp_coro *co) { (void)co; }
int look(int what) { return what; }
C
cat >"$tmp/host.c" <<'C'
#ifdef PROBE
#include "ctp.h"
#else
#define CTP_LAYOUT_ONLY
#include "ctp.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct ctp_coro { uint64_t word[16]; };
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
static int (*use)(int), (*look)(int);
static void (*keep)(struct ctp_coro *);
static void *load(const char *path)
{
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so)
		fprintf(stderr, "%s\n", dlerror()), exit(9);
	*(void **)&use = dlsym(so, "use");
	*(void **)&keep = dlsym(so, "keep");
	*(void **)&look = dlsym(so, "look");
	return so;
}
/* Descriptors, and mappings but for the heap's, to a file. */
static void state(const char *name)
{
	char line[4096], link[4096];
	static char text[1 << 20];
	size_t used = 0;
	DIR *dir = opendir("/proc/self/fd");
	for (struct dirent *e; (e = readdir(dir));) {
		ssize_t n = atoi(e->d_name) == dirfd(dir) ? 0 : readlinkat(dirfd(dir), e->d_name, link, sizeof link - 1);
		if (n > 0)
			used += (size_t)sprintf(text + used, "%s %.*s\n", e->d_name, (int)n, link);
	}
	closedir(dir);
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, maps))
		if (!strstr(line, "[heap]") && !strstr(line, "[stack]"))
			used += (size_t)sprintf(text + used, "%s", line);
	fclose(maps);
	maps = fopen("/proc/self/status", "r");
	long kb = 0;
	while (fgets(line, sizeof line, maps))
		if (sscanf(line, "VmSize: %ld", &kb) == 1)
			used += (size_t)sprintf(text + used, "about %ld MiB\n", (kb + 512) / 1024);
	fclose(maps);
	FILE *out = fopen(name, "w");
	fwrite(text, used, 1, out);
	fclose(out);
}
static void cycle(const char *path, int n)
{
	for (int i = 0; i < n; i++) {
		void *so = load(path);
		use(3);
		dlclose(so);
	}
}
static void wait_for(const char *path)
{
	while (access(path, F_OK))
		usleep(1000);
}
static pthread_barrier_t used, closed;
static void *thread(void *arg)
{
	use(3);
	pthread_barrier_wait(&used);
	pthread_barrier_wait(&closed);
	return arg;
}
static void *forever(void *arg)
{
	for (;;)
		use(1);
	return arg;
}
static int child(const char *path, int n)
{
	int status = -1;
	pid_t pid = fork();
	if (!pid) {
		cycle(path, n);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}
int main(int argc, char **argv)
{
	enum { THREADS = 4 };
	const char *what = argv[1], *so = argv[2], *plain = argv[3], *dir = argv[4];
	int n = argc > 5 ? atoi(argv[5]) : 0;
	char before[4096], after[4096], there[4096];
	snprintf(before, sizeof before, "%s/before", dir);
	snprintf(after, sizeof after, "%s/after", dir);
	snprintf(there, sizeof there, "%s/there", dir);
	cycle(plain, 2);
	state(before); /* and its buffers are there */
#ifdef PROBE
	struct ctp_coro own, co;
	ctp_coro_new(&own, 1);
	ctp_coro_resume(&own);
	ctp_coro_suspend(&own, CTP_HERE);
#else
	struct ctp_coro co;
#endif
	state(before);
	if (!strcmp(what, "cycle")) {
		cycle(so, n);
	} else if (!strcmp(what, "again")) {
		cycle(so, 1);
		state(before);
		cycle(so, n);
		void *handle = load(so);
		use(1);
		printf("sites %d, rings %d\n", look(1), look(2));
		dlclose(handle);
	} else if (!strcmp(what, "visit")) {
		void *handle = load(so);
		use(1);
		puts("ready");
		fflush(stdout);
		while (look(0) <= 0)
			usleep(1000);
		dlclose(handle);
		cycle(so, n);
		handle = load(so);
		use(1);
		printf("sites %d, rings %d\n", look(1), look(2));
		dlclose(handle);
		state(there);
		puts("done");
		fflush(stdout);
		wait_for(argv[6]);
		cycle(so, 1);
	} else if (!strcmp(what, "two")) {
		void *a = load(so);
		use(3);
		state(before);
		void *b = load(argv[6]);
		use(3);
		state(there);
		dlclose(a);
		use(3);
		dlclose(b);
		(void)a;
	} else if (!strcmp(what, "threads")) {
		pthread_t t[THREADS];
		pthread_barrier_init(&used, NULL, THREADS + 1);
		pthread_barrier_init(&closed, NULL, THREADS + 1);
		for (int round = 0; round < n; round++) {
			void *handle = load(so);
			for (int i = 0; i < THREADS; i++)
				pthread_create(&t[i], NULL, thread, NULL);
			pthread_barrier_wait(&used);
			dlclose(handle);
			pthread_barrier_wait(&closed);
			for (int i = 0; i < THREADS; i++)
				pthread_join(t[i], NULL);
			if (!round)
				state(before); /* the threads' stacks are kept */
		}
	} else if (!strcmp(what, "fork")) {
		cycle(so, 1);
		int status = child(so, n);
		void *handle = load(so);
		use(3);
		status |= child(so, n); /* with a copy of the parent's, which has it loaded */
		pid_t pid = fork();
		if (!pid) {
			use(3);
			dlclose(handle);
			cycle(so, n);
			_exit(0);
		}
		int last;
		waitpid(pid, &last, 0);
		use(3);
		dlclose(handle);
		printf("%d\n", status | last);
	} else if (!strcmp(what, "exit")) {
		pthread_t t;
		load(so);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t, NULL, forever, NULL);
		usleep(1000);
		exit(0); /* and they go on */
	} else if (!strcmp(what, "outlive")) {
		void *handle = load(so);
		keep(&co);
		dlclose(handle);
		cycle(so, n);
#ifdef PROBE
		printf("%d", ctp_coro_traced(&co));
		ctp_coro_suspend(&co, CTP_HERE);
		ctp_coro_resume(&co);
		ctp_coro_wake(&own);
		ctp_coro_death(&co);
		struct ctp_coro next;
		ctp_coro_new(&next, 2);
		printf(" %d\n", ctp_coro_traced(&next));
#endif
	}
	state(after);
	return 0;
}
C
so() { $cc -std=c11 -O1 -fPIC -shared "$@"; }
ok 'a plugin' so -Isdk/c -o "$tmp/a.so" "$tmp/plugin.c"
ok 'another one' so -fvisibility=hidden -Duse='__attribute__((visibility("default"))) use' -Dlook='__attribute__((visibility("default"))) look' \
	-Dkeep='__attribute__((visibility("default"))) keep' -Isdk/c -o "$tmp/b.so" "$tmp/plugin.c"
ok 'one without a probe' so -o "$tmp/plain.so" "$tmp/plain.c"
ok 'one in C++' $cxx -std=c++11 -O1 -fPIC -shared -fno-exceptions -Wl,--as-needed -Isdk/c -o "$tmp/cxx.so" "$tmp/static.cc"
mkdir "$tmp/other"
sed 's/^#define CTP_ABI_ .*/#define CTP_ABI_ 99/' sdk/c/ctp.h >"$tmp/other/ctp.h"
ok 'one of another version' so -I"$tmp/other" -o "$tmp/other.so" "$tmp/plugin.c"
ok 'a program' $cc -std=gnu11 -pthread -Isdk/c -o "$tmp/host" "$tmp/host.c" -ldl
ok 'a program with a probe' $cc -std=gnu11 -pthread -DPROBE -Isdk/c -o "$tmp/probed" "$tmp/host.c" -ldl

run() { # PROGRAM WHAT PLUGIN [ARG...]
	run_host=$tmp/$1 run_what=$2 run_so=$tmp/$3
	shift 3
	rm -f "$tmp/before" "$tmp/after" "$tmp/there"
	$with "$run_host" "$run_what" "$run_so" "$tmp/plain.so" "$tmp" "$@"
}
clean() { # NAME: no descriptor or mapping is left, and the size is the same
	is "$1" "$(diff "$tmp/before" "$tmp/after" 2>&1)" ''
}
counts() { sed 's/, [^,]* s$//' "$tmp/err"; }
collect="$BIN/ctp-collect -o $tmp/t.ctp"


for host in host probed; do
	for so in a.so cxx.so other.so; do
		with=
		ok "$host: $so, loaded and unloaded $cycles times" run $host cycle $so $cycles
		clean 'nothing is left'
		with='env CTP_RECORD=0'
		ok 'it is loaded and unloaded with CTP_RECORD=0' run $host cycle $so 10
		clean 'nothing is left'
		with='env CTP_RECORD=1'
		ok 'it is loaded and unloaded with CTP_RECORD=1' run $host cycle $so $cycles
		clean 'nothing is left'
	done
done

# The program's attachment has one more ring then, which is reused.
with=$collect
run host cycle a.so $cycles 2>"$tmp/err"
clean 'nothing is left below a collector'
is 'the trace has all events' "$(counts)" "ctp-collect: $((cycles * 9)) events, $((cycles * 3)) coroutines, 0 lost, 0 untraced"
run probed again a.so $cycles 2>"$tmp/err" >"$tmp/out"
clean 'nor where the program has a probe too'
is 'the trace of the program has all events' \
	"$(counts)" "ctp-collect: $((cycles * 9 + 14)) events, $((cycles * 3 + 5)) coroutines, 0 lost, 0 untraced"
is 'the places of a plugin are the same each time, and one ring is enough for it' "$(cat "$tmp/out")" 'sites 5, rings 2'
run host cycle cxx.so 100 2>"$tmp/err"
is 'events of destructors of static objects are recorded' "$(counts)" 'ctp-collect: 200 events, 100 coroutines, 0 lost, 0 untraced'
is 'their deaths are recorded' "$("$BIN/ctp-tojsonl" -a "$tmp/t.ctp" | grep -c '"type":"death"')" 100

# A collector attaches while the plugin is loaded, and sees all that is loaded later.
with=
"$tmp/host" visit "$tmp/a.so" "$tmp/plain.so" "$tmp" $cycles "$tmp/go" >"$tmp/out" 2>&1 &
host=$!
until grep -q ready "$tmp/out" || ! kill -0 $host 2>/dev/null; do sleep 0.1; done
"$BIN/ctp-collect" -p $host -o "$tmp/t.ctp" 2>"$tmp/err" &
collector=$!
until grep -q done "$tmp/out" || ! kill -0 $host 2>/dev/null; do sleep 0.1; done
is 'while a collector visits, only its memory stays' "$(diff "$tmp/before" "$tmp/there" | sed -n 's/^[<>] [0-9]* //p')" '/memfd:ctp (deleted)'
is 'the memory is reused' "$(grep rings "$tmp/out")" 'sites 3, rings 1'
kill -INT $collector
wait $collector
: >"$tmp/go"
wait $host
is 'the program has ended with status 0' $? 0
clean 'and when the collector has gone, nothing is left'
is 'the collector has all events' "$(counts | tail -n 1 | sed 's/ (.*//')" "ctp-collect: $((cycles * 9 + 3)) events, $((cycles * 3 + 1)) coroutines, 0 lost, 0 untraced"

# Objects that are loaded at the same time.
same() { diff "$tmp/before" "$tmp/there" | grep '^[<>]' | grep -v '/b.so$\|MiB$\|/other.so$'; }
for with in '' 'env CTP_RECORD=1' "$collect -q"; do
	ok "two plugins, ${with:-untraced}" run host two a.so 0 "$tmp/b.so"
	is 'they share one attachment' "$(same | grep -v ' 00:00 0 *$' | grep -v rw-s)" ''
	ok 'no descriptor of it is left open' test "$(grep -c memfd "$tmp/after")" = 0
done
with=
ok 'two plugins of two versions run' run host two a.so 0 "$tmp/other.so"
ok 'nothing of them is left' test "$(grep -c memfd "$tmp/after")" = 0

for with in 'env CTP_RECORD=1' "$collect -q"; do
	is "a coroutine that the program keeps outlives its plugin, $with" "$(run probed outlive a.so 10)" '1 1'
	for host in host probed; do
		ok "$host: threads that end after the plugin is unloaded do no harm" run $host threads a.so 50
		is "$host: forks before and after the unload do no harm" "$(run $host fork a.so 20)" 0
	done
	for host in host probed; do
		for i in 1 2 3 4 5 6 7 8; do
			run $host exit a.so || echo "status $?"
		done >"$tmp/out" 2>&1
		is "$host: an exit while threads are in the plugin does no harm" "$(cat "$tmp/out")" ''
	done
done
done_testing
