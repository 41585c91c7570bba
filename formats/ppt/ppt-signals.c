/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-signals.c - see ppt-signals.h. */
#include "ppt/ppt-signals.h"

#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "collect/foreground.h"

#define MS UINT64_C(1000000)
enum { READERS_MS = 10000, LOOK_MS = 20, REPEATED_MS = 500 };

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};

static struct {
	bool taken;
	int fd;
	sigset_t former;
	struct ctp_foreground foreground; /* its group is 0: there is none */
	unsigned count;
	int key; /* the last one that was for us */
	uint64_t key_ns; /* the first one */
} s = {.fd = -1};

/* --- taking and giving back -------------------------------------------------------------- */

static bool is_piped(const char *output)
{
	struct stat st;
	if (output && strcmp(output, "-"))
		return false;
	return !fstat(STDOUT_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static void add_job_signals(sigset_t *set)
{
	sigset_t jobs;
	ctp_foreground_signals(&jobs);
	sigorset(set, set, &jobs);
	sigaddset(set, SIGCHLD);
}

/* Blocked signals come to a descriptor also if they were ignored before. */
static void set_signals(bool with_jobs)
{
	sigset_t set;
	sigemptyset(&set);
	for (const int *sig = ends; *sig; sig++)
		sigaddset(&set, *sig);
	if (with_jobs)
		add_job_signals(&set);
	sigset_t mask;
	sigorset(&mask, &s.former, &set);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	s.fd = signalfd(s.fd, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void make_foreground(bool has_command)
{
	set_signals(true);
	if (!ctp_foreground_init(&s.foreground, has_command)) {
		s.foreground.group = 0;
		set_signals(false);
	}
}

enum ctp_status ctp_ppt_signals_take(const struct ctp_ppt_live_conf *conf, struct ctp_err *err)
{
	if (s.taken)
		return CTP_OK;
	s.count = 0;
	s.key = 0;
	s.foreground = (struct ctp_foreground){0};
	sigprocmask(SIG_BLOCK, NULL, &s.former);
	set_signals(false);
	if (s.fd < 0)
		return ctp_err_sys(err, "signalfd");
	s.taken = true;
	if (is_piped(conf->output))
		make_foreground(conf->argv);
	return CTP_OK;
}

void ctp_ppt_signals_give_back(void)
{
	if (!s.taken)
		return;
	ctp_ppt_signals_read();
	if (s.foreground.group)
		ctp_foreground_fini(&s.foreground);
	close(s.fd);
	s.fd = -1;
	s.taken = false;
	sigprocmask(SIG_SETMASK, &s.former, NULL);
}

const sigset_t *ctp_ppt_signals_former(void) { return &s.former; }
pid_t ctp_ppt_signals_group(void) { return s.foreground.group; }
void ctp_ppt_signals_started(pid_t program) { s.foreground.command = program; }
int ctp_ppt_signals_fd(void) { return s.fd; }

/* --- signals that have come -------------------------------------------------------------- */

/* Its end stays to be asked for. */
static void look_at_program(struct ctp_foreground *f)
{
	siginfo_t info = {0};
	pid_t program = f->command;
	if (program && !waitid(P_PID, (id_t)program, &info, WSTOPPED | WCONTINUED | WNOHANG) && info.si_pid) {
		if (info.si_code == CLD_STOPPED)
			ctp_foreground_stopped(f, info.si_status);
		else if (info.si_code == CLD_CONTINUED)
			ctp_foreground_continued(f);
	}
	info = (siginfo_t){0};
	if (program && !waitid(P_PID, (id_t)program, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid)
		ctp_foreground_ended(f);
	ctp_foreground_look(f);
}

/* A key that is pressed twice in a moment is meant once. */
static void take_end(const struct signalfd_siginfo *info)
{
	uint64_t now_ns = ctp_clock_ns();
	bool is_key = ctp_foreground_relayed(&s.foreground, info), again = is_key && s.key && now_ns - s.key_ns < REPEATED_MS * MS;
	if (s.foreground.command && info->ssi_code > 0)
		ctp_foreground_send(&s.foreground, (int)info->ssi_signo, true);
	if (again)
		return;
	s.count++;
	if (is_key && !s.key)
		s.key_ns = now_ns;
	if (is_key)
		s.key = (int)info->ssi_signo;
}

static void take(const struct signalfd_siginfo *info)
{
	struct ctp_foreground *f = &s.foreground;
	int sig = (int)info->ssi_signo;
	if (ctp_foreground_is_for_command(&s.foreground, info)) {
		ctp_foreground_typed(f, sig);
		return;
	}
	switch (sig) {
	case SIGCHLD:
		look_at_program(f);
		break;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
		ctp_foreground_signal(f, sig, ctp_foreground_relayed(&s.foreground, info));
		break;
	default:
		take_end(info);
	}
}

unsigned ctp_ppt_signals_read(void)
{
	struct signalfd_siginfo info;
	while (read(s.fd, &info, sizeof info) == sizeof info)
		take(&info);
	uint64_t now_ns = s.foreground.group ? ctp_clock_ns() : 0;
	if (s.foreground.group && now_ns >= s.foreground.due_ns)
		ctp_foreground_keep(&s.foreground, now_ns);
	return s.count;
}

/* --- the readers ------------------------------------------------------------------------- */

static bool has_readers(void)
{
	pid_t first;
	return !s.foreground.shared && ctp_foreground_readers(&s.foreground, &first, 1);
}

void ctp_ppt_signals_await_readers(void)
{
	if (!s.foreground.group || !(s.foreground.typed || s.key))
		return;
	unsigned before = ctp_ppt_signals_read(), most = before > 1 ? before : 2;
	uint64_t until_ns = ctp_clock_ns() + READERS_MS * MS;
	struct pollfd look = {.fd = s.fd, .events = POLLIN};
	while (s.count < most && ctp_clock_ns() < until_ns && has_readers()) {
		poll(&look, 1, LOOK_MS);
		ctp_ppt_signals_read();
	}
	if (s.count < most || !s.key)
		return;
	ctp_foreground_fini(&s.foreground);
	kill(0, s.key); /* blocked here, and not read any more */
}
