/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-folder.c - a folder that appears whole or not at all.
 *
 * The guard, a child process, removes the folder that is called temp. It waits for the end of a pipe that only the parent holds
 * open, so a failure, a signal, a kill -9 and success all take the same way: after a rename nothing is called temp, and after an
 * exchange the old trace is.
 */
#include "ctf/ctf-folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/syscalls.h"
#include "io/folder.h"
#include "io/input-interrupt.h"

/* --- the guard ------------------------------------------------------------------------------------------------------------ */

/* Static, because the signal handler needs it. */
static struct {
	volatile pid_t pid; /* 0: none */
	int pipe;           /* the parent's end; the guard acts when it is closed */
	struct ctp_signals signals;
} guard;

static bool is_number(const char *name) { return *name && name[strspn(name, "0123456789")] == '\0'; }

static DIR *list(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Removes a trace, whole or not, or folders of traces that are nested up to levels deep. Other files stay. */
static void remove_trace(int folder, const char *name, unsigned levels)
{
	DIR *dir = list(folder, name);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (!strncmp(e->d_name, "metadata", 8) || !strncmp(e->d_name, "stream_", 7))
			unlinkat(dirfd(dir), e->d_name, 0);
		else if (levels && is_number(e->d_name))
			remove_trace(dirfd(dir), e->d_name, levels - 1);
	}
	if (dir)
		closedir(dir);
	unlinkat(folder, name, AT_REMOVEDIR);
}

static _Noreturn void guard_main(const struct ctp_ctf_folder *f, int pipe)
{
	char c;
	ctp_signals_ignore_all();
	setsid(); /* signals to the parent's group do not reach the guard */
	/* The guard closes the parent's pipes, so that they end with the parent; but not stderr: at its end all is removed. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	while (read(pipe, &c, 1) < 0 && errno == EINTR)
		;
	remove_trace(f->parent, f->temp, 2); /* an old trace of several sections is a section of it after the exchange */
	_exit(0);
}

