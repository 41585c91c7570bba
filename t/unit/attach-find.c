/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * attach-find.c - which processes ctp-collect can attach to by /proc, and which it refuses: children of the test with the C probe
 * in them, and children with memory that only looks like the probe's.
 */
#include "ctp.h"

#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "collect/attach.h"
#include "tap.h"

struct child {
	pid_t pid;
	int end; /* the child ends when this is closed */
};

/* Starts a process, which has done its work when this returns, and then waits. */
static struct child start(void (*does)(void))
{
	int end[2], done[2];
	if (pipe(end) || pipe(done))
		exit(99);
	struct child c = {.pid = fork(), .end = end[1]};
	if (c.pid == 0) {
		close(end[1]);
		does();
		char byte = 1;
		ssize_t n = write(done[1], &byte, 1);
		n += read(end[0], &byte, 1);
		_exit(n != 1);
	}
	close(end[0]);
	close(done[1]);
	char byte;
	if (read(done[0], &byte, 1) != 1)
		diag("the child did not finish its work");
	close(done[0]);
	return c;
}

static void stop(struct child *c)
{
	close(c->end);
	waitpid(c->pid, NULL, 0);
}

static struct ctp_coro coros[8];

static void record(void)
{
	setenv("CTP_RECORD", "1", 1);
	for (int i = 0; i < 3; i++) {
		ctp_coro_new(&coros[i], 100 + (uint64_t)i);
		ctp_coro_suspend(&coros[i], CTP_HERE);
	}
	ctp_coro_death(&coros[0]);
}

static void nothing(void) {}

static void record_and_fork(void)
{
	record();
	if (fork())
		return;
	pause();
}

static void record_and_close(void)
{
	record();
	for (int fd = 900; fd < 1100; fd++)
		close(fd);
}

/* A memory with the probe's name that no probe has created. */
static void *make_fake(size_t bytes, bool sealed)
{
	int fd = memfd_create("ctp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) || (sealed && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)))
		_exit(98);
	return bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : NULL;
}

static void fake_empty(void) { make_fake(0, true); }
static void fake_zeros(void) { make_fake(65536, true); }

static void fake_arena(bool sealed, uint32_t allocated, uint32_t claimed)
{
	const struct ctp_geometry geo = {64, 64, 4, 8, 0};
	struct ctp_shm_header *head = make_fake(ctp_arena_bytes(&geo), sealed);
	ctp_arena_make(head, &geo);
	head->allocated_count = allocated;
	if (claimed)
		head->max_rings = claimed;
}

static void fake_unsealed(void) { fake_arena(false, 1, 0); }
static void fake_too_large(void) { fake_arena(true, 1, 1 << 20); }
static void fake_of_a_collector(void) { fake_arena(true, 1, 0); }

static void two_of_them(void)
{
	record();
	fake_arena(true, 50, 0);
}

static void a_fake_beside(void)
{
	fake_unsealed();
	fake_zeros();
	record();
}

/* --- */

static char said[512];
static void remember(void *arg, const char *text)
{
	(void)arg;
	snprintf(said, sizeof(said), "%s", text);
}
static const struct ctp_notice notice = {.say = remember};

/* True if it is found; else the reason, without the process, is in said. */
static bool find(struct ctp_attach *at, pid_t pid)
{
	struct ctp_err err = {0};
	said[0] = '\0';
	bool found = !ctp_attach_find(at, pid, &notice, &err);
	if (!found) {
		const char *colon = strchr(err.text, ':');
		snprintf(said, sizeof(said), "%s", colon ? colon + 2 : err.text);
	}
	return found;
}

struct listed {
	pid_t pid;
	unsigned times;
	char line[CTP_ATTACH_LINE_MAX];
};

static void list_one(void *arg, const struct ctp_attach *at)
{
	struct listed *l = arg;
	if (at->pid != l->pid)
		return;
	l->times++;
	ctp_attach_line(at, l->line);
}

static struct listed list(pid_t pid)
{
	struct listed l = {.pid = pid};
	ctp_attach_each(list_one, &l, &(size_t){0});
	return l;
}

static void test_found(void)
{
	struct child c = start(record);
	struct ctp_attach at;
	if (!find(&at, c.pid) && strstr(said, "Cannot allocate")) {
		stop(&c);
		skip_all("there is no room for a mapping of that size, as under TSan"); /* or under ulimit -v */
	}
	ok(at.arena.header, "a process that records is found: %s", said);
	is_u64(at.arena.owner, (uint64_t)c.pid, "the memory found is its own");
	is_u64(at.arena.header->allocated_count, 3, "the memory has its three coroutines");
	ctp_attach_fini(&at);
	struct listed l = list(c.pid);
	is_u64(l.times, 1, "the process is listed once");
	char want[128], number[16];
	struct stat ns;
	struct passwd *user = getpwuid(geteuid());
	snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
	if (stat("/proc/self/ns/pid", &ns))
		abort();
	snprintf(want, sizeof(want), "%7d %-19s %10u %6u %-12s %10ju ", (int)c.pid, "recording", 2u, 0u,
	         user && strlen(user->pw_name) <= 12 ? user->pw_name : number, (uintmax_t)ns.st_ino);
	ok(!strncmp(l.line, want, strlen(want)),
	   "the line has its state, number of living coroutines, user and namespace: \"%s\"", l.line);
	is_u64(strlen(want), sizeof(CTP_ATTACH_HEADING) - sizeof("COMMAND"), "the columns are aligned with the heading");
	kill(c.pid, SIGSTOP);
	ok(find(&at, c.pid), "a stopped process is found");
	ctp_attach_fini(&at);
	kill(c.pid, SIGKILL);
	siginfo_t info;
	waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT);
	ok(!find(&at, c.pid) && !strcmp(said, "has ended"), "a zombie is not found: %s", said);
	stop(&c);
	ok(!find(&at, c.pid) && !strcmp(said, "there is none"), "a process that is gone is not found: %s", said);
}

