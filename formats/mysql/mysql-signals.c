/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mysql-signals.c - a load that a signal ends leaves nothing.
 *
 * The load may wait for its input, for the server or for a lock there, and none of these ends by a flag. So a thread waits for the
 * signal: it has the server end the load's connection, removes over its own what is left, and ends the process by that signal. A
 * second signal ends the process at once. The load that fails meanwhile waits for this, in ctp_mysql_signals_fini.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/signals.h"
#include "io/input-interrupt.h"
#include "mysql/mysql-db.h"

/* Static, because the handler needs it. */
static struct {
	volatile sig_atomic_t told;
	int ends[2]; /* of a pipe: a byte is a signal's number */
	bool armed;
	pthread_t thread;
	struct ctp_signals signals;
	struct ctp_mysql own; /* the thread's, with a connection of its own */
	unsigned long load;   /* the connection that the server ends */
} state;

static void on_signal(int sig)
{
	int before = errno;
	char number = (char)sig;
	if (ctp_input_interrupted(sig))
		return;
	if (state.told || write(state.ends[1], &number, 1) != 1)
		ctp_signals_die(sig);
	state.told = 1;
	errno = before;
}

static void clean(struct ctp_mysql *own)
{
	struct ctp_err ignored; /* what is left is removed by the next load */
	if (!ctp_mysql_open(own, &ignored)) {
		ctp_sql_exec(&own->sql, &ignored, "KILL %d", (int64_t)state.load);
		if (!ctp_mysql_lock(own, CTP_MYSQL_UNDO_WAIT_S, &ignored))
			ctp_mysql_clean(own, &ignored);
	}
	if (own->conn)
		mysql_close(own->conn);
}

static void *wait_for_signal(void *arg)
{
	char number;
	ssize_t n;
	(void)arg;
	while ((n = read(state.ends[0], &number, 1)) < 0 && errno == EINTR)
		;
	if (n <= 0)
		return NULL;
	clean(&state.own);
	ctp_signals_die(number);
	return NULL;
}

void ctp_mysql_signals_init(struct ctp_mysql *m)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	state.own = (struct ctp_mysql){.sql = m->sql, .options = m->options, .ending = true};
	state.own.options.notice = NULL;
	state.load = mysql_thread_id(m->conn);
	if (state.armed || pipe2(state.ends, O_CLOEXEC))
		return;
	if (pthread_create(&state.thread, NULL, wait_for_signal, NULL)) {
		close(state.ends[0]);
		close(state.ends[1]);
		return;
	}
	state.armed = true;
	state.signals = (struct ctp_signals){0};
	ctp_signals_take_unignored(&state.signals, (const int[]){SIGINT, SIGTERM, SIGHUP, 0}, &action);
}

void ctp_mysql_signals_fini(void)
{
	if (!state.armed)
		return;
	ctp_signals_restore(&state.signals);
	close(state.ends[1]);
	pthread_join(state.thread, NULL);
	close(state.ends[0]);
	state.armed = false;
}
