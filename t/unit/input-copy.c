/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* input-copy.c - a pipe is copied to a file whoever reads that; readers see it grow; what fails is said, and signals lose nothing. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/input-copy.h"
#include "tap.h"

enum { BYTES = 3 << 20 };

static char dir[] = "/tmp/ctp-input-copy.XXXXXX", path[64];
static char data[BYTES];
static char said[512];

static void say(void *arg, const char *text) { snprintf(arg, sizeof said, "%s", text); }
static const struct ctp_notice complaint = {.say = say, .arg = said};

static struct ctp_input_copy *begin(int ends[2], bool force, struct ctp_err *err)
{
	if (pipe(ends))
		exit(1);
	return ctp_input_copy_new(ends[0], path, force, &complaint, NULL, err);
}

static size_t size(void)
{
	struct stat st;
	return stat(path, &st) ? 0 : (size_t)st.st_size;
}

static void put(int fd, const char *from, size_t len)
{
	for (ssize_t n; len; from += n, len -= (size_t)n)
		if ((n = write(fd, from, len)) <= 0)
			return;
}

/* Reads all of the file while it grows; how many bytes of it are right. */
struct reading {
	struct ctp_input_copy *copy;
	unsigned idles, stops_at;
	size_t right;
	bool failed;
	struct ctp_err err;
};

static enum ctp_status count_idle(void *arg, struct ctp_err *err)
{
	struct reading *r = arg;
	return ++r->idles == r->stops_at ? ctp_err_set(err, "it was enough") : CTP_OK;
}

static void *read_all(void *arg)
{
	struct reading *r = arg;
	struct ctp_input in;
	if (ctp_input_open(&in, path, &r->err))
		return NULL;
	ctp_input_grows(&in, ctp_input_copy_growth(r->copy));
	in.idle = count_idle;
	in.idle_arg = r;
	in.idle_again_ms = 1;
	while (ctp_input_fill(&in, 1)) {
		r->right += r->right + in.avail <= BYTES && !memcmp(in.ptr, data + r->right, in.avail) ? in.avail : 0;
		ctp_input_skip(&in, in.avail);
	}
	r->failed = in.failed;
	r->err = in.err;
	ctp_input_close(&in);
	return NULL;
}

static void readers(void)
{
	enum { READERS = 3 };
	struct reading r[READERS] = {0}, late = {0}, stops = {.stops_at = 2};
	pthread_t threads[READERS];
	struct ctp_err err;
	int ends[2];
	uint64_t ended_ns;
	struct ctp_input_copy *copy = begin(ends, false, &err);
	stops.copy = copy;
	read_all(&stops);
	ok(stops.failed && stops.idles == 2 && !strcmp(stops.err.text, "it was enough"),
	   "a reader that waits is idle again and again, and may stop");
	ok(!ctp_input_copy_ended(copy, 1, &ended_ns), "the copy goes on");
	for (int i = 0; i < READERS; i++) {
		r[i].copy = copy;
		pthread_create(&threads[i], NULL, read_all, &r[i]);
	}
	put(ends[1], data, BYTES / 2);
	for (size_t at = BYTES / 2; at < BYTES; at += 4096)
		put(ends[1], data + at, 4096);
	close(ends[1]);
	bool all = true;
	for (int i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		all &= r[i].right == BYTES && !r[i].failed;
	}
	ok(all, "readers of the file as it grows get all of it");
	late.copy = copy;
	read_all(&late);
	is_u64(late.right, BYTES, "and so does one after the end");
	ok(ctp_input_copy_ended(copy, 0, &ended_ns) && ended_ns <= ctp_clock_ns(), "which is known");
	if (truncate(path, BYTES / 2))
		exit(1);
	late.right = 0;
	read_all(&late);
	ok(late.failed && strstr(late.err.text, "is shorter than before"),
	   "a file that somebody cuts is an error, and no end: %s", late.err.text);
	ok(ctp_input_copy_close(copy) && !said[0], "nothing is complained of");
	close(ends[0]);
}

static bool is_refused(bool force, const char *why)
{
	struct ctp_err err = {0};
	int ends[2];
	struct ctp_input_copy *copy = begin(ends, force, &err);
	close(ends[0]);
	close(ends[1]);
	return !copy && strstr(err.text, why);
}

static void refused(void)
{
	struct ctp_err err;
	int ends[2];
	ok(is_refused(false, "exists; remove it, or use -f to replace it"), "a file that exists is not replaced");
	struct ctp_input_copy *copy = begin(ends, true, &err);
	put(ends[1], "x", 1);
	close(ends[1]);
	ok(ctp_input_copy_close(copy) && size() == 1, "but with force");
	close(ends[0]);
	unlink(path);
	snprintf(path, sizeof path, "/dev/full");
	ok(is_refused(true, "/dev/full: is no plain file"), "a device cannot be read again");
	snprintf(path, sizeof path, "%s", dir);
	ok(is_refused(true, "is no plain file"), "nor can a folder");
	snprintf(path, sizeof path, "%s/none/file", dir);
	ok(is_refused(true, "No such file"), "a folder that is missing is said");
	snprintf(path, sizeof path, "%s/file", dir);
}

