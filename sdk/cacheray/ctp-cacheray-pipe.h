/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp-cacheray-pipe.h - writes the log to a pipe: records go into a ring of blocks, which are sent. A part of ctp-cacheray.c, which
 * has the log and its states.
 */
#ifndef CTP_CACHERAY_PIPE_H
#define CTP_CACHERAY_PIPE_H

/* If the reader has gone, SIGPIPE is only for this write, not for the program. */
static bool write_all(const uint8_t *p, size_t n)
{
	while (n) {
		long done = syscall(SYS_write, log_.fd, p, n);
		if (done < 0 && errno == EAGAIN)
			syscall(SYS_ppoll, &(struct pollfd){.fd = log_.fd, .events = POLLOUT}, 1, NULL, NULL, 0);
		else if (done < 0 && errno != EINTR)
			break;
		p += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	if (n && errno == EPIPE)
		take_back(SIGPIPE);
	else if (n)
		say_error(log_.path, "cannot be written", errno);
	return !n;
}

/* The end of the last record that has reserved its place. */
static uint64_t log_end(void)
{
	uint64_t tail = LOAD(&log_.tail);
	return tail < CLOSED && tail <= log_.limit ? tail : LOAD(&log_.end);
}

/* The end of the bytes that can be sent: the end of a block, or of the last record if everything before it is written. */
static uint64_t sendable_upto(uint64_t sent, bool partial)
{
	uint64_t start = sent / BLOCK_BYTES * BLOCK_BYTES;
	uint32_t written = LOAD(&log_.written[start / BLOCK_BYTES % BLOCKS]);
	if (written == BLOCK_BYTES)
		return start + BLOCK_BYTES;
	/* A record may have reserved its place without being counted yet: then this is less. */
	uint64_t end = log_end();
	return partial && end - start == written ? end : sent;
}

/* With the lock. */
static void send_all(bool partial)
{
	for (uint64_t sent = log_.sent, upto; (upto = sendable_upto(sent, partial)) > sent; sent = upto) {
		bool open = LOAD(&state) != OFF && has_log();
		if (LOAD(&state) != OFF && !open)
			say(log_.path, "was closed by the program");
		if (!open || !write_all(log_.ring + sent % RING_BYTES, upto - sent))
			STORE(&state, OFF); /* the reader has gone */
		if (upto % BLOCK_BYTES == 0)
			STORE(&log_.written[sent / BLOCK_BYTES % BLOCKS], 0);
		STORE(&log_.sent, upto); /* pairs with the load in append_to_pipe: the block is free */
	}
}

static __attribute__((noinline)) void send_log(bool partial)
{
	struct quiet q = quiet_begin();
	if (!__atomic_exchange_n(&log_.sending, 1, __ATOMIC_ACQUIRE)) {
		send_all(partial);
		STORE(&log_.sending, 0);
	}
	quiet_end(&q);
}

static __attribute__((noinline)) void wait_for_block(uint64_t at)
{
	while (at / BLOCK_BYTES >= LOAD(&log_.sent) / BLOCK_BYTES + BLOCKS) {
		send_log(false);
		if (at / BLOCK_BYTES >= LOAD(&log_.sent) / BLOCK_BYTES + BLOCKS) {
			int error = errno;
			wait_some(WAIT_NS);
			errno = error;
		}
	}
}

static void put_in_ring(uint64_t at, const uint8_t *p, size_t len)
{
	for (size_t n; len; at += n, p += n, len -= n) {
		size_t room = BLOCK_BYTES - at % BLOCK_BYTES;
		n = len < room ? len : room;
		wait_for_block(at);
		copy(log_.ring + at % RING_BYTES, p, n);
		uint32_t *written = &log_.written[at / BLOCK_BYTES % BLOCKS];
		if (__atomic_add_fetch(written, (uint32_t)n, __ATOMIC_RELEASE) == BLOCK_BYTES)
			send_log(false);
	}
}

static __attribute__((noinline)) void end_pipe(uint64_t at)
{
	static const uint8_t zeros[CUT_BYTES];
	struct quiet q = quiet_begin();
	STORE(&log_.end, at + CUT_BYTES);
	put_in_ring(at, zeros, sizeof zeros);
	say(log_.path, limit_is_reached);
	quiet_end(&q);
}

static void append_to_pipe(const void *rec, size_t len)
{
	uint64_t at = __atomic_fetch_add(&log_.tail, len, __ATOMIC_RELAXED);
	if (at >= CLOSED)
		return;
	if (at + len <= log_.limit)
		put_in_ring(at, rec, len);
	else if (at <= log_.limit) /* the first one: the log ends before it */
		end_pipe(at);
}

static void *send_now_and_then(void *arg)
{
	(void)arg;
	while (LOAD(&state) == PIPE_LOG) {
		wait_some(SEND_NS);
		send_log(true);
	}
	return NULL;
}

/* The program is about to be killed by a signal for which it has no handler. */
static void on_death(int sig, siginfo_t *info, void *context)
{
	(void)context;
	for (int i = 0; i < 3; i++) {
		send_log(true);
		if (LOAD(&log_.sent) == log_end())
			break;
		wait_some(WAIT_NS);
	}
	bool fault = sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL;
	if (!fault || info->si_code <= 0) /* sent by kill: returning would not raise it again */
		raise(sig);
}

static void watch_deaths(void)
{
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	struct sigaction had, ours = {.sa_sigaction = on_death, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND | SA_NODEFER};
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		if (!sigaction(deadly[i], NULL, &had) && !(had.sa_flags & SA_SIGINFO) && had.sa_handler == SIG_DFL)
			sigaction(deadly[i], &ours, NULL);
}

static void start_sender(void)
{
	pthread_t thread;
	pthread_attr_t attr;
	if (!pthread_create || pthread_attr_init(&attr))
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 128 << 10);
	pthread_create(&thread, &attr, send_now_and_then, NULL);
	pthread_attr_destroy(&attr);
}

#endif
