/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * c.h - what the corpus' programs in C share: how a scenario is named, run and ended, and a small scheduler of stackful coroutines
 * with what goes with it (timers, descriptors, locks, channels), instrumented with ctp.h as its manual page asks for.
 *
 * One lock, co_big, guards all of the scheduler. Whoever parks takes it, links the coroutine where its waker will look, tells the
 * probe, and switches to the worker, which gives the lock back: nobody can wake or resume it before. Every suspension and every
 * wake goes through tp_suspend_at and tp_wake, so that CORPUS_ONE_PLACE and CORPUS_NO_WAKE hold for all of them.
 */
#include <ctp.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* Never inlined: a coroutine that comes back on another thread must not find a thread-local's address from before. */
#define CO_FN static __attribute__((unused, noinline))

enum { CO_STACK = 48 << 10, CO_FDS = 1024, CO_POOLS = 4, CO_BITE_MS = 700 };

/* --- the run -------------------------------------------------------------------------------------------------------------- */

struct scenario {
	const char *name, *what; /* "healthy", "defect" or "defect RULE,..." */
	void (*run)(void);       /* makes the first coroutines and starts the workers */
};

static bool co_twin, co_sick, co_stay, co_no_wake, co_one_place; /* sick: a defect, and not its twin */
static uint64_t co_began;
static int co_end_ms = 3800;   /* when the watchdog ends a defect */
static int co_parked_ms = 0;   /* when a healthy one exits although coroutines are parked; 0: when all have ended */
static int co_over_ms = 2400;  /* when a healthy one begins to finish */

CO_FN uint64_t co_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Milliseconds since the start. */
CO_FN int co_ms(void)
{
	return (int)((co_now_ns() - co_began) / 1000000);
}

/* Whether the fault bites now: after more than half a second of honest work, and not in the twin. */
CO_FN bool co_bites(void)
{
	return co_sick && co_ms() >= CO_BITE_MS;
}

/* Whether work is to come to an end: a defect goes on until its watchdog, who stays goes on for ever. */
CO_FN bool co_over(void)
{
	return !co_stay && !co_sick && co_ms() >= co_over_ms;
}

/* Work for the processor, for about this number of microseconds. */
CO_FN void co_spin_us(int us)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	uint64_t end = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + (uint64_t)us * 1000u;
	do {
		for (volatile int i = 0; i < 200; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec < end);
}

/* A plain sleep of the thread: what a blocking call does. */
CO_FN void co_block_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* --- the probe ------------------------------------------------------------------------------------------------------------ */

struct co_place {
	struct ctp_site *site;
	const void *addr;
};
#define CO_PLACE ((struct co_place){ CTP_SITE, CTP_HERE })

CO_FN void tp_new_at(struct ctp_coro *tp, struct ctp_site *spawned, const char *name)
{
	ctp_coro_new_at(tp, (uintptr_t)tp, spawned);
	ctp_coro_name(tp, name);
}
#define tp_new(tp, name) tp_new_at((tp), CTP_SITE, (name))

CO_FN struct co_place tp_place(struct co_place at)
{
	return co_one_place ? CO_PLACE : at; /* the one park() of a program that has one */
}

CO_FN void tp_suspend_at(struct ctp_coro *tp, struct co_place at)
{
	at = tp_place(at);
	ctp_coro_suspend_at(tp, at.addr, at.site);
}
#define tp_suspend(tp) tp_suspend_at((tp), CO_PLACE)

/*
 * What the next suspension waits for, and how much of that there is, as a runtime knows it that has these things. In this one every
 * wait can be cancelled but a join. A program that tells of no wakes tells nothing of this either.
 */
CO_FN void tp_waits_for(struct ctp_coro *tp, const void *object, uint32_t what)
{
	if (!co_no_wake)
		ctp_coro_waits_for(tp, object, what, 1, CTP_MARK_CANCELLABLE);
}

CO_FN void tp_object(const void *object, uint32_t what, int available)
{
	if (!co_no_wake)
		ctp_object(object, what, (uint64_t)(available > 0 ? available : 0));
}

CO_FN void tp_holds(uint64_t ref, const void *object, int n)
{
	if (!co_no_wake)
		ctp_ref_holds(ref, object, n);
}

CO_FN void tp_wake(struct ctp_coro *tp)
{
	if (!co_no_wake)
		ctp_coro_wake(tp);
}

CO_FN void tp_ref_wake(uint64_t ref)
{
	if (!co_no_wake)
		ctp_ref_wake(ref);
}

/* Waits for the end of target, and nothing else lets it go on: see co_cancel. */
CO_FN void tp_join(struct ctp_coro *tp, const struct ctp_coro *target)
{
#ifdef ctp_coro_yield /* a probe that has both */
	ctp_coro_join(tp, target);
#else
	ctp_coro_await(tp, target);
#endif
}

