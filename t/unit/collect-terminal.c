/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp-collect at a terminal (a pseudo-terminal here): typed signals and input reach the command once; binary data does not
 * reach the terminal.
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static char screen[8192];

/* Reads the terminal until it says so, or its last process has closed it. */
static bool until(int tty, const char *text)
{
	size_t len = 0;
	for (ssize_t n; len < sizeof(screen) - 1; len += (size_t)n) {
		screen[len] = '\0';
		if (text && strstr(screen, text))
			return true;
		n = read(tty, screen + len, sizeof(screen) - 1 - len);
		if (n <= 0)
			break;
	}
	screen[len] = '\0';
	return !text;
}

static int start(const char *const *argv, pid_t *pid)
{
	int tty;
	*pid = forkpty(&tty, NULL, NULL, NULL);
	if (*pid == 0) {
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(126);
	}
	return tty;
}

int main(void)
{
	char collect[4096], file[] = "/tmp/collect-terminal-XXXXXX";
	const char *bin = getenv("BIN"), *o = getenv("O");
	snprintf(collect, sizeof(collect), "%s/ctp-collect", bin ? bin : "build/bin");
	if (!bin && o)
		snprintf(collect, sizeof(collect), "%s/bin/ctp-collect", o);
	if (access(collect, X_OK))
		skip_all("ctp-collect is not built");
	int probe = posix_openpt(O_RDWR | O_NOCTTY);
	if (probe < 0)
		skip_all("there are no pseudo-terminals here");
	close(probe);
	close(mkstemp(file));
	int status;
	pid_t pid;

	/* The second read ends the command when both signals of a doubled one would have come. */
	const char *const typed[] = {collect, "-o", file, "--", "sh", "-c",
	                             "n=0; trap 'n=$((n + 1)); echo caught $n' INT; echo ready; "
	                             "read a; read b; echo ended $n; exit 5",
	                             NULL};
	int tty = start(typed, &pid);
	ok(until(tty, "ready"), "the command runs on the terminal");
	ok(write(tty, "\003", 1) == 1 && until(tty, "caught 1"), "a typed interrupt reaches the command");
	ok(write(tty, "\n\n\n", 3) == 3 && until(tty, "ended"), "the command can read from the terminal");
	ok(!strstr(screen, "caught 2"), "the command gets the interrupt once");
	until(tty, NULL);
	ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5,
	   "the collector exits with the command's status");
	close(tty);

	const char *const binary[] = {collect, "sh", "-c", "echo started", NULL};
	tty = start(binary, &pid);
	until(tty, NULL);
	ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 125,
	   "binary output to a terminal is refused");
	ok(strstr(screen, "-f") && !strstr(screen, "started"), "the command is not started, and the message names -f");
	close(tty);
	const char *const forced[] = {collect, "-f", "true", NULL};
	tty = start(forced, &pid);
	until(tty, NULL);
	ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0,
	   "-f allows binary output to a terminal");
	close(tty);
	unlink(file);
	return done_testing();
}