/* The writer notices that the disk is full, a reader gets what is there. */
static void full(void)
{
	struct rlimit before, limit;
	struct reading r = {0};
	struct ctp_err err;
	int ends[2];
	getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit){100000, before.rlim_max};
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	r.copy = begin(ends, true, &err);
	put(ends[1], data, BYTES);
	ok(write(ends[1], "x", 1) < 0 && errno == EPIPE, "when the disk is full, the writer has no reader");
	close(ends[1]);
	read_all(&r);
	ok(r.right == 100000 && !r.failed, "readers get what was copied, and then the end");
	ok(!ctp_input_copy_close(r.copy), "the copy has failed");
	ok(strstr(said, "/file: after 100000 bytes: File too large"), "which was said: %s", said);
	setrlimit(RLIMIT_FSIZE, &before);
	close(ends[0]);
	unlink(path);
}

/* A child copies until a signal ends it: all bytes that it took from the pipe are in the file. */
static bool loses_nothing(int sig, unsigned times)
{
	enum { EACH = 1000 };
	struct ctp_err err;
	int ends[2], how = 0;
	uint64_t ended_ns;
	if (pipe(ends))
		exit(1);
	unlink(path);
	pid_t pid = fork();
	if (!pid) {
		alarm(60);
		signal(sig, SIG_DFL); /* a shell ignores some in the background */
		struct ctp_input_copy *copy = ctp_input_copy_new(ends[0], path, true, &complaint, NULL, &err);
		if (copy)
			ctp_input_copy_ended(copy, 60000, &ended_ns);
		_exit(1);
	}
	while (access(path, F_OK))
		usleep(100);
	for (unsigned i = 0; i <= times; i++)
		put(ends[1], data, EACH);
	for (kill(pid, sig); waitpid(pid, &how, WNOHANG) != pid; usleep(100))
		kill(pid, sig); /* the first SIGINT ends nothing */
	close(ends[1]);
	size_t left = 0;
	for (ssize_t n; (n = read(ends[0], (char[4096]){0}, 4096)) > 0;)
		left += (size_t)n;
	close(ends[0]);
	return WIFSIGNALED(how) && WTERMSIG(how) == sig && left + size() == EACH * (times + 1);
}

static void signals(void)
{
	enum { TIMES = 300 };
	const int sigs[] = {SIGINT, SIGTERM, SIGHUP};
	unsigned good = 0;
	for (size_t i = 0; i < TIMES; i++)
		good += loses_nothing(sigs[i % 3], i % 60); /* no more than a pipe holds */
	is_u64(good, TIMES, "a signal ends the process, and nothing that it has read is lost");
}

static void write_dying(void *to, const char *text) { put(*(int *)to, "dying", 5 + strlen(text)); }
static void write_said(void *to, const char *text) { put(*(int *)to, text, strlen(text)); }

/* Who interrupts a pipeline ends the input, too. A child writes what it is told to a pipe. */
static void interrupt(bool twice)
{
	struct ctp_err err;
	int ends[2], told[2], how = 0;
	uint64_t ended_ns;
	char text[200] = "";
	if (pipe(ends) || pipe(told))
		exit(1);
	unlink(path);
	pid_t pid = fork();
	if (!pid) {
		const struct ctp_notice says = {.say = write_said, .arg = &told[1]}, dying = {.say = write_dying, .arg = &told[1]};
		alarm(60);
		signal(SIGINT, SIG_DFL);
		close(ends[1]);
		struct ctp_input_copy *copy = ctp_input_copy_new(ends[0], path, true, &says, &dying, &err);
		bool ended = copy && ctp_input_copy_ended(copy, 60000, &ended_ns);
		_exit(!(ended && ctp_input_copy_close(copy)));
	}
	close(told[1]);
	put(ends[1], data, 1000);
	while (size() < 1000)
		usleep(100);
	kill(pid, SIGINT);
	if (read(told[0], text, sizeof text - 1) < 0)
		exit(1);
	is(text, "interrupted: delivers what still comes, until the input ends; interrupt again to stop now", "an interrupt is said");
	if (twice)
		kill(pid, SIGINT);
	else
		put(ends[1], data, 1000);
	if (!twice)
		close(ends[1]);
	memset(text, 0, sizeof text);
	if (read(told[0], text, sizeof text - 1) < 0)
		exit(1);
	waitpid(pid, &how, 0);
	if (twice)
		ok(WIFSIGNALED(how) && WTERMSIG(how) == SIGINT && !strcmp(text, "dying"), "a second one ends the process, which is told first");
	else
		ok(WIFEXITED(how) && !WEXITSTATUS(how) && size() == 2000 && !*text, "and all is copied that still comes");
	if (twice)
		close(ends[1]);
	close(ends[0]);
	close(told[0]);
	unlink(path);
}

/* When all is copied, signals still end the process. */
static void signal_after_end(void)
{
	struct ctp_err err;
	int ends[2], how = 0;
	uint64_t ended_ns;
	pid_t pid = fork();
	if (!pid) {
		alarm(60);
		struct ctp_input_copy *copy = begin(ends, true, &err);
		close(ends[1]);
		if (copy && ctp_input_copy_ended(copy, 60000, &ended_ns) && !kill(getpid(), SIGTERM))
			sleep(60);
		_exit(1);
	}
	waitpid(pid, &how, 0);
	ok(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM, "after the end of the input, too");
	unlink(path);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/file", dir);
	for (uint32_t i = 0, x = 1; i < BYTES; i++, x = x * 1664525 + 1013904223)
		data[i] = (char)(x >> 24);
	signals();
	signal_after_end();
	interrupt(false);
	interrupt(true);
	readers();
	refused();
	full();
	rmdir(dir);
	done_testing();
}