/* Gives way, and is ready again at once. */
CO_FN void tp_yield_at(struct ctp_coro *tp, struct co_place at)
{
#ifdef ctp_coro_yield
	if (!co_no_wake) {
		at = tp_place(at);
		ctp_coro_yield_at(tp, at.addr, at.site);
		return;
	}
#endif
	tp_suspend_at(tp, at);
	tp_wake(tp);
}

/* --- coroutines, run queues, workers -------------------------------------------------------------------------------------- */

struct co_list {
	struct co *first, *last;
};

struct co {
	struct ctp_coro tp;
	ucontext_t ctx;
	void (*fn)(void *);
	void *arg;
	struct co *prev, *next;   /* in: a run queue, or those who wait for something */
	struct co_list *in;
	struct co *sooner, *later; /* the timers, if due is not 0 */
	uint64_t due;
	int why;                  /* what co_park returns: 0, -ETIMEDOUT, -ECANCELED */
	int pool, refs;
	bool parked, joins, done, cancelled;
	struct co_list joiners;
	struct co *next_stack;
};

struct co_pool {
	struct co_list run;
	pthread_cond_t cond;
	int idle, workers;
};

struct co_fd {
	struct co *waiter;
	bool added, edge, ready;
};

static pthread_mutex_t co_big = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t co_ended = PTHREAD_COND_INITIALIZER;
static struct co_pool co_pools[CO_POOLS];
static struct co *co_timers, *co_stacks; /* the next one due; structs with stacks to be used again */
static struct co_fd co_fds[CO_FDS];
static int co_alive, co_epoll = -1, co_kick = -1;
static bool co_polling;
static __thread struct co *co_running;
static __thread ucontext_t co_worker_ctx;

CO_FN struct co *co_self(void)
{
	return co_running;
}

CO_FN ucontext_t *co_home(void)
{
	return &co_worker_ctx;
}

CO_FN void co_link(struct co_list *l, struct co *c)
{
	c->in = l;
	c->next = NULL;
	c->prev = l->last;
	*(l->last ? &l->last->next : &l->first) = c;
	l->last = c;
}

CO_FN void co_unlink(struct co *c)
{
	struct co_list *l = c->in;
	if (!l)
		return;
	*(c->prev ? &c->prev->next : &l->first) = c->next;
	*(c->next ? &c->next->prev : &l->last) = c->prev;
	c->in = NULL;
}

CO_FN void co_timer_stop(struct co *c)
{
	if (!c->due)
		return;
	*(c->sooner ? &c->sooner->later : &co_timers) = c->later;
	if (c->later)
		c->later->sooner = c->sooner;
	c->due = 0;
}

CO_FN void co_kick_poller(void)
{
	uint64_t one = 1;
	if (co_polling && write(co_kick, &one, sizeof one) < 0)
		abort();
}

CO_FN void co_timer_start(struct co *c, uint64_t due)
{
	struct co *before = NULL, *at = co_timers;
	for (; at && at->due <= due; at = at->later)
		before = at;
	c->due = due;
	c->sooner = before;
	c->later = at;
	*(before ? &before->later : &co_timers) = c;
	if (at)
		at->sooner = c;
	if (!before)
		co_kick_poller();
}

/* Into the run queue of its pool, and somebody there to take it. */
CO_FN void co_queue(struct co *c)
{
	struct co_pool *p = &co_pools[c->pool];
	co_link(&p->run, c);
	if (p->idle)
		pthread_cond_signal(&p->cond);
	else if (c->pool == 0)
		co_kick_poller();
}

/* Wakes one that is parked, wherever; with the lock. */
CO_FN void co_wake(struct co *c, int why)
{
	co_unlink(c);
	co_timer_stop(c);
	c->parked = false;
	c->why = why;
	tp_wake(&c->tp);
	co_queue(c);
}

/* Parks the running one in a list, until a time (0: for ever), or both; with the lock, without it afterwards. */
CO_FN int co_park_at(struct co_list *in, uint64_t due, struct co_place at)
{
	struct co *me = co_self();
	if (in)
		co_link(in, me);
	if (due) {
		co_timer_start(me, due);
		if (!co_no_wake)
			ctp_coro_waits_until(&me->tp, due, CTP_MARK_CANCELLABLE);
	}
	me->parked = true;
	tp_suspend_at(&me->tp, at);
	swapcontext(&me->ctx, co_home());
	return me->why;
}
#define co_park(in, due) co_park_at((in), (due), CO_PLACE)

CO_FN uint64_t co_in_ms(int ms)
{
	return ms < 0 ? 0 : co_now_ns() + (uint64_t)ms * 1000000u + 1;
}

