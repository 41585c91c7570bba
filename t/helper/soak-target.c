/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * soak-target.c - the program of the soak: short-lived threads and coroutines, forks; and an exact account of
 * all calls of the probe, in a file.
 *
 * A thread works on a block of coroutines. When its turn is over it ends, and the next thread continues with the block. In a pause
 * no probe is called. The address of a suspension is the number of that event in its life, from 1 on.
 */
#include "ctp.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "soak.h"

static struct soak_account *account;
static unsigned nthreads;
static uint64_t rate; /* events a second of a thread; 0: as fast as may be */

struct worker {
	pthread_t thread;
	unsigned block;
	uint64_t dice, due_ns;
	bool runs, over; /* over: to be joined */
	struct ctp_coro co[SOAK_SLOTS];
	bool alive[SOAK_SLOTS];
};

static struct worker workers[SOAK_BLOCKS];

#define PUT(at, value) __atomic_store_n((at), (value), __ATOMIC_SEQ_CST)
#define GET(at) __atomic_load_n((at), __ATOMIC_SEQ_CST)
/* Only this thread writes it; the order matters, because a kill may come between any two instructions. */
#define TELL(at, value)                                             \
	do {                                                        \
		__atomic_signal_fence(__ATOMIC_SEQ_CST);            \
		__atomic_store_n((at), (value), __ATOMIC_RELAXED);  \
		__atomic_signal_fence(__ATOMIC_SEQ_CST);            \
	} while (0)
#define TOLD(block, kind, call)                                     \
	do {                                                        \
		TELL(&(block)->began[kind], (block)->began[kind] + 1); \
		call;                                               \
		TELL(&(block)->done[kind], (block)->done[kind] + 1); \
	} while (0)

static uint64_t roll(struct worker *w, uint64_t below)
{
	w->dice ^= w->dice << 13, w->dice ^= w->dice >> 7, w->dice ^= w->dice << 17;
	return w->dice % below;
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void nap(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)}, NULL);
}

static void birth(struct worker *w, struct soak_block *b, unsigned slot)
{
	uint64_t life = soak_life(b->slots[slot].done), id = soak_id(w->block, slot, life);
	struct ctp_coro *co = &w->co[slot];
	char name[32];
	TOLD(b, SOAK_BIRTHS, ctp_coro_new(co, id));
	if (roll(w, 16) == 0 && ctp_coro_traced(co)) {
		snprintf(name, sizeof name, "life %llx", (unsigned long long)id);
		TOLD(b, SOAK_NAMES, ctp_coro_name(co, name));
	}
	w->alive[slot] = true;
}

static void death(struct worker *w, struct soak_block *b, unsigned slot)
{
	struct soak_slot *s = &b->slots[slot];
	uint64_t next = soak_word(soak_life(s->done) + 1, 0);
	TELL(&s->began, next);
	TOLD(b, SOAK_DEATHS, ctp_coro_death(&w->co[slot]));
	TELL(&s->done, next);
	w->alive[slot] = false;
}

static void event(struct worker *w, struct soak_block *b, unsigned slot)
{
	struct soak_slot *s = &b->slots[slot];
	struct ctp_coro *co = &w->co[slot];
	uint64_t number = soak_event(s->done), next = s->done + 1;
	TELL(&s->began, next);
	if (number % 2)
		ctp_coro_resume(co);
	else
		ctp_coro_suspend(co, (const void *)(uintptr_t)(number + 1));
	if (!ctp_coro_traced(co))
		TELL(&s->unrecorded, s->unrecorded + 1);
	TELL(&s->done, next);
}

/* Another coroutine of the block is woken, or awaited by this one. */
static void tell(struct worker *w, struct soak_block *b, unsigned slot)
{
	struct ctp_coro *co = &w->co[slot], *other = &w->co[roll(w, SOAK_SLOTS)];
	if (!ctp_coro_ref(other) || !ctp_coro_traced(co))
		return;
	if (roll(w, 3))
		TOLD(b, SOAK_WAKES, ctp_coro_wake(other));
	else
		TOLD(b, SOAK_AWAITS, ctp_coro_await(co, other));
}

