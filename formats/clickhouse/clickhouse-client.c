/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-client.c - see clickhouse-client.h. */
#include "clickhouse/clickhouse-client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "clickhouse/clickhouse-name.h"

enum { ANSWER_MAX = 64 << 20, COMPLAINT_MAX = 4096, PIECE = 1 << 16, READS_MAX = 64, LOOK_MS = 50, PIPES = 3 };

static const char END_ROW[] = "ctp-end"; /* the first column of the last row; others are numbers or hexadecimal digits */

struct run {
	const struct ctp_clickhouse_client *client;
	pid_t pid;
	int fd[PIPES]; /* our ends of its standard input, output and error; -1: closed */
	ctp_clickhouse_more *more;
	void *arg;
	struct ctp_bytes send;
	size_t sent;
	struct ctp_bytes answer, complaint;
	bool refused; /* it closed its input before it had all */
	bool ended;
	int how;
	uint64_t moved_ns; /* when it last took or gave anything */
};

static enum ctp_status fail(const struct run *r, struct ctp_err *err, const char *what)
{
	return ctp_err_set(err, "%s: %s", r->client->shown, what);
}

/* --- what it is called ---------------------------------------------------------------------------------------------------- */

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/+-";

static bool is_word(const char *words[], const char *word, size_t len)
{
	while (*words && (strlen(*words) != len || memcmp(*words, word, len)))
		words++;
	return *words != NULL;
}

/* The program, and of its options those that say which server and database, up to the first character that a shell may look at. */
void ctp_clickhouse_client_init(struct ctp_clickhouse_client *client, const char *command, uint64_t timeout_ns)
{
	static const char *told[] = {"--host", "-h", "--port", "--database", "-d", NULL};
	size_t shown = 0;
	bool value = false;
	*client = (struct ctp_clickhouse_client){command, timeout_ns, "the client"};
	for (const char *word = command; *(word += strspn(word, " \t"));) {
		size_t len = strcspn(word, " \t"), part = strspn(word, plain);
		const char *rest = word[part] == '=' ? word + part + 1 : "";
		bool pair = *rest && part + 1 + strspn(rest, plain) == len, is_told = is_word(told, word, part);
		if (part < len && !pair && (!shown || strpbrk(word, "'\"\\`$;|&<>(){}#")))
			return;
		if (part == len ? !shown || value || is_told : pair && shown && is_told)
			shown += (size_t)snprintf(client->shown + shown, sizeof client->shown - shown, shown ? " %.*s" : "%.*s", (int)len, word);
		if (shown >= sizeof client->shown)
			return;
		value = part == len && is_told;
		word += len;
	}
}

/* --- begin and end -------------------------------------------------------------------------------------------------------- */

/*
 * Whether a shell can become the command: then this is ended with us, and does not send on what it has. Not a list, a pipeline, a group
 * or a variable before the command.
 */
static bool is_simple(const char *command)
{
	size_t word = strcspn(command, " \t");
	return !strpbrk(command, ";|&(){}\n") && !memchr(command, '=', word);
}

/* In the child. Its group is its own, so that all that the shell starts can be ended; it must not outlive us. */
static _Noreturn void become(const struct ctp_clickhouse_client *client, const char *query, int theirs[PIPES])
{
	char *script = NULL;
	sigset_t none;
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL); /* what we block is our own affair */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	for (int i = 0; i < PIPES; i++)
		dup2(theirs[i], i);
	if (asprintf(&script, "%s%s \"$@\"", is_simple(client->command) ? "exec " : "", client->command) < 0)
		_exit(126);
	execl("/bin/sh", "sh", "-c", script, "sh", "--insert_distributed_sync=1", "--max_query_size=100000000", query ? "--query" : (char *)NULL,
	      query, (char *)NULL);
	_exit(127);
}

static bool make_pipes(int ours[PIPES], int theirs[PIPES])
{
	for (int i = 0; i < PIPES; i++) {
		int ends[2];
		if (pipe2(ends, O_CLOEXEC))
			return false;
		ours[i] = ends[i ? 0 : 1];
		theirs[i] = ends[i ? 1 : 0];
		fcntl(ours[i], F_SETFL, O_NONBLOCK);
	}
	return true;
}

