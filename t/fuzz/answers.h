/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * answers.h - a fuzzer's database server inside the process, in the place of the client library's socket.
 *
 * connect(), send(), recv(), poll() and shutdown() of the library are those of this file, so that there is no second thread, and a run
 * is the same each time. The server answers each request as with an empty database, except those that the input names:
 * a byte for the number of usual answers before, one for the unusual answer, and its parameters. After the end of the input all
 * answers are usual. The protocol is the target's: it gives serve(), which takes bytes from the client.
 */
#ifndef CTP_T_ANSWERS_H
#define CTP_T_ANSWERS_H

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "must.h"
#include "stream/events.h"
#include "stream/sink.h"

enum { ANSWERS_REQUESTS_MAX = 4000, ANSWERS_IN = 1 << 20, ANSWERS_OUT = 1 << 20 };

enum answer { ANSWER_USUAL, ANSWER_ROWS, ANSWER_RAW, ANSWER_FRAMED, ANSWER_DONE, ANSWER_ERROR, ANSWER_END, ANSWER_WANTS, ANSWER_GIVES, ANSWER_KINDS };

static struct {
	const uint8_t *p, *end;     /* of the input */
	unsigned before, requests;  /* before: answered as usual before the next that is not */
	bool over;                  /* the server has gone */
	size_t nin, nout, taken;    /* bytes from the client that are no request yet; bytes for it, and those that it has taken */
	uint8_t in[ANSWERS_IN], out[ANSWERS_OUT];
} answers;

static void serve_connect(void);
static size_t serve(const uint8_t *data, size_t len); /* answers the first request of these bytes, and returns its length; 0: more is needed */

static inline uint8_t answers_byte(void) { return answers.p < answers.end ? *answers.p++ : 0; }

static inline void answers_start(const uint8_t *data, size_t size)
{
	answers.p = data;
	answers.end = data + size;
	answers.requests = 0;
	answers.before = answers_byte();
}

static inline enum answer answers_next(void)
{
	if (++answers.requests > ANSWERS_REQUESTS_MAX)
		return ANSWER_END;
	if (answers.p == answers.end || answers.before) {
		answers.before -= answers.before > 0;
		return ANSWER_USUAL;
	}
	enum answer a = answers_byte() % ANSWER_KINDS;
	return a;
}

/* The parameters of an answer have been read. */
static inline void answers_after(void) { answers.before = answers_byte(); }

static inline void answers_put(const void *data, size_t len)
{
	if (len > ANSWERS_OUT - answers.nout)
		answers.over = true;
	else
		memcpy(answers.out + answers.nout, data, len), answers.nout += len;
}

/* A text of the input: a byte for its length, and its bytes. */
static inline size_t answers_text(const uint8_t **text)
{
	size_t len = answers_byte(), left = (size_t)(answers.end - answers.p);
	len = len < left ? len : left;
	*text = answers.p;
	answers.p += len;
	return len;
}

/* --- where the library has its socket ---------------------------------------------------------------------------------------- */

#define SHOWN __attribute__((visibility("default")))

SHOWN int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)fd, (void)addr, (void)len;
	answers.nin = answers.nout = answers.taken = 0;
	answers.over = ++answers.requests > ANSWERS_REQUESTS_MAX;
	serve_connect();
	return 0;
}

SHOWN ssize_t send(int fd, const void *data, size_t len, int flags)
{
	(void)fd, (void)flags;
	if (answers.over || len > ANSWERS_IN - answers.nin) {
		errno = EPIPE;
		return -1;
	}
	memcpy(answers.in + answers.nin, data, len);
	answers.nin += len;
	for (size_t used; !answers.over && answers.nin && (used = serve(answers.in, answers.nin));) {
		answers.nin -= used;
		memmove(answers.in, answers.in + used, answers.nin);
	}
	return (ssize_t)len;
}

SHOWN ssize_t recv(int fd, void *to, size_t len, int flags)
{
	size_t left = answers.nout - answers.taken;
	(void)fd, (void)flags;
	if (!left && !answers.over) {
		errno = EAGAIN;
		return -1;
	}
	len = len < left ? len : left;
	memcpy(to, answers.out + answers.taken, len);
	answers.taken += len;
	if (answers.taken == answers.nout)
		answers.nout = answers.taken = 0;
	return (ssize_t)len;
}

/* A client that waits for ever finds that the server has gone. */
SHOWN int answers_poll(struct pollfd *fds, nfds_t n, int timeout) __asm__("poll"); /* gcc believes that it reads nothing */
int answers_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	short ready = 0;
	for (nfds_t i = 0; i < n; i++) {
		if (fds[i].events & POLLIN && timeout && answers.nout == answers.taken && !(fds[i].events & POLLOUT))
			answers.over = true;
		fds[i].revents = (short)(fds[i].events & (POLLOUT | (answers.over || answers.nout > answers.taken ? POLLIN : 0)));
		ready = (short)(ready + (fds[i].revents != 0));
	}
	return ready;
}

SHOWN int shutdown(int fd, int how)
{
	(void)fd, (void)how;
	answers.over = true;
	return 0;
}

/* --- the load ---------------------------------------------------------------------------------------------------------------- */

/* Three events, and a coroutine's name. err has a text if something failed. */
static inline void answers_load(struct ctp_sink *sink, struct ctp_err *err)
{
	static const enum ctp_event which[] = {CTP_TRANSITION, CTP_TRANSITION, CTP_DEATH};
	struct ctp_section section;
	struct ctp_class *classes[3] = {0};
	bool failed = !sink;
	ctp_section_init(&section);
	section.id = 1;
	ctp_section_add(&section, "host", "h");
	failed = failed || sink->ops->section(sink, &section, err);
	for (size_t i = 0; i < 3; i++) {
		uint64_t val[CTP_FIELDS_MAX];
		must(i == 1 || (classes[i] = ctp_event_class(which[i])), "no memory");
		struct ctp_class *cls = classes[i] ? classes[i] : classes[0];
		for (uint32_t f = 0; f < cls->nfields; f++)
			val[f] = ctp_type_is_text(cls->fields[f].type) ? 0 : i + 1;
		struct ctp_record rec = {.cls = cls, .val = val, .ts_ns = i + 1};
		struct ctp_batch batch = {.rec = &rec, .n = 1};
		cls->id = (uint32_t)which[i];
		failed = failed || sink->ops->records(sink, &batch, err) || (sink->ops->flush && sink->ops->flush(sink, err));
	}
	struct ctp_section_end end = {.complete = true};
	failed = failed || sink->ops->end(sink, &end, err) || sink->ops->finish(sink, err);
	must(!failed || *err->text, "failed without a message");
	if (sink)
		sink->ops->free(sink);
	for (size_t i = 0; i < 3; i++)
		ctp_class_free(classes[i]);
	ctp_section_fini(&section);
}

/* What is usual: the rows of the first line whose text is found in the statement, as "a|b;c|d", a line for each; null: no rows. */
struct usual {
	const char *part, *rows;
};

static inline const char *answers_usual(const struct usual *u, const char *statement)
{
	for (; u->part; u++)
		if (strstr(statement, u->part))
			return u->rows;
	return NULL;
}

#endif