static unsigned burst(struct worker *w, unsigned slot)
{
	struct soak_block *b = &account->blocks[w->block];
	struct soak_slot *s = &b->slots[slot];
	unsigned n = 1 + (unsigned)roll(w, 16);
	if (!w->alive[slot])
		birth(w, b, slot);
	uint64_t last = soak_events(soak_id(w->block, slot, soak_life(s->done)));
	for (unsigned i = 0; i < n && soak_event(s->done) < last; i++)
		event(w, b, slot);
	if (roll(w, 8) == 0)
		tell(w, b, slot);
	if (soak_event(s->done) == last)
		death(w, b, slot);
	return n;
}

/* False: the thread must end. */
static bool may_go_on(struct soak_block *b)
{
	for (;;) {
		uint64_t want = GET(&account->want);
		if (want != SOAK_PAUSE) {
			PUT(&b->rests, 0);
			if (GET(&account->want) == want)
				return want == SOAK_RUN;
		}
		PUT(&b->rests, 1);
		nap(1000000);
	}
}

/* At an even rate: a thread that is late does not catch up. */
static void pace(struct worker *w, unsigned events)
{
	if (!rate)
		return;
	uint64_t now = now_ns();
	w->due_ns += events * UINT64_C(1000000000) / rate;
	if (now > w->due_ns + 20000000)
		w->due_ns = now;
	if (w->due_ns > now + 500000)
		nap(w->due_ns - now);
}

static void *turn(void *arg)
{
	struct worker *w = arg;
	struct soak_block *b = &account->blocks[w->block];
	for (uint64_t left = 1000 + roll(w, 400000), n; left && may_go_on(b); left -= n < left ? n : left) {
		n = burst(w, (unsigned)roll(w, SOAK_SLOTS));
		pace(w, (unsigned)n);
	}
	PUT(&b->rests, 1);
	PUT(&w->over, true);
	return NULL;
}

/* In the child of a fork: coroutines of its own, each for one life. Calls for inherited coroutines must have no effect. */
static _Noreturn void child(pid_t parent)
{
	struct worker *w = &workers[SOAK_CHILD];
	struct soak_block *b = &account->blocks[SOAK_CHILD];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (unsigned slot = 0; slot < SOAK_SLOTS && may_go_on(b); slot++) {
		uint64_t life = soak_life(b->slots[slot].done);
		ctp_coro_resume(&workers[0].co[slot]);
		do
			burst(w, slot);
		while (soak_life(b->slots[slot].done) == life);
	}
	_exit(0);
}

static void fork_one(void)
{
	static uint64_t count;
	pid_t parent = getpid();
	workers[SOAK_CHILD] = (struct worker){.block = SOAK_CHILD, .dice = 0x9e3779b97f4a7c15 + ++count};
	pid_t pid = fork();
	if (pid == 0)
		child(parent);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	PUT(&account->blocks[SOAK_CHILD].rests, 1);
	account->forks++;
}

static void next_turn(struct worker *w)
{
	if (w->over) {
		pthread_join(w->thread, NULL);
		account->threads++;
	}
	w->runs = w->over = false;
	if (GET(&account->want) == SOAK_END)
		return;
	w->runs = !pthread_create(&w->thread, NULL, turn, w);
}

static void run(bool forks)
{
	for (unsigned i = 0; i < nthreads; i++) {
		workers[i] = (struct worker){.block = i, .dice = 0x2545f4914f6cdd1d + i + ((uint64_t)getpid() << 16)};
		next_turn(&workers[i]);
	}
	for (unsigned round = 0, left = nthreads; left; round++) {
		nap(2000000);
		left = 0;
		for (unsigned i = 0; i < nthreads; i++) {
			if (GET(&workers[i].over) || !workers[i].runs)
				next_turn(&workers[i]);
			left += workers[i].runs;
		}
		if (forks && round % 32 == 31 && GET(&account->want) == SOAK_RUN)
			fork_one();
		if (kill((pid_t)account->driver, 0) && errno == ESRCH)
			_exit(3);
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 5 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0) {
		fputs("usage: soak-target ACCOUNT THREADS RATE FORKS\n", stderr);
		return 2;
	}
	account = mmap(NULL, sizeof *account, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	nthreads = (unsigned)strtoul(argv[2], NULL, 10);
	rate = strtoull(argv[3], NULL, 10);
	if (account == MAP_FAILED || account->magic != SOAK_MAGIC || !nthreads || nthreads > SOAK_CHILD)
		return 2;
	for (unsigned i = 0; i < SOAK_BLOCKS; i++)
		account->blocks[i].rests = 1;
	ctp_init();
	PUT(&account->pid, (uint64_t)getpid());
	run(strtoul(argv[4], NULL, 10));
	return 0;
}
