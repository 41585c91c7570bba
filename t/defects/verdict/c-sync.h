/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * c-sync.h - the second half of c.h, which includes it: what coroutines wait for. Each thing hands over under the scheduler's lock,
 * so that none of these can lose a wake-up; scenarios that are to lose one take a bare queue (co_wait) or park themselves.
 */

/* -ECANCELED if it was not slept through. */
CO_FN int co_sleep_at(int ms, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	if (co_self()->cancelled) {
		pthread_mutex_unlock(&co_big);
		return -ECANCELED;
	}
	int why = co_park_at(NULL, co_in_ms(ms), at);
	return why == -ETIMEDOUT ? 0 : why;
}
#define co_sleep(ms) co_sleep_at((ms), CO_PLACE)

CO_FN void co_yield_at(struct co_place at)
{
	struct co *me = co_self();
	pthread_mutex_lock(&co_big);
	tp_yield_at(&me->tp, at);
	co_queue(me);
	swapcontext(&me->ctx, co_home());
}
#define co_yield() co_yield_at(CO_PLACE)

/* A bare queue of waiters: who is not in it when it is woken hears nothing. */
CO_FN int co_wait_at(struct co_list *q, int ms, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	if (!co_self()->cancelled) {
		tp_waits_for(&co_self()->tp, q, CTP_FOR_OTHER);
		return co_park_at(q, co_in_ms(ms), at);
	}
	pthread_mutex_unlock(&co_big);
	return -ECANCELED;
}
#define co_wait(q) co_wait_at((q), -1, CO_PLACE)
#define co_wait_for(q, ms) co_wait_at((q), (ms), CO_PLACE)

CO_FN int co_notify(struct co_list *q, int most)
{
	int n = 0;
	pthread_mutex_lock(&co_big);
	for (; q->first && n < most; n++)
		co_wake(q->first, 0);
	pthread_mutex_unlock(&co_big);
	return n;
}

/* The end of another, and the handle is given back. */
CO_FN void co_join_at(struct co *c, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	if (!c->done) {
		tp_join(&co_self()->tp, &c->tp);
		co_self()->joins = true;
		co_park_at(&c->joiners, 0, at);
		pthread_mutex_lock(&co_big);
		co_self()->joins = false;
	}
	co_free(c);
	pthread_mutex_unlock(&co_big);
}
#define co_join(c) co_join_at((c), CO_PLACE)

/* Ends the wait of one that is parked, unless it joins another, and lets it know; the handle stays. */
CO_FN void co_cancel(struct co *c)
{
	pthread_mutex_lock(&co_big);
	if (!c->done && !c->cancelled) {
		c->cancelled = true;
		if (c->parked && !c->joins)
			co_wake(c, -ECANCELED);
	}
	pthread_mutex_unlock(&co_big);
}

/* Takes a parked one away, as a destructor does; false if it is not parked any more. Gives the handle back. */
CO_FN bool co_destroy(struct co *c)
{
	pthread_mutex_lock(&co_big);
	bool parked = c->parked;
	if (parked) {
		for (int fd = 0; fd < CO_FDS; fd++)
			if (co_fds[fd].waiter == c)
				co_fds[fd].waiter = NULL;
		c->parked = false;
		co_unlink(c);
		co_timer_stop(c);
		co_finish(c);
		co_free(c);
	}
	co_free(c);
	pthread_mutex_unlock(&co_big);
	return parked;
}

struct co_mutex {
	bool held;
	uint64_t holder;
	struct co_list wait;
};

CO_FN void co_lock_held(struct co_mutex *m)
{
	m->held = true;
	m->holder = ctp_coro_ref(&co_self()->tp);
	tp_holds(m->holder, m, 1);
	tp_object(m, CTP_FOR_LOCK, 0);
}

CO_FN int co_lock_until_at(struct co_mutex *m, uint64_t due, struct co_place at)
{
	struct co *me = co_self();
	pthread_mutex_lock(&co_big);
	if (m->held) {
		ctp_coro_await_ref(&me->tp, m->holder);
		tp_waits_for(&me->tp, m, CTP_FOR_LOCK);
		return co_park_at(&m->wait, due, at); /* unlock has handed it over */
	}
	co_lock_held(m);
	pthread_mutex_unlock(&co_big);
	return 0;
}
#define co_lock(m) co_lock_until_at((m), 0, CO_PLACE)
#define co_lock_for(m, ms) co_lock_until_at((m), co_in_ms(ms), CO_PLACE)

CO_FN bool co_trylock(struct co_mutex *m)
{
	pthread_mutex_lock(&co_big);
	bool got = !m->held;
	if (got)
		co_lock_held(m);
	pthread_mutex_unlock(&co_big);
	return got;
}

CO_FN void co_unlock_held(struct co_mutex *m)
{
	struct co *next = m->wait.first;
	tp_holds(m->holder, m, -1);
	m->held = next != NULL;
	m->holder = next ? ctp_coro_ref(&next->tp) : 0;
	tp_holds(m->holder, m, 1);
	if (next)
		co_wake(next, 0);
	else
		tp_object(m, CTP_FOR_LOCK, 1);
}

