/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-sdk.c - sdk/ppt/ppt.h with one thread: what a save does without an agent, with one, with another, and without one again. */
#include "ppt.h"
#include "ppt-agent.h"
#include "tap.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

PPT_BUFFER(Two, 512, monotonic,
           (request, (int, status), (byte, b), (float, f), (interval_time, busy), (interval_counter, work)),
           (tick, (time, at), (double, load), (counter, now)));
PPT_BUFFER(One, 16, realtime, (mark, (int, n), (double, x)));

enum { SLOT = sizeof(union ppt_One_any_) };

static void save_one(int n)
{
	struct ppt_One_mark m = {.n = n, .x = n / 2.0};
	ppt_One_mark_save(&m);
}

static void *mapped(struct ppt_buffer *b)
{
	return b->page ? b->page->control : NULL;
}

static const struct ppt_One_mark *one_at(const struct agent *a, unsigned i)
{
	return (const void *)(agent_slots(a, mapped(&ppt_buffer_One_)) + i * SLOT);
}

/* Reads a frame of One, as an agent does. */
static int read_one(const struct agent *a, unsigned i, uint32_t number, int *n)
{
	union ppt_One_any_ frame;
	int is = slot_read((const char *)one_at(a, i), SLOT, number, &frame);
	*n = frame.mark.n;
	return is == 1 && frame.mark.x == frame.mark.n / 2.0;
}

static void test_attach(void)
{
	struct agent a;
	int n;
	save_one(1);
	ok(!ppt_buffer_One_.page, "without an agent a save does nothing");
	agent_prepare(&a, &ppt_buffer_One_, 464 + 10 * SLOT, 464);
	agent_ask(&a);
	ok(!agent_attached(&a), "an agent's request does nothing before the next save");
	save_one(7);
	ok(agent_attached(&a), "the next save attaches");
	is_u64(segment_users(a.id), 2, "it attaches to the segment");
	size_t at = a.control->data_block - (uintptr_t)mapped(&ppt_buffer_One_);
	is_u64(at, 464 + 464 % SLOT, "the slots are where a generated client has them");
	is_u64(a.control->data_block_sz, (a.bytes - at) / SLOT, "there are as many slots as fit");
	ok(read_one(&a, 0, 1, &n) && n == 7, "the first frame is in slot 0, with number 1");
	for (int i = 8; i < 7 + (int)a.control->data_block_sz + 2; i++)
		save_one(i);
	uint32_t last = 2 + (uint32_t)a.control->data_block_sz;
	ok(read_one(&a, 1, last, &n) && n == 6 + (int)last, "after the last slot comes the first");

	ppt_turn_(&ppt_buffer_One_); /* as a thread does that saw the request, but is late */
	save_one(5);
	ok(read_one(&a, 2, ++last, &n) && n == 5, "a second attach changes nothing");

	agent_leave(&a);
	is_u64(segment_users(a.id), 2, "hmem set to 0 does nothing before the next save");
	save_one(9);
	is_u64(segment_users(a.id), 1, "the next save detaches");
	ok(fcntl(0, F_GETFD) >= 0, "descriptor 0 stays open");
	agent_ask(&a);
	save_one(10);
	ok(read_one(&a, 0, last + 1, &n) && n == 10, "attached again, frames begin in slot 0 and numbers continue");

	struct agent other;
	agent_prepare(&other, &ppt_buffer_One_, 4096, 416);
	agent_ask(&other);
	save_one(11);
	ok(read_one(&other, 0, last + 2, &n) && n == 11, "a save moves from one segment to another");
	is_u64(segment_users(a.id), 1, "the first segment is detached");
	agent_leave(&other);
	save_one(12);
	agent_free(&other);
	agent_free(&a);
}

static void test_refused(void)
{
	struct agent a;
	agent_prepare(&a, &ppt_buffer_One_, 4096, 464);
	agent_ask(&a);
	agent_free(&a);
	errno = 42;
	save_one(1);
	ok(!agent_asked(&a) && errno == 42, "a segment that is gone resets hmem, and errno is unchanged");
	static const struct {
		size_t bytes;
		uint64_t control_bytes;
		const char *what;
	} bad[] = {{4096, 0, "no control block"}, {4096, 55, "one that is too short"}, {4096, 465, "too long"}, {465, 464, "no room for a slot"},
	           {40, 40, "for a control block"}};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		agent_prepare(&a, &ppt_buffer_One_, bad[i].bytes, bad[i].control_bytes);
		agent_ask(&a);
		save_one(1);
		char zeros[4096] = {0};
		ok(!agent_asked(&a) && segment_users(a.id) == 1, "refused: %s", bad[i].what);
		ok(!memcmp(a.base + 8, zeros, bad[i].bytes - 8), "the segment is not written to");
		agent_free(&a);
	}
}