/* Calls only functions that a signal handler may call. */
static void dismiss(void)
{
	pid_t pid = guard.pid;
	if (!pid)
		return;
	guard.pid = 0;
	close(guard.pipe);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void on_signal(int sig)
{
	if (ctp_input_interrupted(sig))
		return;
	dismiss();
	ctp_signals_die(sig);
}

static enum ctp_status start_guard(const struct ctp_ctf_folder *f, struct ctp_err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return ctp_err_sys(err, "pipe");
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		guard_main(f, ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		ctp_err_sys(err, "fork");
		close(ends[1]);
		return CTP_FAILED;
	}
	guard.pipe = ends[1];
	guard.pid = pid;
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	sigfillset(&act.sa_mask);
	guard.signals = (struct ctp_signals){0};
	ctp_signals_take_unignored(&guard.signals, (const int[]){SIGINT, SIGTERM, SIGHUP, 0}, &act);
	return CTP_OK;
}

/* --- what may be replaced ------------------------------------------------------------------------------------------------- */

static bool has_mark(int folder)
{
	char text[sizeof CTP_CTF_MARK - 1];
	int fd = openat(folder, "metadata", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool marked = fd >= 0 && read(fd, text, sizeof text) == sizeof text && !memcmp(text, CTP_CTF_MARK, sizeof text);
	if (fd >= 0)
		close(fd);
	return marked;
}

/* Whether the folder is a trace and holds no other file; with `many` also a folder of such traces. */
static bool is_ours(int folder, const char *name, bool many)
{
	struct stat st;
	DIR *dir = list(folder, name);
	bool ours = dir != NULL, marked = false;
	for (struct dirent *e; ours && (e = readdir(dir));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		bool regular = !fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
		if (regular && !strcmp(e->d_name, "metadata"))
			ours = marked = has_mark(dirfd(dir));
		else if (regular && !strncmp(e->d_name, "stream_", 7))
			ours = is_number(e->d_name + 7);
		else
			ours = marked = many && is_number(e->d_name) && is_ours(dirfd(dir), e->d_name, false);
	}
	if (dir)
		closedir(dir);
	return ours && marked;
}

/* rename(2) replaces an empty folder, and fails if there is anything else of the name. */
static enum ctp_status check(const struct ctp_ctf_folder *f, bool *replace, struct ctp_err *err)
{
	struct stat st, above;
	*replace = false;
	if (fstatat(f->parent, f->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? CTP_OK : ctp_err_sys(err, "%s", f->path);
	if (!S_ISDIR(st.st_mode))
		return ctp_err_set(err, "%s: exists and is no folder", f->path);
	if (!fstat(f->parent, &above) && above.st_dev != st.st_dev)
		return ctp_err_set(err, "%s: a file system is mounted there; name a folder in it", f->path);
	DIR *dir = list(f->parent, f->name);
	if (!dir)
		return ctp_err_sys(err, "%s", f->path);
	for (struct dirent *e; !*replace && (e = readdir(dir));)
		*replace = strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(dir);
	if (!*replace)
		return CTP_OK;
	if (!f->force)
		return ctp_err_set(err, "%s: exists and is not empty; remove it, or use -f to replace a trace", f->path);
	if (!is_ours(f->parent, f->name, true))
		return ctp_err_set(err, "%s: is not a trace that ctp-toctf wrote, so -f leaves it alone", f->path);
	return CTP_OK;
}

/* --- begin, publish, end -------------------------------------------------------------------------------------------------- */

/* The path without slashes at its end; for a symbolic link that of its target, so that the link stays. */
static enum ctp_status name_it(struct ctp_ctf_folder *f, const char *path, struct ctp_err *err)
{
	char given[PATH_MAX];
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len >= sizeof given)
		return ctp_err_set(err, "%.40s...: the name is too long", path);
	memcpy(given, path, len);
	given[len] = '\0';
	const char *slash = strrchr(given, '/'), *last = slash ? slash + 1 : given;
	if (!*last || !strcmp(last, ".") || !strcmp(last, ".."))
		return ctp_err_set(err, "-o %s: cannot be made anew; name a folder that does not exist", path);
	if (!realpath(given, f->path))
		memcpy(f->path, given, len + 1);
	return CTP_OK;
}

/* Whether temp is still the folder that is filled. */
static bool is_same(const struct ctp_ctf_folder *f)
{
	struct stat named, filled;
	return !fstatat(f->parent, f->temp, &named, AT_SYMLINK_NOFOLLOW) && !fstat(f->fd, &filled) && named.st_dev == filled.st_dev &&
	       named.st_ino == filled.st_ino && filled.st_uid == geteuid();
}

static enum ctp_status make_temp(struct ctp_ctf_folder *f, struct ctp_err *err)
{
	uint32_t random;
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		return ctp_err_sys(err, "%s", f->path);
	snprintf(f->temp, sizeof f->temp, "%.*s.%08x", NAME_MAX, f->name, random);
	if (mkdirat(f->parent, f->temp, 0777))
		return ctp_err_sys(err, "%s", f->path);
	f->fd = openat(f->parent, f->temp, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd < 0)
		return ctp_err_sys(err, "%s", f->path); /* it was exchanged */
	if (!start_guard(f, err))
		return CTP_OK;
	unlinkat(f->parent, f->temp, AT_REMOVEDIR);
	return CTP_FAILED;
}

static void close_both(struct ctp_ctf_folder *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->parent >= 0)
		close(f->parent);
	f->fd = f->parent = -1;
}

enum ctp_status ctp_ctf_folder_begin(struct ctp_ctf_folder *f, const char *path, bool force, struct ctp_err *err)
{
	bool replace;
	f->force = force;
	f->fd = -1;
	if (name_it(f, path, err) || (f->parent = ctp_folder_of(f->path, &f->name, err)) < 0)
		return CTP_FAILED;
	if (check(f, &replace, err) || make_temp(f, err)) {
		close_both(f);
		return CTP_FAILED;
	}
	return CTP_OK;
}

/* The new folder has the mode of the one that it replaces, unless that is another user's. */
static void copy_mode(const struct ctp_ctf_folder *f, int from, const char *what)
{
	struct stat st;
	if (fstatat(f->parent, f->name, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != geteuid())
		return;
	int fd = openat(from, what, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		fchmod(fd, st.st_mode & 07777);
		close(fd);
	}
}

enum ctp_status ctp_ctf_folder_publish(struct ctp_ctf_folder *f, const char *inner, struct ctp_err *err)
{
	int from = inner ? f->fd : f->parent;
	const char *what = inner ? inner : f->temp;
	bool replace;
	if (check(f, &replace, err))
		return CTP_FAILED;
	if (!inner && !is_same(f))
		return ctp_err_set(err, "%s: the folder was exchanged for another while it was filled", f->path);
	copy_mode(f, from, what);
	if (!replace)
		return renameat(from, what, f->parent, f->name) ? ctp_err_sys(err, "%s", f->path) : CTP_OK;
	if (!renameat2(from, what, f->parent, f->name, RENAME_EXCHANGE))
		return CTP_OK;
	if (errno == EINVAL)
		return ctp_err_set(err, "%s: this file system cannot exchange folders; remove it first", f->path);
	return ctp_err_sys(err, "%s", f->path);
}

void ctp_ctf_folder_end(struct ctp_ctf_folder *f)
{
	sigset_t ours, before;
	sigemptyset(&ours);
	for (unsigned i = 0; i < guard.signals.n; i++)
		sigaddset(&ours, guard.signals.sigs[i]);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	dismiss();
	ctp_signals_restore(&guard.signals);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close_both(f);
}
