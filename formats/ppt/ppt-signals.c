/*
 * ppt-signals.c - blocks signals and reads them.
 */
#include "ppt/ppt-signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int signals = -1;
static sigset_t before;
static int urged;

enum ctp_status ctp_ppt_signals_take(struct ctp_err *err)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	urged = 0;
	sigprocmask(SIG_BLOCK, &set, &before);
	signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return signals >= 0 ? CTP_OK : ctp_err_sys(err, "signalfd");
}

void ctp_ppt_signals_give_back(void)
{
	if (signals >= 0) {
		ctp_ppt_signals_hear();
		close(signals);
	}
	signals = -1;
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int ctp_ppt_signals_fd(void) { return signals; }

void ctp_ppt_signals_hear(void)
{
	struct signalfd_siginfo info;
	while (read(signals, &info, sizeof info) == sizeof info)
		urged++;
}

bool ctp_ppt_signals_urged(void) { return urged > 0; }

bool ctp_ppt_signals_hopeless(void)
{
	ctp_ppt_signals_hear();
	return urged > 1;
}
