/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * input-copy.c - see input-copy.h.
 *
 * The descriptor, the output and the buffer are the thread's, from its start to the join. bytes, ended and failed change under the
 * lock, by the thread. bytes never exceeds what the file has, so a reader that was told of
 * more finds it there.
 *
 * The thread lives until the close, because it is the one that takes signals, also while others work on what it has copied. They are
 * blocked in all threads, and read from a descriptor, but for those that were ignored.
 */
#include "io/input-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/signals.h"
#include "io/output.h"

enum { READ_BYTES = 256 << 10 };

struct ctp_input_copy {
	int from, to;
	struct ctp_output out;
	const struct ctp_notice *complaint, *dying;
	struct ctp_input_growth growth;
	sigset_t before; /* the caller's signals */
	int signals, over; /* read by the thread; over: the caller closes */
	bool interrupted;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t bytes, ended_ns;
	bool ended, failed;
	char buf[READ_BYTES];
};

/* --- the thread ----------------------------------------------------------------------------------------------------------- */

/* Of an interrupt of a whole pipeline the input ends, too: then all is delivered. Any other signal, and a second one, ends the process. */
static void take_signal(struct ctp_input_copy *c)
{
	struct signalfd_siginfo info;
	if (read(c->signals, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo != SIGINT || c->interrupted || c->ended) {
		ctp_notice_say(c->dying, "%s", "");
		ctp_signals_die((int)info.ssi_signo);
	}
	c->interrupted = true;
	ctp_notice_say(c->complaint, "interrupted: delivers what still comes, until the input ends; interrupt again to stop now");
}

/* Waits for the descriptor. All that was read is in the file meanwhile, so signals are taken here. */
static bool wait_for(struct ctp_input_copy *c, int fd)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = c->signals, .events = POLLIN}};
	while (poll(fds, 2, -1) >= 0) {
		if (fds[1].revents)
			take_signal(c);
		if (fds[0].revents)
			return true;
	}
	return false;
}

static ssize_t read_some(struct ctp_input_copy *c) { return wait_for(c, c->from) ? read(c->from, c->buf, sizeof c->buf) : -1; }

static void publish(struct ctp_input_copy *c)
{
	pthread_mutex_lock(&c->lock);
	c->bytes = c->out.bytes;
	c->failed = c->out.failed; /* what reads the file may fail by that at once */
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static enum ctp_status copy_all(struct ctp_input_copy *c, struct ctp_err *err)
{
	for (ssize_t n; !c->out.failed && (n = read_some(c));) {
		if (n < 0 && errno != EINTR && errno != EAGAIN) {
			ctp_err_sys(err, "stdin: read");
			ctp_output_abandon(&c->out);
			return CTP_FAILED;
		}
		ctp_output_pass(&c->out, c->buf, n > 0 ? (size_t)n : 0);
		publish(c);
	}
	return ctp_output_close(&c->out, err);
}

/* What the writer of a pipe sees when its reader has gone. */
static void refuse_more(struct ctp_input_copy *c)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, c->from);
	ctp_fd_close(null);
}

static void *run(void *arg)
{
	struct ctp_input_copy *c = arg;
	struct ctp_err err;
	bool failed = copy_all(c, &err) != CTP_OK;
	if (failed) {
		ctp_notice_say(c->complaint, "%s", err.text);
		refuse_more(c);
	}
	pthread_mutex_lock(&c->lock);
	c->failed = failed;
	c->ended = true;
	c->ended_ns = ctp_clock_ns();
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	while (!wait_for(c, c->over) && errno == EINTR)
		;
	return NULL;
}

/* --- the caller ----------------------------------------------------------------------------------------------------------- */

/* Under the lock. wait_ms -1: however long. False: the time is over. */
static bool wait_change(struct ctp_input_copy *c, const struct timespec *until, int wait_ms)
{
	return wait_ms < 0 ? !pthread_cond_wait(&c->changed, &c->lock) : !pthread_cond_timedwait(&c->changed, &c->lock, until);
}

static struct timespec deadline(int wait_ms) { return ctp_clock_deadline(wait_ms > 0 ? (uint64_t)wait_ms * 1000000 : 0); }

