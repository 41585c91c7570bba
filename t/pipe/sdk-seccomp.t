#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A program that confines itself to the system calls in ctp.h(3) can be traced in all modes; and each of these calls is needed.
# Not under sanitizers: it compiles its programs itself.
. t/helper/tap.sh
cc=${CC:-cc}
page=doc/ctp.h.3

calls() { # COMMENT: the calls after it in the manual, one per line
	sed -n "/^\.\\\\\" $1\$/,/^\.\\\\\" end of calls/p" $page | sed -n 's/^\.Xr //p' | tr ',' '\n' | sed 's/ *2.*//; s/ //g; /^$/d'
}
calls 'calls after ctp_init' >"$tmp/after"
calls 'calls to attach' >"$tmp/attach"
is 'the manual has two lists of calls' "$(wc -l <"$tmp/after" | tr -d ' ') $(wc -l <"$tmp/attach" | tr -d ' ')" '19 7'
{
	for list in after attach; do
		printf 'static const struct call %s[] = {\n' $list
		sed 's/.*/	{ "&", SYS_& },/' "$tmp/$list"
		printf '	{ 0, 0 }\n};\n'
	done
} >"$tmp/calls.h"

cat >"$tmp/confined.c" <<'C'
/*
 * confined FEATURE [WITHOUT] - uses the probe in one way, and may use no other system call from then on than the manual's but
 * WITHOUT, and a few that the probe has no use for. With FAIL in its environment others fail, else they end it.
 */
#include <sys/mman.h>
static void *hooked_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
#define mmap hooked_mmap
#include "ctp.h"
#undef mmap
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct call { const char *name; long number; };
#include "calls.h"
static const struct call own[] = { { "own", SYS_exit_group }, { "own", SYS_exit }, { "own", SYS_write }, { "own", SYS_clone }, { "own", SYS_wait4 },
	{ "own", SYS_sched_yield }, { "own", SYS_rt_sigreturn }, { "own", SYS_brk }, { 0, 0 } };
static const char *without = "";