/* The JSON has the compiler's offsets. */
static int json_offset(const char *json, const char *frame, const char *member)
{
	char key[64];
	snprintf(key, sizeof key, "{\"_flName\":\"%s\"", frame);
	const char *at = strstr(json, key);
	snprintf(key, sizeof key, ",\"_lName\":\"%s\"", member);
	at = at ? strstr(at, key) : NULL;
	return at ? atoi(at - 7) : -1;
}

static void test_json(void)
{
	is_u64(json_offset(_ppt_json_Two, "request", "status"), offsetof(struct ppt_Two_request, status), "an int");
	is_u64(json_offset(_ppt_json_Two, "request", "f"), offsetof(struct ppt_Two_request, f), "a float, after a byte");
	is_u64(json_offset(_ppt_json_Two, "request", "busy_end"), offsetof(struct ppt_Two_request, busy_end), "an interval's end");
	is_u64(json_offset(_ppt_json_Two, "request", "work_2_start"), offsetof(struct ppt_Two_request, work_2_start), "a counter's start");
	is_u64(json_offset(_ppt_json_Two, "tick", "now_1"), offsetof(struct ppt_Two_tick, now_1), "a counter");
	is_u64(json_offset(_ppt_json_Two, "tick", "__ppt_seqno_back"), ppt_buffer_Two_.slot_bytes - 4, "the last word of a slot");
	ok(!strstr(_ppt_json_One, "__ppt_type"), "a buffer with one type of frames has no type field");
}

static void test_types(void)
{
	struct agent a;
	union ppt_Two_any_ got;
	agent_prepare(&a, &ppt_buffer_Two_, 65536, 464);
	agent_ask(&a);
	struct ppt_Two_request r = {.status = 200, .b = 255, .f = 0.5f};
	ppt_Two_request_busy_start(&r);
	ppt_Two_request_busy_end(&r);
	ppt_Two_request_save(&r);
	char *slots = agent_slots(&a, mapped(&ppt_buffer_Two_));
	is_u64(slot_read(slots, sizeof got, 1, &got), 1, "the first time stamp attaches, so the first frame is saved");
	ok(got.request.ppt_type_ == 1 && got.request.status == 200 && got.request.b == 255 && got.request.f == 0.5f,
	   "the frame has its values");
	ok(got.request.busy_start.sec > 0 && (got.request.busy_end.sec - got.request.busy_start.sec) * 1000000000 +
	   got.request.busy_end.nsec - got.request.busy_start.nsec >= 0, "the frame has its times");
	struct ppt_Two_tick t = {.load = -1.5};
	ppt_Two_tick_at_now(&t);
	ppt_Two_tick_save(&t);
	is_u64(slot_read(slots + sizeof got, sizeof got, 2, &got), 1, "a frame of the other type is saved");
	ok(got.tick.ppt_type_ == 2 && got.tick.load == -1.5 && !got.tick.now_0, "it has its values");

	/* Times of two attachments, or from before one, make no interval. */
	agent_leave(&a);
	ppt_Two_tick_save(&t);
	struct ppt_Two_tick other = {.load = 2};
	ppt_Two_tick_at_now(&other);
	ppt_Two_tick_save(&other);
	ppt_Two_request_busy_start(&r);
	agent_ask(&a);
	ppt_Two_request_busy_end(&r);
	ppt_Two_request_save(&r);
	is_u64(slot_read(slots, sizeof got, 3, &got), 0, "a frame begun before the attach is not saved");
	ppt_Two_request_busy_start(&r);
	agent_leave(&a);
	ppt_Two_tick_save(&t);
	agent_ask(&a);
	ppt_Two_request_busy_end(&r);
	ppt_Two_request_save(&r);
	is_u64(slot_read(slots, sizeof got, 3, &got), 0, "a frame begun in another attachment is not saved");
	ppt_Two_request_busy_start(&r);
	ppt_Two_request_busy_end(&r);
	ppt_Two_request_save(&r);
	is_u64(slot_read(slots, sizeof got, 3, &got), 1, "the next frame is saved, with the next number");
	ppt_Two_tick_at_now(&other);
	ppt_Two_tick_save(&other);
	is_u64(slot_read(slots + sizeof got, sizeof got, 4, &got), 1,
	       "after a frame saved without an agent, the next one is saved");
	agent_leave(&a);
	ppt_Two_close();
	is_u64(segment_users(a.id), 1, "closing the buffer detaches");
	agent_free(&a);
}

