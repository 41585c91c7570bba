/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-launch.c - looks at the program until its buffers are there.
 *
 * A loader maps a library, clears its variables, and then sets its pointers: so a buffer is there when its description can be read, and
 * what is written to its variables from then on stays. Libraries come one after the other: so the same is seen some times.
 */
#include "ppt/ppt-live.h"
#include "ppt/ppt-signals.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "collect/spawn.h"

#define MS UINT64_C(1000000)
enum { SETTLED_LOOKS = 3, SOUGHT_BYTES = 200 };
static const uint64_t DOUBT_NS = 2000 * MS, SAID_NS = 5000 * MS;

enum look { NONE, UNREADABLE, REFUSED, READY };

static bool is_readable(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b)
{
	struct ctp_err ignored;
	struct ctp_ppt_layout *layout = ctp_ppt_symbols_layout(m, b, NULL, NULL, &ignored);
	ctp_ppt_layout_free(layout);
	return layout;
}

/* n: how many buffers there are. err: of REFUSED. */
static enum look look_at(const struct ctp_ppt_live_conf *conf, struct ctp_distinct *plain, size_t *n, struct ctp_err *err)
{
	struct ctp_ppt_memory m;
	struct ctp_ppt_buffers all;
	if (ctp_ppt_symbols_find(&all, conf->pid, plain, NULL, err))
		return REFUSED;
	bool any = false;
	for (size_t i = 0; i < all.n; i++)
		any |= ctp_ppt_chosen(conf->buffers, &all.buffer[i]);
	enum look look = !any ? NONE : ctp_ppt_memory_open(&m, conf->pid, true, err) ? REFUSED : READY;
	bool opened = look == READY;
	for (size_t i = 0; look == READY && i < all.n; i++)
		if (ctp_ppt_chosen(conf->buffers, &all.buffer[i]) && !is_readable(&m, &all.buffer[i]))
			look = UNREADABLE;
	*n = all.n;
	ctp_ppt_symbols_free(&all);
	if (opened)
		ctp_ppt_memory_close(&m);
	return look;
}

/* It is left to be reaped by ctp_ppt_launch_fate. */
static bool has_ended(const struct ctp_ppt_live_conf *conf)
{
	siginfo_t info = {0};
	return !waitid(P_PID, (id_t)conf->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == conf->pid;
}

/* "ppt buffers Foo, FooBar" */
static const char *sought(const struct ctp_ppt_live_conf *conf, char text[SOUGHT_BYTES])
{
	size_t len = (size_t)snprintf(text, SOUGHT_BYTES, "ppt buffers");
	for (char *const *name = conf->buffers; *name && len < SOUGHT_BYTES; name++)
		len += (size_t)snprintf(text + len, SOUGHT_BYTES - len, "%s %s", name == conf->buffers ? "" : ",", *name);
	return text;
}

static enum ctp_status too_quick(const struct ctp_ppt_live_conf *conf, struct ctp_err *err)
{
	char fate[CTP_PPT_FATE_BYTES], names[SOUGHT_BYTES];
	ctp_ppt_launch_fate(conf->pid, fate);
	return ctp_err_set(err, "%s: has ended before %s were found in it: it has none, was too quick, or a child has them, as of sh -c without exec%s%s",
	                   conf->argv[0], sought(conf, names), *fate ? "; " : "", fate);
}

static enum ctp_status await(const struct ctp_ppt_live_conf *conf, struct ctp_distinct *plain, struct ctp_err *err)
{
	uint64_t start_ns = ctp_clock_ns(), doubt_ns = 0, rest_ns = MS / 2;
	bool said = false;
	char names[SOUGHT_BYTES];
	for (size_t settled = 0, n = 0, before = 0;; before = n) {
		uint64_t now_ns = ctp_clock_ns(), passed_ns = now_ns - start_ns;
		if (has_ended(conf))
			return too_quick(conf, err);
		if (ctp_ppt_signals_read())
			return ctp_err_set(err, "%s: a signal has ended this before %s were found; it goes on", conf->argv[0],
			                   sought(conf, names));
		enum look look = look_at(conf, plain, &n, err);
		doubt_ns = look == NONE || look == READY ? 0 : doubt_ns ? doubt_ns : now_ns;
		bool doubtful = doubt_ns && now_ns - doubt_ns > DOUBT_NS;
		if (doubtful && look == REFUSED)
			return has_ended(conf) ? too_quick(conf, err) : CTP_FAILED;
		settled = look == READY && n == before ? settled + 1 : 0;
		if (settled == SETTLED_LOOKS || (doubtful && look == UNREADABLE))
			return CTP_OK;
		if (conf->limit_ns && passed_ns > conf->limit_ns)
			return ctp_err_set(err, "%s: has no %s after %.3g s, and goes on without us", conf->argv[0],
			                   sought(conf, names), (double)passed_ns / 1e9);
		if (look == NONE && !said && passed_ns > SAID_NS) {
			ctp_notice_say(conf->notice, "%s: has no %s so far; they are looked for until it ends", conf->argv[0],
			               sought(conf, names));
			said = true;
		}
		nanosleep(&(struct timespec){.tv_nsec = (long)rest_ns}, NULL);
		rest_ns = look != NONE ? MS : rest_ns < 20 * MS ? rest_ns + rest_ns / 4 : rest_ns;
	}
}

enum ctp_status ctp_ppt_launch(struct ctp_ppt_live_conf *conf, struct ctp_err *err)
{
	static const char *const env[] = {NULL};
	struct ctp_spawn_signals before;
	sigset_t none;
	sigemptyset(&none);
	if (ctp_ppt_signals_take(conf, err))
		return CTP_FAILED;
	signal(SIGPIPE, SIG_DFL); /* for the child: a tool ignores it */
	ctp_spawn_signals_take(&before, &none);
	before.mask = *ctp_ppt_signals_former();
	bool to_stdout = !conf->output || !strcmp(conf->output, "-");
	struct ctp_spawn_conf spawn = {.argv = conf->argv, .env = env, .stdout_to_stderr = to_stdout, .signals = &before,
	                               .group = ctp_ppt_signals_group()};
	struct ctp_distinct plain = CTP_PPT_PLAIN;
	enum ctp_status status = ctp_spawn(&spawn, &conf->pid, err) ? CTP_FAILED : CTP_OK;
	if (!status) {
		ctp_ppt_signals_started(conf->pid);
		status = await(conf, &plain, err);
	}
	ctp_distinct_fini(&plain);
	if (status)
		ctp_ppt_signals_give_back();
	return status;
}

void ctp_ppt_launch_fate(pid_t pid, char text[CTP_PPT_FATE_BYTES])
{
	int status;
	text[0] = '\0';
	if (waitpid(pid, &status, WNOHANG) != pid)
		return;
	if (WIFSIGNALED(status))
		snprintf(text, CTP_PPT_FATE_BYTES, "ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(text, CTP_PPT_FATE_BYTES, "exit status %d", WEXITSTATUS(status));
}
