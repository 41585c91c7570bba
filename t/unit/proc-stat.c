/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* Texts of /proc as kernels write them, with any name of a program, and truncated anywhere. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/proc-stat.h"
#include "collect/proc-state.h"
#include "tap.h"

#define REST " 1 7 7 0 -1 4194564 89 0 0 0 12 3 0 0 20 0 3 0 124 5918720 312 18446744073709551615 1 2 3 0 0 0 0 0 0 0 0 0 17 0 0\n"

/* A copy of exact size, so that a sanitizer sees a read past its end. */
static bool parse(const char *text, size_t len, struct ctp_proc_stat *st)
{
	char *copy = malloc(len + !len);
	if (len)
		memcpy(copy, text, len);
	*st = (struct ctp_proc_stat){0};
	bool good = ctp_proc_stat_parse(copy, len, st);
	free(copy);
	return good;
}

static void test_stat(void)
{
	static const char *const names[] = {"cat", "", ") R 1 1 1 1 1 4 ", "a) (b", "two\nlines) Z ", ")", "(((", ") S 1 2 3 4 5 6"};
	struct ctp_proc_stat st;
	char text[512];
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t len = (size_t)snprintf(text, sizeof(text), "4711 (%s) S" REST, names[i]);
		ok(parse(text, len, &st) && st.state == 'S' && st.flags == 4194564, "stat is read, whatever the name is: %zu", i);
		size_t name = strlen("4711 (") + strlen(names[i]) + 1, needed = len - strlen(strstr(text + name, " 89 ") + 1);
		for (; len; len--)
			if (parse(text, len - 1, &st) != (len - 1 >= needed) && len - 1 >= name)
				break;
		is_u64(len, 0, "a truncated text is read if it has the flags, and refused else");
	}
	static const char *const bad[] = {"", ")", "1 (a)", "1 (a) S", "1 (a) S ", "1 (a) S 1 2 3 4 5 x 1", "1 (a) S 1 2 3 4 5  1",
	                                  "1 (a) ? 1 2 3 4 5 6 7", "1 (a)S 1 2 3 4 5 6 7", "1 (a) SS 1 2 3 4 5 6 7",
	                                  "1 (a) S 1 2 3 4 5 4294967296 7", "1 (a) S 1 2 3 4 5 99999999999999999999 7"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!parse(bad[i], strlen(bad[i]), &st), "nonsense is refused: %zu", i);
}

static void test_schedstat(void)
{
	struct ctp_schedstat st;
	ok(ctp_schedstat_parse("144443 6585584 2\n", 17, &st) && st.cpu_ns == 144443 && st.delay_ns == 6585584,
	   "schedstat is read");
	ok(ctp_schedstat_parse("18446744073709551615 0 1\n", 25, &st) && st.cpu_ns == UINT64_MAX, "the largest number is read");
	ok(!ctp_schedstat_parse("18446744073709551616 0 1\n", 25, &st), "a larger number is refused");
	ok(!ctp_schedstat_parse("0 0 0\n", 6, &st), "zeros of a kernel that does not count are refused");
	ok(!ctp_schedstat_parse("1 ", 2, &st) && !ctp_schedstat_parse("1", 1, &st) && !ctp_schedstat_parse("", 0, &st) &&
	           !ctp_schedstat_parse("-1 2 3", 6, &st) && !ctp_schedstat_parse("1 2", 3, &st),
	   "an incomplete schedstat is refused");
}

static void test_number(void)
{
	unsigned depth;
#define NUMBER(text) ctp_proc_stat_number(text, strlen(text), &depth)
	is_u64(NUMBER("Name:\ta\nNgid:\t0\nNSpid:\t4711\nX:\t1\n"), 4711, "the number in one namespace is read");
	is_u64(depth, 1, "it is one namespace deep");
	is_u64(NUMBER("Name:\ta\nNSpid:\t4711\t12\t3\nX"), 3, "the number in the innermost namespace is read");
	is_u64(depth, 3, "it is three namespaces deep");
	ok(!NUMBER("Name:\tNSpid:\t1\n") && !NUMBER("\nNSpid:\t1") && !NUMBER("\nNSpid:\t\n") && !NUMBER("\nNSpid:\t1\tx\n") &&
	           !NUMBER("\nNSpid:") && !NUMBER("\nNSpid:\t99999999999\n") && !NUMBER(""),
	   "nonsense and truncated texts have no number");
	is_u64(depth, 0, "they have depth 0");
}

/* --- this very process ---------------------------------------------------------------------------------------------------- */

static bool count(void *arg, uint64_t tid)
{
	*(uint64_t *)arg += tid == (uint64_t)getpid() ? 1 : 1000;
	return true;
}

static void *wait_in_thread(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
	return NULL;
}

static void test_ourselves(void)
{
	struct ctp_proc_state p;
	struct ctp_proc_stat st;
	struct ctp_schedstat sched;
	unsigned depth;
	uint64_t sum = 0, me = (uint64_t)getpid();
	pthread_t t;
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	prctl(PR_SET_NAME, ") Z 1\n2 3 (4", 0, 0, 0);
	ctp_proc_state_init(&p, getpid());
	if (p.dir < 0)
		return;
	ok(ctp_proc_state_look(&p, false) && p.state == CTP_PROCESS_EXECUTING, "this process executes");
	int before = ctp_proc_state_threads(&p, 64, count, &sum);
	sum = 0;
	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, wait_in_thread, &m);
	int threads = ctp_proc_state_threads(&p, 64, count, &sum);
	ok(before > 0 && threads > before, "it has one thread more, or two with a sanitizer's own");
	is_u64(sum, 1 + 1000 * (uint64_t)(threads - 1), "one of them is the first thread");
	ok(ctp_proc_state_threads(&p, before, count, &sum) == -1, "more threads than there is room for are an error");
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	ok(ctp_proc_stat_of(p.dir, me, &st) && st.state == 'R', "the thread that reads its state runs");
	if (ctp_schedstat_of(p.dir, me, &sched))
		ok(sched.cpu_ns > 0, "it has used CPU time");
	ok(ctp_proc_stat_number_of(p.dir, me, &depth) == me && depth, "it has its own number");
	ok(!ctp_proc_stat_of(p.dir, 1, &st) || getpid() == 1, "threads of other processes are not found here");
	ctp_proc_state_fini(&p);
	pid_t child = fork();
	if (!child)
		_exit(0);
	ctp_proc_state_init(&p, child);
	siginfo_t info;
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	ok(ctp_proc_state_look(&p, false) && p.state == CTP_PROCESS_EXITING, "a zombie is exiting");
	waitid(P_PID, (id_t)child, &info, WEXITED);
	ok(!ctp_proc_state_look(&p, false) && p.gone, "after a wait it is gone");
	ctp_proc_state_fini(&p);
	ctp_proc_state_init(&p, child);
	ok(!ctp_proc_state_look(&p, false) && p.gone, "a process that ended before the first look is gone, too");
	ctp_proc_state_fini(&p);
}

int main(void)
{
	test_stat();
	test_schedstat();
	test_number();
	test_ourselves();
	return done_testing();
}