static int fds(void)
{
	int n = 0;
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static union ppt_Two_any_ counted(uint64_t control_bytes, bool closes_0)
{
	struct agent a;
	union ppt_Two_any_ got;
	uint32_t attr_bytes = (uint32_t)(control_bytes - 56) / 3 - 8;
	int before = fds(), zero = closes_0 ? dup(0) : -1;
	memset(&got, 0, sizeof got);
	agent_prepare(&a, &ppt_buffer_Two_, 65536, control_bytes);
	agent_counter(&a, 0, attr_bytes, PERF_COUNT_SW_TASK_CLOCK);
	agent_counter(&a, 1, attr_bytes, PERF_COUNT_SW_DUMMY);
	agent_counter(&a, 2, attr_bytes, PERF_COUNT_SW_TASK_CLOCK);
	agent_ask(&a);
	if (closes_0)
		close(0);
	struct ppt_Two_request r = {0};
	ppt_Two_request_work_start(&r);
	for (volatile int i = 0; i < 100000; i++)
		;
	ppt_Two_request_work_end(&r);
	ppt_Two_request_save(&r);
	slot_read(agent_slots(&a, mapped(&ppt_buffer_Two_)), sizeof got, (uint32_t)(ppt_buffer_Two_.page->gate >> 32), &got);
	if (closes_0)
		ok(fcntl(0, F_GETFD) < 0, "descriptor 0 was free, and is not used");
	if (closes_0 && dup2(zero, 0) == 0)
		close(zero);
	a.control->nr_perf_ctrs = 2; /* what an agent does for generated clients */
	agent_leave(&a);
	ppt_Two_request_save(&r);
	is_u64((uint64_t)fds(), (uint64_t)before, "no descriptor is left open, and 0 is there");
	agent_free(&a);
	return got;
}

static void test_counters(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = 112, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd >= 0)
		close((int)fd);
	uint64_t sizes[] = {464, 416};
	for (int i = 0; i < 2; i++) {
		union ppt_Two_any_ got = counted(sizes[i], i);
		const struct ppt_Two_request *r = &got.request;
		if (fd < 0)
			ok(!r->work_0_end && !r->work_1_end && !r->work_2_end, "without counters on this machine they are 0");
		else
			ok(r->work_0_end > r->work_0_start && !r->work_1_end && r->work_2_end > r->work_2_start && r->work_2_start,
			   "counters of entries of %d bytes", (int)(sizes[i] - 56) / 3);
	}

	/* A descriptor that the program has replaced is neither read nor closed. */
	if (fd >= 0) {
		struct agent a;
		int pipes[2];
		agent_prepare(&a, &ppt_buffer_Two_, 65536, 464);
		agent_counter(&a, 0, 128, PERF_COUNT_SW_TASK_CLOCK);
		agent_ask(&a);
		struct ppt_Two_request r = {0};
		ppt_Two_request_work_start(&r);
		int ours = ppt_counted_find_(&ppt_buffer_Two_, ppt_buffer_Two_.page)->fd[0] - 1;
		if (pipe(pipes) || write(pipes[1], "12345678901234567890123456789012", 32) != 32 || dup2(pipes[0], ours) < 0)
			exit(1);
		ppt_Two_request_work_end(&r);
		char text[32];
		ok(!r.work_0_end && read(pipes[0], text, 32) == 32, "a descriptor that the program has replaced is not read");
		agent_leave(&a);
		ppt_Two_request_save(&r);
		ok(fcntl(ours, F_GETFD) >= 0, "it is not closed");
		close(ours);
		close(pipes[0]);
		close(pipes[1]);
		agent_free(&a);
	}
}

static pthread_barrier_t all_have_read;