CO_FN void co_unlock(struct co_mutex *m)
{
	pthread_mutex_lock(&co_big);
	co_unlock_held(m);
	pthread_mutex_unlock(&co_big);
}

/* A condition: gives the lock up and waits in one step, and has the lock again afterwards. */
CO_FN int co_cond_until_at(struct co_list *cond, struct co_mutex *m, uint64_t due, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	co_unlock_held(m);
	tp_waits_for(&co_self()->tp, cond, CTP_FOR_EVENT);
	int why = co_park_at(cond, due, at);
	co_lock_until_at(m, 0, at);
	return why;
}
#define co_cond_wait(cond, m) co_cond_until_at((cond), (m), 0, CO_PLACE)
#define co_cond_wait_for(cond, m, ms) co_cond_until_at((cond), (m), co_in_ms(ms), CO_PLACE)
#define co_signal(cond) co_notify((cond), 1)
#define co_broadcast(cond) co_notify((cond), INT32_MAX)

struct co_sem {
	int free;
	struct co_list wait;
};

CO_FN int co_acquire_at(struct co_sem *s, uint64_t due, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	if (s->free <= 0) {
		tp_object(s, CTP_FOR_PERMITS, 0);
		tp_waits_for(&co_self()->tp, s, CTP_FOR_PERMITS);
		return co_park_at(&s->wait, due, at); /* release has handed it over */
	}
	if (!--s->free)
		tp_object(s, CTP_FOR_PERMITS, 0);
	pthread_mutex_unlock(&co_big);
	return 0;
}
#define co_acquire(s) co_acquire_at((s), 0, CO_PLACE)
#define co_acquire_for(s, ms) co_acquire_at((s), co_in_ms(ms), CO_PLACE)

CO_FN void co_release(struct co_sem *s, int n)
{
	pthread_mutex_lock(&co_big);
	for (; n > 0; n--) {
		if (s->wait.first)
			co_wake(s->wait.first, 0);
		else if (s->free++ == 0)
			tp_object(s, CTP_FOR_PERMITS, s->free);
	}
	pthread_mutex_unlock(&co_big);
}

/* An event that stays set until it is cleared; with a value it is a oneshot reply. */
struct co_event {
	bool set;
	intptr_t value;
	struct co_list wait;
};

CO_FN int co_event_until_at(struct co_event *e, uint64_t due, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	if (!e->set && !co_self()->cancelled) {
		tp_object(e, CTP_FOR_EVENT, 0);
		tp_waits_for(&co_self()->tp, e, CTP_FOR_EVENT);
		return co_park_at(&e->wait, due, at);
	}
	int why = e->set ? 0 : -ECANCELED;
	pthread_mutex_unlock(&co_big);
	return why;
}
#define co_event_wait(e) co_event_until_at((e), 0, CO_PLACE)
#define co_event_wait_for(e, ms) co_event_until_at((e), co_in_ms(ms), CO_PLACE)

CO_FN void co_event_set(struct co_event *e, intptr_t value)
{
	pthread_mutex_lock(&co_big);
	e->set = true;
	e->value = value;
	tp_object(e, CTP_FOR_EVENT, 1);
	while (e->wait.first)
		co_wake(e->wait.first, 0);
	pthread_mutex_unlock(&co_big);
}

CO_FN void co_event_clear(struct co_event *e)
{
	pthread_mutex_lock(&co_big);
	e->set = false;
	tp_object(e, CTP_FOR_EVENT, 0);
	pthread_mutex_unlock(&co_big);
}

struct co_barrier {
	int parties, here;
	struct co_list wait;
};

CO_FN void co_barrier_at(struct co_barrier *b, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	if (++b->here < b->parties) {
		tp_waits_for(&co_self()->tp, b, CTP_FOR_BARRIER);
		co_park_at(&b->wait, 0, at);
		return;
	}
	b->here = 0;
	while (b->wait.first)
		co_wake(b->wait.first, 0);
	pthread_mutex_unlock(&co_big);
}
#define co_barrier_wait(b) co_barrier_at((b), CO_PLACE)

/* A bounded channel of numbers; closed, it gives what it still has, and then -EPIPE. */
struct co_chan {
	int cap, n, head;
	bool closed;
	struct co_list readers, writers;
	intptr_t item[1024];
};

CO_FN int co_send_until_at(struct co_chan *c, intptr_t v, uint64_t due, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	while (c->n == c->cap && !c->closed) {
		tp_object(c, CTP_FOR_ROOM, 0);
		tp_waits_for(&co_self()->tp, c, CTP_FOR_ROOM);
		if (co_park_at(&c->writers, due, at))
			return -ETIMEDOUT;
		pthread_mutex_lock(&co_big);
	}
	int status = c->closed ? -EPIPE : 0;
	if (!status) {
		c->item[(c->head + c->n++) % c->cap] = v;
		if (c->n == 1)
			tp_object(c, CTP_FOR_ITEM, c->n);
		if (c->readers.first)
			co_wake(c->readers.first, 0);
	}
	pthread_mutex_unlock(&co_big);
	return status;
}
#define co_send(c, v) co_send_until_at((c), (v), 0, CO_PLACE)
#define co_send_for(c, v, ms) co_send_until_at((c), (v), co_in_ms(ms), CO_PLACE)