CO_FN void co_free(struct co *c)
{
	if (--c->refs)
		return;
	c->next_stack = co_stacks;
	co_stacks = c;
}

CO_FN void co_finish(struct co *c)
{
	c->done = true;
	while (c->joiners.first)
		co_wake(c->joiners.first, 0);
	ctp_coro_death(&c->tp);
	if (!--co_alive)
		pthread_cond_broadcast(&co_ended);
}

CO_FN void co_entry(void)
{
	struct co *me = co_self();
	me->fn(me->arg);
	pthread_mutex_lock(&co_big);
	co_finish(me);
	swapcontext(&me->ctx, co_home());
}

CO_FN __attribute__((format(printf, 5, 6))) struct co *co_make_at(struct ctp_site *spawned, int pool, void (*fn)(void *), void *arg,
	const char *name, ...)
{
	char text[96];
	va_list va;
	va_start(va, name);
	vsnprintf(text, sizeof text, name, va);
	va_end(va);
	pthread_mutex_lock(&co_big);
	struct co *c = co_stacks;
	if (c)
		co_stacks = c->next_stack;
	else if (!(c = malloc(sizeof *c + CO_STACK)))
		abort();
	memset(c, 0, sizeof *c);
	c->fn = fn;
	c->arg = arg;
	c->pool = pool;
	c->refs = 2; /* the scheduler's, and the one that is returned: co_join and co_forget give it back */
	getcontext(&c->ctx);
	c->ctx.uc_stack.ss_sp = c + 1;
	c->ctx.uc_stack.ss_size = CO_STACK;
	makecontext(&c->ctx, co_entry, 0);
	tp_new_at(&c->tp, spawned, text);
	co_alive++;
	pthread_mutex_unlock(&co_big);
	return c;
}
/* Exists, and is not started: as a lazy task. */
#define co_make(pool, fn, ...) co_make_at(CTP_SITE, (pool), (fn), __VA_ARGS__)

/* Lets one that was made begin. */
CO_FN struct co *co_begin(struct co *c)
{
	pthread_mutex_lock(&co_big);
	tp_wake(&c->tp);
	co_queue(c);
	pthread_mutex_unlock(&co_big);
	return c;
}

CO_FN void co_forget(struct co *c)
{
	pthread_mutex_lock(&co_big);
	co_free(c);
	pthread_mutex_unlock(&co_big);
}
/* co_spawn gives a handle for co_join, co_go none. fn, arg, name as for printf. */
#define co_spawn(fn, ...) co_begin(co_make_at(CTP_SITE, 0, (fn), __VA_ARGS__))
#define co_spawn_in(pool, fn, ...) co_begin(co_make_at(CTP_SITE, (pool), (fn), __VA_ARGS__))
#define co_go(fn, ...) co_forget(co_spawn(fn, __VA_ARGS__))
#define co_go_in(pool, fn, ...) co_forget(co_spawn_in(pool, fn, __VA_ARGS__))

CO_FN void co_fd_event(int fd)
{
	struct co_fd *f = &co_fds[fd];
	struct co *c = f->waiter;
	f->waiter = NULL;
	if (c && c->parked)
		co_wake(c, 0);
	else if (f->edge)
		f->ready = true;
}

CO_FN void co_look_at_timers(void)
{
	uint64_t now = co_timers ? co_now_ns() : 0;
	while (co_timers && co_timers->due <= now)
		co_wake(co_timers, -ETIMEDOUT);
}

/* Descriptors and timers; with the lock, which it gives up while it waits. */
CO_FN void co_poll(bool wait)
{
	struct epoll_event ev[16];
	int ms = 0;
	if (wait) {
		uint64_t now = co_now_ns();
		ms = !co_timers ? -1 : co_timers->due <= now ? 0 : (int)((co_timers->due - now) / 1000000 + 1);
		co_polling = true;
		pthread_mutex_unlock(&co_big);
	}
	int n = epoll_wait(co_epoll, ev, 16, ms);
	if (wait) {
		pthread_mutex_lock(&co_big);
		co_polling = false;
	}
	for (int i = 0; i < n; i++) {
		uint64_t count;
		if (ev[i].data.fd != co_kick)
			co_fd_event(ev[i].data.fd);
		else if (read(co_kick, &count, sizeof count) < 0)
			continue;
	}
	co_look_at_timers();
}

CO_FN void co_idle(struct co_pool *p)
{
	if (p == co_pools && !co_polling) {
		co_poll(true);
		return;
	}
	p->idle++;
	pthread_cond_wait(&p->cond, &co_big);
	p->idle--;
}