static struct sock_filter code[200];
static unsigned short used;
static void allow(const struct call *calls)
{
	for (; calls->name; calls++)
		if (strcmp(calls->name, without)) {
			code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls->number, 0, 1);
			code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		}
}
static void confine(bool attaches)
{
	code[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	allow(own);
	allow(after);
	if (attaches)
		allow(attach);
	uint32_t others = getenv("FAIL") ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS;
	code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
	struct sock_fprog program = { used, code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		_exit(77);
}

/* As if another thread had done the same between the mapping and what comes of it. */
static bool overtaken;
static void *hooked_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	if (overtaken) {
		overtaken = false;
		ctp_extend_(ctp_current_);
	}
	return mmap(at, bytes, prot, flags, fd, offset);
}

static void work(void)
{
	static uint32_t line;
	for (int i = 0; i < 200; i++) {
		struct ctp_coro a, b;
		ctp_coro_new(&a, 0);
		ctp_coro_new(&b, 0);
		ctp_coro_name(&a, "a");
		ctp_coro_resume(&a);
		ctp_coro_await(&a, &b);
		ctp_coro_suspend_in(&a, CTP_HERE, ctp_site_number("confined.c", ++line, "work"));
		ctp_coro_wake(&a);
		ctp_coro_resume(&a);
		ctp_coro_yield(&a, CTP_HERE);
		ctp_ref_wake(ctp_coro_ref(&b));
		ctp_coro_death(&b);
		if (i % 2)
			ctp_coro_death(&a); /* others live on: more stations are needed */
	}
}
static struct ctp_shm_header *head(void) { return ctp_current_->shm; }
static void follow(uint32_t more) { CTP_PUT_(&head()->mode, CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_MEMBARRIER | more); }

/* Threads that are there before, and end without a call of libc's. */
static int turn, there;
static void *thread(void *arg)
{
	__atomic_fetch_add(&there, 1, __ATOMIC_RELAXED);
	while (CTP_GET_(&turn) != (int)(intptr_t)arg)
		sched_yield();
	work();
	CTP_PUT_(&turn, 0);
	syscall(SYS_exit, 0);
	return NULL;
}
static void threads_start(void)
{
	pthread_t t;
	for (intptr_t i = 1; i <= 2; i++)
		pthread_create(&t, NULL, thread, (void *)i);
	while (CTP_GET_(&there) < 2)
		sched_yield();
}
static void threads_work(void)
{
	for (int i = 1; i <= 2; i++) {
		CTP_PUT_(&turn, i);
		while (CTP_GET_(&turn))
			sched_yield();
	}
}

static void rouse(void)
{
	struct ctp_coro co;
	CTP_PUT_(&head()->tracer_sleeping, 1);
	ctp_coro_new(&co, 0);
}

/* A collector comes, as one would, and another one. */
static void visited(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	snprintf(un.sun_path, sizeof un.sun_path, "%s/sock-%d", getenv("DIR"), (int)getpid());
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&un, sizeof un) || listen(listener, 4))
		_exit(77);
	confine(false);
	strcpy(head()->sock, un.sun_path);
	for (int i = 0; i < 2; i++) {
		head()->epoch++;
		overtaken = !i;
		follow(0);
		work();
		if (!i)
			threads_work();
		rouse(); /* connects */
		rouse(); /* sends */
	}
}
static void lossless(void)
{
	struct ctp_coro co;
	head()->wait_us = 300000;
	follow(CTP_MODE_LOSSLESS);
	ctp_coro_new(&co, 0);
	for (int i = 0; i < 1 << 20; i++)
		ctp_coro_resume(&co);
}
/* The same, in a child that is stopped again and again. */
static int stopped(void)
{
	int status;
	pid_t pid = fork();
	if (!pid) {
		ctp_init();
		confine(true);
		lossless();
		_exit(0);
	}
	while (!waitpid(pid, &status, WNOHANG)) {
		kill(pid, SIGSTOP);
		kill(pid, SIGCONT);
		usleep(500);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
/* The only ring is that of a process which is gone. */
static void bereaved(void)
{
	struct ctp_probe_ *p = ctp_current_;
	pid_t pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	ctp_extend_(p);
	p->max_rings = head()->rings_used = 1;
	((struct ctp_shm_ring *)(p->base + p->rings_at))->owner = (uint64_t)pid << 32 | (uint32_t)pid;
	confine(false);
	follow(0);
	work();
}
static void deserted(void)
{
	confine(false);
	follow(0);
	head()->allocated_count = ctp_current_->max_stations; /* there are none left, and nobody who would free them */
	work();
}
static void descriptors_close(void)
{
	for (int fd = CTP_FD_; fd <= CTP_FD_LAST_; fd++)
		close(fd);
}
static void child(void)
{
	confine(true);
	work();
	long pid = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
	int status = 0;
	work();
	if (!pid)
		_exit(0);
	if (syscall(SYS_wait4, pid, &status, 0, NULL) != pid || status)
		_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 2);
}
/* A child without other threads, in strict mode or without the processor's counter; "on" has the counter again. Its end. */
static int ends(const char *how)
{
	struct ctp_coro co;
	int status;
	pid_t pid = fork();
	if (!pid) {
		ctp_init();
		ctp_coro_new(&co, 0); /* what it needs of the system, it has now */
		long failed = *how == 's' ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) : prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
		if (!strcmp(how, "on"))
			failed |= prctl(PR_SET_TSC, PR_TSC_ENABLE);
		if (failed)
			syscall(SYS_exit, 77L);
		ctp_coro_resume(&co);
		ctp_coro_death(&co);
		syscall(SYS_exit, 0L);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
static void plugin(const char *path, bool unload)
{
	void *so = dlopen(path, RTLD_NOW);
	int (*use)(void);
	*(void **)&use = dlsym(so, "use");
	use();
	confine(true);
	work(); /* joins it */
	if (unload)
		dlclose(so);
	work();
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	without = argc > 2 ? argv[2] : "";
	threads_start();
	if (!strcmp(what, "strict") || !strcmp(what, "off") || !strcmp(what, "on"))
		return ends(what);
	bool late = !strcmp(what, "late") || !strcmp(what, "join") || !strcmp(what, "unload") || !strcmp(what, "stopped");
	if (!late && (ctp_init(), !ctp_current_->mode))
		return 77;
	if (!strcmp(what, "stopped"))
		return stopped();
	else if (!strcmp(what, "visited"))
		visited();
	else if (!strcmp(what, "bereaved"))
		bereaved();
	else if (!strcmp(what, "deserted"))
		deserted();
	else if (!strcmp(what, "fork"))
		child();
	else if (!strcmp(what, "join") || !strcmp(what, "unload"))
		plugin(getenv("PLUGIN"), *what == 'u');
	else if (!strcmp(what, "closed"))
		descriptors_close(), confine(false), work(), threads_work();
	else if (!strcmp(what, "late"))
		confine(true), work(), threads_work();
	else if (!strcmp(what, "lossless"))
		confine(false), lossless();
	else if (!strcmp(what, "wait")) { /* for a collector that comes, until it goes */
		confine(false);
		if (write(1, "ready\n", 6) != 6)
			return 1;
		while (!ctp_traced())
			sched_yield();
		threads_work();
		while (ctp_traced())
			work();
	} else /* work */
		confine(false), work(), threads_work();
	_exit(0);
}
C
printf '#include "ctp.h"\nint use(void);\nint use(void) { struct ctp_coro co; ctp_coro_new(&co, 0); return 0; }\n' >"$tmp/plugin.c"
ok 'the program compiles' $cc -std=gnu11 -O1 -pthread -Isdk/c -o "$tmp/confined" "$tmp/confined.c" -ldl
[ -x "$tmp/confined" ] || done_testing
ok 'the plugin compiles' $cc -std=gnu11 -O1 -fPIC -shared -Isdk/c -o "$tmp/plugin.so" "$tmp/plugin.c"
export PLUGIN="$tmp/plugin.so" DIR="$tmp"
"$tmp/confined" work
[ $? != 77 ] || skip_all 'no filter for system calls can be set here'

collect="$BIN/ctp-collect -q -o $tmp/t.ctp"
features='visited lossless bereaved deserted stopped fork late join unload work closed'
for what in $features; do
	ok "$what" "$tmp/confined" $what
	CTP_RECORD=1 ok "$what, recording" "$tmp/confined" $what
done
for what in work closed fork late join unload; do
	ok "$what, under a collector" $collect "$tmp/confined" $what
	ok "$what, with a memory that is a file" $collect --shm "$tmp/m" "$tmp/confined" $what
	ok "$what, with --lossless" $collect --lossless --ring 2048 "$tmp/confined" $what
done
ok 'variables of a collector that is gone do no harm' env CTP_SHM_PATH=/nonexistent "$tmp/confined" work

for option in '' --lossless; do
	: >"$tmp/out"
	"$tmp/confined" wait >"$tmp/out" &
	pid=$!
	until grep -q ready "$tmp/out" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	$collect $option -p $pid -t 0.5 2>"$tmp/err" || { diag "status $?: $(cat "$tmp/err")"; kill $pid; }
	wait $pid
	is "ctp-collect $option can visit it" $? 0
done

# What the manual says of the strict mode, and of the processor's counter.
"$tmp/confined" strict
status=$?
if [ $status = 77 ]; then
	skip 'there is no strict mode here'
else
	is 'strict mode: untraced, the probe does no harm' $status 0
	CTP_RECORD=1 "$tmp/confined" strict
	status=$?
	case $(uname -m) in
	x86_64) is 'strict mode: an event ends the program by SIGSEGV' $status 139 ;;
	*) note "strict mode: status $status" ;;
	esac