CO_FN int co_recv_until_at(struct co_chan *c, intptr_t *v, uint64_t due, struct co_place at)
{
	pthread_mutex_lock(&co_big);
	while (!c->n && !c->closed) {
		tp_object(c, CTP_FOR_ITEM, 0);
		tp_waits_for(&co_self()->tp, c, CTP_FOR_ITEM);
		int why = co_park_at(&c->readers, due, at);
		if (why)
			return why;
		pthread_mutex_lock(&co_big);
	}
	int status = c->n ? 0 : -EPIPE;
	if (c->n) {
		*v = c->item[c->head];
		c->head = (c->head + 1) % c->cap;
		if (!--c->n)
			tp_object(c, CTP_FOR_ITEM, 0);
		if (c->n == c->cap - 1)
			tp_object(c, CTP_FOR_ROOM, 1);
		if (c->writers.first)
			co_wake(c->writers.first, 0);
	}
	pthread_mutex_unlock(&co_big);
	return status;
}
#define co_recv(c, v) co_recv_until_at((c), (v), 0, CO_PLACE)
#define co_recv_for(c, v, ms) co_recv_until_at((c), (v), co_in_ms(ms), CO_PLACE)

CO_FN void co_close(struct co_chan *c)
{
	pthread_mutex_lock(&co_big);
	c->closed = true;
	if (!co_no_wake)
		ctp_object_close(c);
	while (c->readers.first)
		co_wake(c->readers.first, 0);
	while (c->writers.first)
		co_wake(c->writers.first, 0);
	pthread_mutex_unlock(&co_big);
}

/* Until a descriptor is ready. One coroutine waits for one descriptor at a time. */
CO_FN int co_wait_fd_at(int fd, uint32_t events, uint64_t due, struct co_place at)
{
	struct co_fd *f = &co_fds[fd];
	struct epoll_event ev = { .events = events | EPOLLONESHOT, .data.fd = fd };
	pthread_mutex_lock(&co_big);
	if (f->edge && f->ready) {
		f->ready = false;
		pthread_mutex_unlock(&co_big);
		return 0;
	}
	f->waiter = co_self();
	if (!f->edge && epoll_ctl(co_epoll, f->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &ev))
		abort();
	f->added = true;
	if (!co_no_wake)
		ctp_coro_waits_fd(&co_self()->tp, fd, events, CTP_MARK_CANCELLABLE);
	int why = co_park_at(NULL, due, at);
	if (why) { /* a time-out or a cancellation: the descriptor has not woken it, and must not any more */
		pthread_mutex_lock(&co_big);
		if (f->waiter == co_self())
			f->waiter = NULL;
		pthread_mutex_unlock(&co_big);
	}
	return why;
}
#define co_readable(fd) co_wait_fd_at((fd), EPOLLIN, 0, CO_PLACE)
#define co_readable_for(fd, ms) co_wait_fd_at((fd), EPOLLIN, co_in_ms(ms), CO_PLACE)
#define co_writable(fd) co_wait_fd_at((fd), EPOLLOUT, 0, CO_PLACE)

/* Once for the life of the descriptor, edge-triggered. */
CO_FN void co_fd_edge(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.fd = fd };
	co_fds[fd].edge = co_fds[fd].added = true;
	if (epoll_ctl(co_epoll, EPOLL_CTL_ADD, fd, &ev))
		abort();
}

CO_FN void co_fd_close(int fd)
{
	pthread_mutex_lock(&co_big);
	co_fds[fd] = (struct co_fd){ 0 };
	close(fd);
	pthread_mutex_unlock(&co_big);
}

CO_FN void co_pair(int fd[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd))
		abort();
}

/* Reads or writes all of it; waits at the place of the call. 0 at the end of the stream. */
CO_FN ssize_t co_read_at(int fd, void *buf, size_t n, struct co_place at)
{
	for (;;) {
		ssize_t got = recv(fd, buf, n, 0);
		if (got >= 0 || errno != EAGAIN)
			return got;
		if (co_wait_fd_at(fd, EPOLLIN, 0, at))
			return -1;
	}
}
#define co_read(fd, buf, n) co_read_at((fd), (buf), (n), CO_PLACE)

CO_FN ssize_t co_write_at(int fd, const void *buf, size_t n, struct co_place at)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = send(fd, (const char *)buf + done, n - done, MSG_NOSIGNAL);
		if (put > 0)
			done += (size_t)put;
		else if (errno != EAGAIN || co_wait_fd_at(fd, EPOLLOUT, 0, at))
			return -1;
	}
	return (ssize_t)n;
}
#define co_write(fd, buf, n) co_write_at((fd), (buf), (n), CO_PLACE)