static void close_all(int fds[PIPES])
{
	for (int i = 0; i < PIPES; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

static enum ctp_status start(struct run *r, const char *query, struct ctp_err *err)
{
	int theirs[PIPES] = {-1, -1, -1};
	memset(r->fd, -1, sizeof r->fd);
	r->pid = make_pipes(r->fd, theirs) ? fork() : -1;
	if (!r->pid)
		become(r->client, query, theirs);
	if (r->pid > 0)
		setpgid(r->pid, r->pid);
	else
		ctp_err_sys(err, "%s", r->client->shown);
	close_all(theirs);
	r->moved_ns = ctp_clock_ns();
	return r->pid > 0 ? CTP_OK : CTP_FAILED;
}

static void stop(struct run *r)
{
	close_all(r->fd);
	if (r->pid > 0 && !r->ended) {
		kill(-r->pid, SIGKILL);
		kill(r->pid, SIGKILL);
		while (waitpid(r->pid, &r->how, 0) < 0 && errno == EINTR)
			;
	}
	ctp_bytes_fini(&r->send);
	ctp_bytes_fini(&r->complaint);
}

/* --- while it runs -------------------------------------------------------------------------------------------------------- */

/* Gives it more, as long as it takes any. */
static void feed(struct run *r)
{
	while (r->fd[0] >= 0) {
		if (r->sent == r->send.len) {
			r->sent = r->send.len = 0;
			if (!r->more || !r->more(r->arg, &r->send) || r->send.failed) {
				close(r->fd[0]);
				r->fd[0] = -1;
				return;
			}
		}
		ssize_t n = write(r->fd[0], r->send.data + r->sent, r->send.len - r->sent);
		if (n < 0 && errno != EINTR && errno != EAGAIN) {
			r->refused = true;
			close(r->fd[0]);
			r->fd[0] = -1;
		}
		if (n < 0 && errno != EINTR)
			return;
		r->sent += n > 0 ? (size_t)n : 0;
		r->moved_ns = ctp_clock_ns();
	}
}

/*
 * Takes what it gives, but not for ever. What is beyond the limit is read and left out; of an answer that is an error, later. Who only
 * complains does nothing.
 */
static void take(struct run *r, int i, struct ctp_bytes *to, size_t max)
{
	static char data[PIECE];
	for (int reads = 0; r->fd[i] >= 0 && reads < READS_MAX; reads++) {
		ssize_t n = read(r->fd[i], data, sizeof data);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close(r->fd[i]);
			r->fd[i] = -1;
			return;
		}
		if (i == 1)
			r->moved_ns = ctp_clock_ns();
		size_t room = to->len < max ? max - to->len : 0;
		ctp_bytes_put(to, data, (size_t)n < room ? (size_t)n : room);
		if (i == 1 && to->len >= max)
			return;
	}
}

/*
 * Feeds the client, and reads what it prints, until the client has ended. A program that the client has started may keep the pipe of
 * its output open: only what was printed before the end of the client counts.
 */
static enum ctp_status attend(struct run *r, struct ctp_err *err)
{
	while (!r->ended) {
		struct pollfd fds[PIPES];
		for (int i = 0; i < PIPES; i++)
			fds[i] = (struct pollfd){.fd = r->fd[i], .events = i ? POLLIN : POLLOUT};
		/* Without open pipes it is about to end. */
		bool closed = r->fd[1] < 0 && r->fd[2] < 0;
		if (poll(fds, PIPES, closed ? 1 : LOOK_MS) < 0 && errno != EINTR)
			return ctp_err_sys(err, "poll");
		r->ended = waitpid(r->pid, &r->how, WNOHANG) == r->pid;
		feed(r);
		take(r, 1, &r->answer, ANSWER_MAX);
		take(r, 2, &r->complaint, COMPLAINT_MAX);
		if (r->answer.len >= ANSWER_MAX)
			return fail(r, err, "its answer is too long; is it clickhouse-client?");
		if (!r->ended && ctp_clock_ns() - r->moved_ns > r->client->timeout_ns)
			return ctp_err_set(err, "%s: has neither read nor written anything for %.1f s; see --timeout", r->client->shown,
			                   (double)r->client->timeout_ns / 1e9);
	}
	return CTP_OK;
}

/* Of what it complained about, the line that says most: a server's exception, or else the last one. */
static enum ctp_status complain(struct run *r, struct ctp_err *err)
{
	const char *text = ctp_bytes_str(&r->complaint), *best = "";
	size_t len = 0;
	for (const char *line = text ? text : ""; *line;) {
		size_t n = strcspn(line, "\r\n");
		bool is_exception = memmem(line, n, "DB::", 4) != NULL;
		if (n && (is_exception || !memmem(best, len, "DB::", 4))) {
			best = line;
			len = n;
		}
		if (is_exception)
			break;
		line += n + strspn(line + n, "\r\n");
	}
	while (len && (best[len - 1] == ' ' || best[len - 1] == '.'))
		len--;
	if (len)
		return ctp_err_set(err, "%s: %.*s", r->client->shown, (int)(len < 400 ? len : 400), best);
	return WIFSIGNALED(r->how) ? ctp_err_set(err, "%s: was killed by signal %d", r->client->shown, WTERMSIG(r->how)) :
	       ctp_err_set(err, "%s: ended with status %d and printed no reason", r->client->shown, WEXITSTATUS(r->how));
}

/* The answer is the caller's to free, in any case. */
static enum ctp_status run(struct run *r, const char *query, struct ctp_err *err)
{
	enum ctp_status status = start(r, query, err);
	if (!status)
		status = attend(r, err);
	if (!status && (!WIFEXITED(r->how) || WEXITSTATUS(r->how)))
		status = complain(r, err);
	else if (!status && (r->refused || r->fd[0] >= 0 || r->sent < r->send.len))
		status = fail(r, err, "ended before it had read all rows");
	else if (!status && (r->send.failed || r->answer.failed))
		status = ctp_err_memory(err);
	stop(r);
	return status;
}

enum ctp_status ctp_clickhouse_insert(const struct ctp_clickhouse_client *client, const char *query, ctp_clickhouse_more *more, void *arg,
                                      struct ctp_err *err)
{
	struct run r = {.client = client, .more = more, .arg = arg};
	enum ctp_status status = run(&r, query, err);
	ctp_bytes_fini(&r.answer);
	return status;
}

/* A query goes to standard input: an argument has a limit. */
static bool send_once(void *arg, struct ctp_bytes *to)
{
	struct ctp_bytes *query = arg;
	ctp_bytes_put(to, query->data, query->len);
	bool any = query->len > 0;
	query->len = 0;
	return any;
}

enum ctp_status ctp_clickhouse_tell(const struct ctp_clickhouse_client *client, const char *query, struct ctp_err *err)
{
	struct ctp_bytes text = {0};
	ctp_bytes_text(&text, query);
	enum ctp_status status = text.failed ? ctp_err_memory(err) : ctp_clickhouse_insert(client, NULL, send_once, &text, err);
	ctp_bytes_fini(&text);
	return status;
}

/* --- answers -------------------------------------------------------------------------------------------------------------- */

/* Splits a line of ncolumns texts; false: it has more or fewer. */
static bool split(char *line, size_t len, unsigned ncolumns, char *texts[CTP_CLICKHOUSE_COLUMNS_MAX])
{
	char *end = line + len;
	unsigned n = 0;
	if (memchr(line, '\0', len) || memchr(line, '\\', len))
		return false;
	*end = '\0';
	for (char *tab; n < ncolumns; line = tab + 1) {
		texts[n++] = line;
		tab = memchr(line, '\t', (size_t)(end - line));
		if (!tab)
			return n == ncolumns;
		*tab = '\0';
	}
	return false;
}

/* Calls row (null: nobody) for each row. False: this is no answer. */
static bool each_row(char *data, size_t len, unsigned ncolumns, ctp_clickhouse_row *row, void *arg)
{
	char *texts[CTP_CLICKHOUSE_COLUMNS_MAX], *end = data + len;
	bool complete = false;
	while (data < end) {
		char *newline = memchr(data, '\n', (size_t)(end - data));
		if (!newline || !split(data, (size_t)(newline - data), ncolumns, texts))
			return false;
		if (!strcmp(texts[0], END_ROW)) {
			if (complete)
				return false;
			complete = true;
		} else if (row) {
			row(arg, texts);
		}
		data = newline + 1;
	}
	return complete;
}

enum ctp_status ctp_clickhouse_ask(const struct ctp_clickhouse_client *client, unsigned ncolumns, const char *query,
                                   ctp_clickhouse_row *row, void *arg, struct ctp_err *err)
{
	struct ctp_bytes whole = {0}, copy = {0};
	struct run r = {.client = client, .more = send_once, .arg = &whole};
	ctp_clickhouse_put(&whole, "%s UNION ALL SELECT %L", query, END_ROW);
	for (unsigned i = 1; i < ncolumns; i++)
		ctp_clickhouse_put(&whole, ", ''");
	ctp_clickhouse_put(&whole, " FORMAT TabSeparated");
	enum ctp_status status = whole.failed ? ctp_err_memory(err) : run(&r, NULL, err);
	ctp_bytes_put(&copy, r.answer.data, r.answer.len); /* looked at before any row counts, which changes it */
	if (!status && copy.failed)
		status = ctp_err_memory(err);
	if (!status && !each_row(copy.data, copy.len, ncolumns, NULL, NULL))
		status = fail(&r, err, "its answer does not fit the query; is it clickhouse-client?");
	if (!status)
		each_row(r.answer.data, r.answer.len, ncolumns, row, arg);
	ctp_bytes_fini(&whole);
	ctp_bytes_fini(&copy);
	ctp_bytes_fini(&r.answer);
	return status;
}