CO_FN void co_run_one(struct co *c)
{
	co_unlink(c);
	co_running = c;
	ctp_coro_resume(&c->tp);
	if (c->pool == 0 && !co_polling && co_pools[0].idle)
		pthread_cond_signal(&co_pools[0].cond); /* for timers and descriptors meanwhile */
	pthread_mutex_unlock(&co_big);
	swapcontext(co_home(), &c->ctx);
	co_running = NULL; /* with the lock, which the one that parked or ended has taken */
	if (c->done)
		co_free(c);
}

CO_FN void *co_worker(void *pool)
{
	struct co_pool *p = pool;
	pthread_mutex_lock(&co_big);
	for (unsigned turn = 0;; turn++) {
		if (p == co_pools && !co_polling && turn % 16 == 0)
			co_poll(false);
		else if (p == co_pools)
			co_look_at_timers();
		if (p->run.first)
			co_run_one(p->run.first);
		else
			co_idle(p);
	}
	return NULL;
}

/* The number that co_crew gave. */
CO_FN int co_int(const void *arg)
{
	return (int)(intptr_t)arg;
}
#define co_crew(n, fn, name)                                                                   \
	do {                                                                                   \
		for (int crew_ = 0; crew_ < (n); crew_++)                                      \
			co_go(fn, (void *)(intptr_t)crew_, "%s %d", (name), crew_);            \
	} while (0)

/* Plain threads of the program. */
CO_FN void co_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;
	if (pthread_create(&t, NULL, fn, arg))
		abort();
	pthread_detach(t);
}

/* For programs with schedulers of their own: main waits until one of their threads exits. */
CO_FN void co_own_threads(void *(*fn)(void *), void *(*other)(void *))
{
	co_alive++;
	co_thread(fn, NULL);
	if (other)
		co_thread(other, NULL);
}

/* Workers of pool 0 look after timers and descriptors, so there is at least one. */
CO_FN void co_start_in(int pool, int workers)
{
	for (co_pools[pool].workers += workers; workers--;)
		co_thread(co_worker, &co_pools[pool]);
}
#define co_start(workers) co_start_in(0, (workers))

#include "c-sync.h"

/* --- main ----------------------------------------------------------------------------------------------------------------- */

/* Sleeps until all coroutines have ended, or until ms; with the lock. */
CO_FN void co_wait_end(int ms)
{
	uint64_t until = co_began + (uint64_t)ms * 1000000u;
	struct timespec t = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };
	pthread_cond_timedwait(&co_ended, &co_big, &t);
}

/* The watchdog: the program's end, however it comes. A healthy one that hangs is a fault of the corpus. */
CO_FN int co_watch(void)
{
	int until = co_stay ? INT32_MAX : co_sick ? co_end_ms : co_parked_ms ? co_parked_ms : 20000;
	pthread_mutex_lock(&co_big);
	while (co_ms() < until) {
		if (!co_alive && !co_stay && !co_sick)
			exit(0);
		co_wait_end(co_stay ? co_ms() + 3600000 : until);
	}
	if (co_sick || co_parked_ms)
		exit(0);
	fprintf(stderr, "%s: the healthy program hangs, %d alive\n", program_invocation_short_name, co_alive);
	_exit(99);
}

CO_FN bool co_env(const char *name, const char *value)
{
	const char *s = getenv(name);
	return s && !strcmp(s, value);
}

CO_FN int co_main(int argc, char **argv, const struct scenario *s)
{
	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (; s->name; s++)
			printf("%s %s\n", s->name, s->what);
		return 0;
	}
	while (argc > 1 && s->name && strcmp(s->name, argv[1]))
		s++;
	if (argc < 2 || !s->name) {
		fprintf(stderr, "usage: %s list | NAME [twin]\n", argv[0]);
		return 2;
	}
	co_twin = argc > 2 && !strcmp(argv[2], "twin");
	co_sick = !strncmp(s->what, "defect", 6) && !co_twin;
	co_stay = co_env("CORPUS_END", "stay");
	co_no_wake = co_env("CORPUS_NO_WAKE", "1");
	co_one_place = co_env("CORPUS_ONE_PLACE", "1");
	co_began = co_now_ns();
	signal(SIGPIPE, SIG_IGN);
	ctp_init();
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&co_ended, &clock);
	for (int i = 0; i < CO_POOLS; i++)
		pthread_cond_init(&co_pools[i].cond, NULL);
	struct epoll_event ev = { .events = EPOLLIN };
	co_epoll = epoll_create1(EPOLL_CLOEXEC);
	ev.data.fd = co_kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (co_epoll < 0 || co_kick < 0 || epoll_ctl(co_epoll, EPOLL_CTL_ADD, co_kick, &ev))
		abort();
	s->run();
	return co_watch();
}