fi
"$tmp/confined" off
if [ $? = 77 ]; then
	skip 'the counter cannot be disabled here'
else
	CTP_RECORD=1 "$tmp/confined" off
	is 'without the counter, an event ends the program by SIGSEGV' $? 139
	ok '  with the counter enabled again, it runs' env CTP_RECORD=1 "$tmp/confined" on
fi

# Each is needed by something.
clock=/sys/devices/system/clocksource/clocksource0/current_clocksource
needs() { # CALL FEATURE: without the call it ends by a SIGSYS
	case $2 in
	shm-*) $collect --shm "$tmp/m" "$tmp/confined" "${2#shm-}" "$1" ;;
	*) "$tmp/confined" "$2" "$1" ;;
	esac >/dev/null 2>&1
	[ $? = 159 ] # 128 and SIGSYS
}
while read -r call; do
	if [ "$call" = read ] && [ ! -e "$clock" ]; then
		skip "read is for $clock, which is not there"
		continue
	fi
	for what in visited lossless bereaved shm-work shm-closed late join unload stopped ''; do
		[ -n "$what" ] && needs "$call" "$what" && break
	done
	ok "$call is needed: ${what:-by nobody}" test -n "$what"
done <<LIST
$(cat "$tmp/after" "$tmp/attach")
LIST

export FAIL=1
for what in visited lossless late; do
	for call in $(cat "$tmp/after" "$tmp/attach"); do
		timeout 60 "$tmp/confined" $what $call || echo "$call: $?"
	done >"$tmp/out" 2>&1
	is "$what: a call that fails does no harm" "$(cat "$tmp/out")" ''
done
done_testing