static enum ctp_growth wait_growth(void *arg, uint64_t done, int wait_ms)
{
	struct ctp_input_copy *c = arg;
	struct timespec until = deadline(wait_ms);
	pthread_mutex_lock(&c->lock);
	while (c->bytes <= done && !c->ended && wait_change(c, &until, wait_ms))
		;
	enum ctp_growth growth = c->bytes > done ? CTP_GROWTH_MORE : c->ended ? CTP_GROWTH_ENDED : CTP_GROWTH_WAITS;
	pthread_mutex_unlock(&c->lock);
	return growth;
}

const struct ctp_input_growth *ctp_input_copy_growth(const struct ctp_input_copy *copy) { return &copy->growth; }

bool ctp_input_copy_ended(struct ctp_input_copy *c, int wait_ms, uint64_t *ended_ns)
{
	struct timespec until = deadline(wait_ms);
	pthread_mutex_lock(&c->lock);
	while (!c->ended && wait_change(c, &until, wait_ms))
		;
	bool ended = c->ended;
	*ended_ns = c->ended_ns;
	pthread_mutex_unlock(&c->lock);
	return ended;
}

bool ctp_input_copy_failed(struct ctp_input_copy *c)
{
	pthread_mutex_lock(&c->lock);
	bool failed = c->failed;
	pthread_mutex_unlock(&c->lock);
	return failed;
}

static enum ctp_status open_both(struct ctp_input_copy *c, const char *path, bool force, struct ctp_err *err)
{
	struct stat st;
	c->to = -1;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return ctp_err_as(err, CTP_ERR_REFUSED, "%s: is no plain file", path);
	c->to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0600); /* a trace: see output.c */
	if (c->to < 0 && errno == EEXIST)
		return ctp_err_as(err, CTP_ERR_REFUSED, "%s: exists; remove it, or use -f to replace it", path);
	return c->to < 0 ? ctp_err_sys(err, "%s", path) : ctp_output_fd(&c->out, c->to, path, err);
}

static void release(struct ctp_input_copy *c)
{
	ctp_fd_close(c->to);
	ctp_fd_close(c->signals);
	ctp_fd_close(c->over);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Those that are not ignored, as by nohup(1), are blocked, and can be read from a descriptor. */
static enum ctp_status take_signals(struct ctp_input_copy *c, struct ctp_err *err)
{
	const int sigs[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t ends;
	struct sigaction now;
	sigemptyset(&ends);
	for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
		if (!sigaction(sigs[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&ends, sigs[i]);
	c->over = eventfd(0, EFD_CLOEXEC);
	c->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->over < 0 || c->signals < 0)
		return ctp_err_sys(err, "taking signals");
	signal(SIGXFSZ, SIG_IGN); /* a file that is too large is an error like others */
	pthread_sigmask(SIG_BLOCK, &ends, &c->before);
	return CTP_OK;
}

static enum ctp_status start(struct ctp_input_copy *c, struct ctp_err *err)
{
	if (take_signals(c, err))
		return CTP_FAILED;
	errno = ctp_signals_thread(&c->thread, run, c);
	if (!errno)
		return CTP_OK;
	pthread_sigmask(SIG_SETMASK, &c->before, NULL);
	return ctp_err_sys(err, "starting a thread");
}

struct ctp_input_copy *ctp_input_copy_new(int fd, const char *path, bool force, const struct ctp_notice *complaint,
                                          const struct ctp_notice *dying, struct ctp_err *err)
{
	struct ctp_input_copy *c = ctp_err_calloc(err, sizeof *c);
	if (!c)
		return NULL;
	c->from = fd;
	c->signals = c->over = -1;
	c->complaint = complaint;
	c->dying = dying;
	c->growth = (struct ctp_input_growth){.wait = wait_growth, .arg = c};
	pthread_mutex_init(&c->lock, NULL);
	ctp_clock_cond_init(&c->changed);
	enum ctp_status opened = open_both(c, path, force, err);
	if (!opened && !start(c, err))
		return c;
	if (!opened)
		ctp_output_abandon(&c->out);
	release(c);
	return NULL;
}

bool ctp_input_copy_close(struct ctp_input_copy *c)
{
	uint64_t ended_ns;
	ctp_input_copy_ended(c, -1, &ended_ns);
	eventfd_write(c->over, 1);
	pthread_join(c->thread, NULL);
	pthread_sigmask(SIG_SETMASK, &c->before, NULL);
	bool good = !c->failed;
	release(c);
	return good;
}