static void *read_counters(void *together)
{
	struct ppt_Two_request r = {0};
	ppt_Two_request_work_start(&r);
	if (together)
		pthread_barrier_wait(&all_have_read);
	return (void *)(uintptr_t)(r.work_0_start > 0);
}

/* Number of n threads that have counters, running at the same time or one after another. */
static uint64_t threads_counted(unsigned n, bool together)
{
	pthread_t threads[PPT_THREADS + 6];
	uint64_t have = 0;
	void *has;
	pthread_barrier_init(&all_have_read, NULL, n);
	for (unsigned i = 0; i < n; i++) {
		if (pthread_create(&threads[i % (PPT_THREADS + 6)], NULL, read_counters, together ? &all_have_read : NULL))
			exit(1);
		if (!together && !pthread_join(threads[i % (PPT_THREADS + 6)], &has))
			have += (uintptr_t)has;
	}
	for (unsigned i = 0; together && i < n; i++)
		have += !pthread_join(threads[i], &has) && has;
	pthread_barrier_destroy(&all_have_read);
	return have;
}

static void attach_counted(struct agent *a)
{
	agent_prepare(a, &ppt_buffer_Two_, 65536, 464);
	agent_counter(a, 0, 128, PERF_COUNT_SW_TASK_CLOCK);
	agent_ask(a);
	ppt_Two_request_save(&(struct ppt_Two_request){0});
}

static void detach(struct agent *a)
{
	agent_leave(a);
	ppt_Two_request_save(&(struct ppt_Two_request){0});
	agent_free(a);
}

static void test_threads(void)
{
	struct agent a;
	int before = fds(), tries = 0;
	attach_counted(&a);
	if (threads_counted(1, false)) {
		is_u64(threads_counted(PPT_THREADS + 200, false), PPT_THREADS + 200,
		       "short-lived threads have counters, however many there are");
		is_u64(a.control->client_flags, 0, "no flag is set");
		detach(&a);
		attach_counted(&a);
		is_u64(threads_counted(PPT_THREADS + 6, true), PPT_THREADS,
		       "of too many threads at the same time, some have no counters");
		is_u64(a.control->client_flags, PPT_CROWDED_, "a flag tells the agent");
		while (++tries < 10000 && !threads_counted(1, false)) /* a joined thread may not have ended quite */
			;
		ok(tries < 10000, "counters of ended threads are used for others");
	} else {
		is_u64(a.control->client_flags, PPT_UNOPENED_, "without counters on this machine a flag tells the agent");
	}
	detach(&a);
	is_u64((uint64_t)fds(), (uint64_t)before, "no descriptor of a counter is left open");
}

