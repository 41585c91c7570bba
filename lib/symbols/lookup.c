/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * lookup.c - see lookup.h.
 *
 * A question and its answer are one packet each, on a pair of sockets. A question says all that the child needs to open the module,
 * so a new child goes on where the last one died.
 */
#include "symbols/lookup.h"

#ifndef HAVE_LIBDW

struct ctp_lookup {
	char unused;
};

struct ctp_lookup *ctp_lookup_new(void)
{
	static struct ctp_lookup none;
	return &none;
}

void ctp_lookup_free(struct ctp_lookup *l) { (void)l; }
void ctp_lookup_forget(struct ctp_lookup *l) { (void)l; }

bool ctp_lookup_find(struct ctp_lookup *l, uint32_t number, const struct ctp_module_want *want, const struct ctp_module_at *at,
                     struct ctp_module_place *place)
{
	(void)l, (void)number, (void)want, (void)at;
	*place = (struct ctp_module_place){.line = 0};
	return false;
}

#else

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbols/confine.h"

struct question {
	struct ctp_module_at at;
	uint64_t allowed_ns; /* CPU time that is left to the module */
	uint32_t number, id_bytes;
	bool id_known;
	char path[CTP_LOOKUP_PATH_MAX + 1];
	uint8_t id[CTP_LOOKUP_ID_MAX];
};

struct answer {
	struct ctp_module_place place;
	uint64_t cpu_ns;
	bool known;
};

struct ctp_lookup {
	int fd; /* -1: no child */
	pid_t child;
	unsigned deaths;
	uint64_t module_ns, cpu_ns;       /* CPU time: allowed to a module; used by all */
	uint64_t module_clock_ns, clock_ns; /* the same by the clock */
	struct {
		bool dead;
		uint64_t cpu_ns, clock_ns;
	} modules[CTP_LOOKUP_MODULES];
};

/* --- the child ----------------------------------------------------------------------------------------------------------- */

static _Noreturn void serve(int fd, const char *const *dirs, size_t ndirs)
{
	static struct {
		struct ctp_module *files; /* null: none */
		bool opened;
	} modules[CTP_LOOKUP_MODULES];
	static struct question q;
	static struct answer a;
	if (!ctp_confine(fd, "ctp-symbols", CTP_LOOKUP_BYTES))
		_exit(1);
	while (recv(CTP_CONFINED_FD, &q, sizeof q, 0) == (ssize_t)sizeof q) {
		uint64_t began = ctp_confined_cpu_ns();
		ctp_confine_cpu(q.allowed_ns);
		if (!modules[q.number].opened) {
			struct ctp_module_want want = {.path = q.path, .id = q.id, .id_bytes = q.id_bytes, .id_known = q.id_known,
			                               .dirs = dirs, .ndirs = ndirs};
			modules[q.number].opened = true;
			modules[q.number].files = ctp_module_open(&want);
		}
		memset(&a, 0, sizeof a);
		a.known = modules[q.number].files && ctp_module_find(modules[q.number].files, &q.at, &a.place);
		a.cpu_ns = ctp_confined_cpu_ns() - began;
		if (send(CTP_CONFINED_FD, &a, sizeof a, MSG_NOSIGNAL) != (ssize_t)sizeof a)
			break;
	}
	_exit(0);
}

/* --- the parent ---------------------------------------------------------------------------------------------------------- */

struct ctp_lookup *ctp_lookup_new(void)
{
	struct ctp_lookup *l = calloc(1, sizeof *l);
	if (l)
		*l = (struct ctp_lookup){.fd = -1, .module_ns = CTP_LOOKUP_MODULE_S * CTP_SECOND_NS,
		                         .module_clock_ns = CTP_CONFINED_CLOCK_S * CTP_SECOND_NS};
	return l;
}

static bool begin(struct ctp_lookup *l, const char *const *dirs, size_t ndirs)
{
	int ends[2];
	if (l->fd >= 0)
		return true;
	if (l->deaths == CTP_LOOKUP_DEATHS || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	l->child = fork();
	if (!l->child)
		serve(ends[1], dirs, ndirs);
	close(ends[1]);
	if (l->child < 0) {
		close(ends[0]);
		return false;
	}
	l->fd = ends[0];
	return true;
}

static void end(struct ctp_lookup *l, bool stalled)
{
	if (l->fd < 0)
		return;
	close(l->fd);
	l->fd = -1;
	ctp_confined_end(l->child, stalled);
}

void ctp_lookup_forget(struct ctp_lookup *l)
{
	end(l, false);
	memset(l->modules, 0, sizeof l->modules);
}

void ctp_lookup_free(struct ctp_lookup *l)
{
	if (!l)
		return;
	end(l, false);
	free(l);
}

/* False: there is no answer, or none by then. */
static bool ask(struct ctp_lookup *l, const struct question *q, struct answer *a, uint64_t until_ns)
{
	if (send(l->fd, q, sizeof *q, MSG_NOSIGNAL) != (ssize_t)sizeof *q)
		return false;
	ssize_t n;
	if (!ctp_confined_wait(l->child, l->fd, until_ns)) {
		end(l, true);
		return false;
	}
	while ((n = recv(l->fd, a, sizeof *a, 0)) < 0 && errno == EINTR)
		;
	return n == (ssize_t)sizeof *a;
}

static void put_question(struct question *q, uint32_t number, const struct ctp_module_want *want, const struct ctp_module_at *at)
{
	memset(q, 0, sizeof *q);
	q->at = *at;
	q->number = number;
	q->id_known = want->id_known;
	q->id_bytes = (uint32_t)want->id_bytes;
	if (want->id_bytes)
		memcpy(q->id, want->id, want->id_bytes);
	memcpy(q->path, want->path, strlen(want->path));
}

/* All that there is for all modules is used, of either clock. */
static bool is_spent(const struct ctp_lookup *l)
{
	return l->cpu_ns >= CTP_LOOKUP_TOTAL_S * CTP_SECOND_NS || l->clock_ns >= CTP_LOOKUP_TOTAL_S * CTP_SECOND_NS;
}

bool ctp_lookup_find(struct ctp_lookup *l, uint32_t number, const struct ctp_module_want *want, const struct ctp_module_at *at,
                     struct ctp_module_place *place)
{
	struct question q;
	struct answer a;
	assert(number < CTP_LOOKUP_MODULES);
	*place = (struct ctp_module_place){.line = 0};
	if (want->path[0] != '/' || l->modules[number].dead || is_spent(l) || strlen(want->path) > CTP_LOOKUP_PATH_MAX ||
	    want->id_bytes > CTP_LOOKUP_ID_MAX || !begin(l, want->dirs, want->ndirs))
		return false;
	put_question(&q, number, want, at);
	q.allowed_ns = l->module_ns - l->modules[number].cpu_ns;
	uint64_t began_ns = ctp_clock_ns();
	bool answered = ask(l, &q, &a, began_ns + l->module_clock_ns - l->modules[number].clock_ns);
	uint64_t took_ns = ctp_clock_ns() - began_ns;
	l->clock_ns += took_ns;
	l->modules[number].clock_ns += took_ns;
	if (!answered) {
		l->modules[number].dead = true;
		l->deaths++;
		end(l, false);
		return false;
	}
	l->cpu_ns += a.cpu_ns;
	l->modules[number].cpu_ns += a.cpu_ns;
	l->modules[number].dead = l->modules[number].cpu_ns >= l->module_ns || l->modules[number].clock_ns >= l->module_clock_ns;
	*place = a.place;
	place->function[sizeof place->function - 1] = place->file[sizeof place->file - 1] = '\0';
	return a.known;
}

#endif