static void test_refused(void)
{
	static const struct {
		void (*does)(void);
		const char *why, *name;
	} cases[] = {
		{nothing, "no probe (ctp.h)", "a process without a probe"},
		{fake_empty, "mapping 0 bytes", "an empty memory"},
		{fake_zeros, "no shared memory of cTP", "one of zeros"},
		{fake_unsealed, "is not sealed", "one that could shrink under us"},
		{fake_too_large, "", "one that claims to be larger than it is"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct child c = start(cases[i].does);
		struct ctp_attach at;
		ok(!find(&at, c.pid) && strstr(said, cases[i].why), "%s is refused: %s", cases[i].name, said);
		is_u64(list(c.pid).times, 0, "it is not listed");
		stop(&c);
	}
	struct ctp_attach at;
	char name[16] = "";
	FILE *comm = fopen("/proc/2/comm", "re");
	bool is_kernel = comm && fgets(name, sizeof(name), comm) && !strcmp(name, "kthreadd\n"); /* not in a container */
	if (comm)
		fclose(comm);
	ok(!is_kernel || (!find(&at, 2) && (geteuid() || strstr(said, "of the kernel"))), "a kernel thread is refused: %s", said);
}

static void test_forked(void)
{
	struct child c = start(record_and_fork);
	char path[64], text[64] = "";
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)c.pid, (int)c.pid);
	FILE *in = fopen(path, "r");
	pid_t heir = in && fgets(text, sizeof(text), in) ? atoi(text) : 0;
	if (in)
		fclose(in);
	struct ctp_attach at;
	ok(find(&at, c.pid), "a process that has forked is found");
	ctp_attach_fini(&at);
	char want[64];
	snprintf(want, sizeof(want), "has only the memory of process %d,", (int)c.pid);
	ok(!find(&at, heir) && strstr(said, want), "its child is recognised as a child: %s", said);
	kill(heir, SIGKILL);
	stop(&c);
}

static void test_several(void)
{
	struct child c = start(two_of_them);
	struct ctp_attach at;
	ok(find(&at, c.pid), "a process with two memories is found");
	is_u64(at.arena.header->allocated_count, 50, "the memory with more coroutines is taken");
	ok(strstr(said, "3 coroutines of one are left out"), "the other memory is mentioned: %s", said);
	ctp_attach_fini(&at);
	stop(&c);
	c = start(a_fake_beside);
	ok(find(&at, c.pid) && at.arena.owner == (uint64_t)c.pid, "a fake memory does not hide the real one: %s", said);
	ctp_attach_fini(&at);
	stop(&c);
	c = start(record_and_close);
	bool found = find(&at, c.pid);
	if (!geteuid() && found)
		ok(at.arena.owner == (uint64_t)c.pid, "root finds the memory of a process that has closed all descriptors");
	else
		ok(!found && strstr(said, "as root"), "finding a process that has closed all descriptors needs root: %s", said);
	if (found)
		ctp_attach_fini(&at);
	stop(&c);
}

static struct ctp_attach theirs;
static void lock_theirs(void)
{
	struct ctp_err err;
	if (!find(&theirs, getppid()) || ctp_attach_lock(theirs.shm.fd, &err))
		_exit(97);
}

/* A child holds the lock on our memory. */
static void test_lock(void)
{
	fake_of_a_collector();
	struct child c = start(lock_theirs);
	struct ctp_attach at;
	struct ctp_err err;
	ok(!find(&at, c.pid) && !strcmp(said, "is a collector"), "a process that holds a lock is a collector: %s", said);
	is_u64(list(c.pid).times, 0, "a collector is not listed");
	struct child other = start(nothing); /* inherits our descriptors, as every child of this test */
	ok(find(&at, other.pid), "the process it collects from is found");
	char want[128];
	snprintf(want, sizeof(want), "another collector is attached to it (pid %d)", (int)c.pid);
	ok(ctp_attach_lock(at.shm.fd, &err), "that process cannot be locked");
	is(err.text, want, "the error names the collector");
	snprintf(want, sizeof(want), " collected by %d ", (int)c.pid);
	ok(strstr(list(other.pid).line, want), "the list names the collector");
	kill(c.pid, SIGKILL);
	stop(&c);
	ok(!ctp_attach_lock(at.shm.fd, &err), "the lock is free once the collector has died");
	ctp_attach_fini(&at);
	stop(&other);
}

int main(void)
{
	test_found();
	test_refused();
	test_forked();
	test_several();
	test_lock();
	return done_testing();
}