static int child_status(pid_t pid)
{
	int status;
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int in_confined_child(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 77;
	struct agent a;
	union ppt_Two_any_ got;
	agent_prepare(&a, &ppt_buffer_Two_, 65536, 464);
	agent_counter(&a, 0, 128, PERF_COUNT_SW_TASK_CLOCK);
	agent_ask(&a);
	struct ppt_Two_request r = {.status = 5};
	ppt_Two_request_work_start(&r);
	ppt_Two_request_work_end(&r);
	ppt_Two_request_save(&r);
	int is = slot_read(agent_slots(&a, mapped(&ppt_buffer_Two_)), sizeof got, 1, &got);
	bool told = a.control->client_flags == PPT_UNOPENED_;
	agent_free(&a);
	return is == 1 && told && got.request.status == 5 && !got.request.work_0_start && !got.request.work_0_end ? 0 : 1;
}

static void test_confined(void)
{
	pid_t pid = fork();
	if (!pid)
		_exit(in_confined_child());
	int status = child_status(pid);
	ok(status == 0 || status == 77, "a program that may not use counters saves frames without them (%d)", status);
}

static int in_child(const struct agent *parent, int inherited)
{
	int n;
	if (agent_asked(parent) != inherited)
		return 2;
	save_one(100);
	save_one(101);
	if (agent_asked(parent) || mapped(&ppt_buffer_One_))
		return 3;
	struct agent a;
	agent_prepare(&a, &ppt_buffer_One_, 4096, 464);
	agent_ask(&a);
	save_one(102);
	int status = read_one(&a, 0, 1, &n) && n == 102 ? 0 : 4;
	agent_free(&a);
	return status;
}

static void test_fork(void)
{
	struct agent a;
	int n;
	agent_prepare(&a, &ppt_buffer_One_, 4096, 464);
	agent_ask(&a);
	pid_t pid = fork();
	if (!pid)
		_exit(in_child(&a, 0));
	is_u64((uint64_t)child_status(pid), 0, "an agent's request to a process does not affect its children");
	save_one(50);
	uint32_t number = (uint32_t)(ppt_buffer_One_.page->gate >> 32);
	pid = fork();
	if (!pid)
		_exit(in_child(&a, 0));
	is_u64((uint64_t)child_status(pid), 0, "a child of fork is attached to no agent, and then to its own agent");
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		_exit(in_child(&a, a.id));
	is_u64((uint64_t)child_status(pid), 0, "a child cloned without the C library does the same");
	save_one(51);
	ok(read_one(&a, 1, number + 1, &n) && n == 51, "the parent continues, and its ring has nothing of the child's");
	int held[2], c;
	if (pipe(held))
		exit(1);
	pid = fork();
	if (!pid) {
		close(held[1]);
		_exit(read(held[0], &c, 1) != 0);
	}
	is_u64(segment_users(a.id), 3,
	       "a child that saves nothing does not keep the segment (the third use is its copy of the agent's)");
	close(held[0]);
	close(held[1]);
	child_status(pid);
	agent_leave(&a);
	save_one(52);
	agent_free(&a);
}

static void test_numbers(void)
{
	struct agent a;
	int n, seen = 0, slots = 13;
	agent_prepare(&a, &ppt_buffer_One_, 4096, 464);
	agent_ask(&a);
	save_one(0);
	agent_leave(&a);
	save_one(0);
	__atomic_store_n(&ppt_buffer_One_.page->gate, (ppt_buffer_One_.page->gate & UINT32_MAX) | UINT64_C(0x7ffffff0) << 32, __ATOMIC_RELAXED);
	agent_ask(&a);
	for (int i = 0; i < 30; i++)
		save_one(i);
	for (unsigned i = 0; i < 30; i++)
		seen += read_one(&a, i, 0x7ffffff1 + i, &n) && n == (int)i;
	is_u64((uint64_t)seen, 30, "numbers continue below zero");

	/* As after 2^32 - 20 frames of an attachment, in a ring whose size is no power of two. */
	struct ppt_page_ *page = ppt_buffer_One_.page;
	uint64_t index = (UINT64_C(1) << 32) - 20;
	page->count = (uint32_t)slots;
	page->first = 1;
	page->last = index - 1000;
	page->gate = (page->gate & UINT32_MAX) | (index & UINT32_MAX) << 32;
	memset(agent_slots(&a, mapped(&ppt_buffer_One_)), 0, (size_t)slots * SLOT);
	seen = 0;
	for (int i = 0; i < 40; i++) {
		uint32_t number = (uint32_t)(index + 1 + (uint64_t)i);
		save_one(i);
		seen += read_one(&a, (unsigned)((index + (uint64_t)i) % (uint64_t)slots), number, &n) && n == i;
	}
	is_u64((uint64_t)seen, 39, "numbers wrap after 2^32, each in the slot of its index, and 0 is left out");
	agent_leave(&a);
	save_one(0);
	agent_free(&a);
}

static void test_taken(void)
{
	struct agent a;
	int n;
	agent_prepare(&a, &ppt_buffer_One_, 4096, 464);
	agent_ask(&a);
	save_one(0);
	uint32_t number = (uint32_t)(ppt_buffer_One_.page->gate >> 32);
	*(uint32_t *)one_at(&a, 1) = number - 10; /* a writer that was overtaken, and is in the middle of it */
	save_one(1);
	save_one(2);
	ok(one_at(&a, 1)->n == 0 && read_one(&a, 2, number + 2, &n) && n == 2,
	   "a slot with another writer in it is skipped: one frame is lost");
	*(uint32_t *)one_at(&a, 3) = ((uint32_t *)one_at(&a, 3))[SLOT / 4 - 1] = number + 100;
	save_one(3);
	ok(one_at(&a, 3)->n == 0, "a slot with a newer frame is skipped");
	agent_leave(&a);
	save_one(4);
	agent_free(&a);
}

int main(void)
{
	test_json();
	test_attach();
	test_refused();
	test_types();
	test_counters();
	test_threads();
	test_confined();
	test_fork();
	test_numbers();
	test_taken();
	return done_testing();
}
