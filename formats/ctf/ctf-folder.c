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
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the guard ------------------------------------------------------------------------------------------------------------ */

/* Static, because the signal handler needs it. */
static struct {
	volatile pid_t pid; /* 0: none */
	int pipe;           /* the parent's end; the guard acts when it is closed */
	struct sigaction before[3];
} guard;

static const int signals[3] = {SIGINT, SIGTERM, SIGHUP};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	remove(path);
	return 0;
}

static _Noreturn void guard_main(const char *temp, int pipe)
{
	char c;
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	setsid(); /* signals to the parent's group do not reach the guard */
	/* The guard closes the parent's pipes, so that they end with the parent; but not stderr: at its end all is removed. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	while (read(pipe, &c, 1) < 0 && errno == EINTR)
		;
	nftw(temp, remove_one, 16, FTW_DEPTH | FTW_PHYS);
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
	dismiss();
	signal(sig, SIG_DFL);
	raise(sig);
}

static enum ctp_status start_guard(const char *temp, struct ctp_err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return ctp_err_sys(err, "pipe");
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		guard_main(temp, ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		ctp_err_sys(err, "fork");
		close(ends[1]);
		return CTP_FAILED;
	}
	guard.pipe = ends[1];
	guard.pid = pid;
	struct sigaction act = {.sa_handler = on_signal};
	sigfillset(&act.sa_mask);
	for (int i = 0; i < 3; i++) {
		sigaction(signals[i], NULL, &guard.before[i]);
		if (guard.before[i].sa_handler != SIG_IGN) /* nohup(1) keeps its effect */
			sigaction(signals[i], &act, NULL);
	}
	return CTP_OK;
}

/* --- what may be replaced ------------------------------------------------------------------------------------------------- */

static bool has_mark(const char *path)
{
	char text[sizeof CTP_CTF_MARK - 1];
	FILE *f = fopen(path, "re");
	bool marked = f && fread(text, sizeof text, 1, f) == 1 && !memcmp(text, CTP_CTF_MARK, sizeof text);
	if (f)
		fclose(f);
	return marked;
}

static bool is_number(const char *name) { return *name && name[strspn(name, "0123456789")] == '\0'; }

/* Whether the folder is a trace and holds no other file; with `many` also a folder of such traces. */
static bool is_ours(const char *path, bool many)
{
	struct stat st;
	DIR *dir = lstat(path, &st) || !S_ISDIR(st.st_mode) ? NULL : opendir(path);
	bool ours = dir != NULL, marked = false;
	for (struct dirent *e; ours && (e = readdir(dir));) {
		char file[PATH_MAX + NAME_MAX + 2];
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(file, sizeof file, "%s/%s", path, e->d_name);
		bool regular = !lstat(file, &st) && S_ISREG(st.st_mode);
		if (regular && !strcmp(e->d_name, "metadata"))
			ours = marked = has_mark(file);
		else if (regular && !strncmp(e->d_name, "stream_", 7))
			ours = is_number(e->d_name + 7);
		else
			ours = marked = many && is_number(e->d_name) && is_ours(file, false);
	}
	if (dir)
		closedir(dir);
	return ours && marked;
}

/* rename(2) replaces an empty folder, and fails if there is anything else of the name. */
static enum ctp_status check(const struct ctp_ctf_folder *f, bool *replace, struct ctp_err *err)
{
	struct stat st, above;
	char parent[PATH_MAX + 4];
	*replace = false;
	if (lstat(f->path, &st))
		return errno == ENOENT ? CTP_OK : ctp_err_sys(err, "%s", f->path);
	if (!S_ISDIR(st.st_mode))
		return ctp_err_set(err, "%s: exists and is no folder", f->path);
	snprintf(parent, sizeof parent, "%s/..", f->path);
	if (!stat(parent, &above) && above.st_dev != st.st_dev)
		return ctp_err_set(err, "%s: a file system is mounted there; name a folder in it", f->path);
	DIR *dir = opendir(f->path);
	if (!dir)
		return ctp_err_sys(err, "%s", f->path);
	for (struct dirent *e; !*replace && (e = readdir(dir));)
		*replace = strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(dir);
	if (!*replace)
		return CTP_OK;
	if (!f->force)
		return ctp_err_set(err, "%s: exists and is not empty; remove it, or use -f to replace a trace", f->path);
	if (!is_ours(f->path, true))
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

enum ctp_status ctp_ctf_folder_begin(struct ctp_ctf_folder *f, const char *path, bool force, struct ctp_err *err)
{
	bool replace;
	uint32_t random;
	f->force = force;
	if (name_it(f, path, err) || check(f, &replace, err))
		return CTP_FAILED;
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		return ctp_err_sys(err, "%s", f->path);
	snprintf(f->temp, sizeof f->temp, "%s.%08x", f->path, random);
	if (mkdir(f->temp, 0777))
		return ctp_err_sys(err, "%s", f->path);
	if (start_guard(f->temp, err)) {
		rmdir(f->temp);
		return CTP_FAILED;
	}
	return CTP_OK;
}

enum ctp_status ctp_ctf_folder_publish(struct ctp_ctf_folder *f, const char *what, struct ctp_err *err)
{
	struct stat st;
	bool replace;
	if (check(f, &replace, err))
		return CTP_FAILED;
	if (!lstat(f->path, &st))
		chmod(what, st.st_mode & 07777);
	if (!replace)
		return rename(what, f->path) ? ctp_err_sys(err, "%s", f->path) : CTP_OK;
	if (!renameat2(AT_FDCWD, what, AT_FDCWD, f->path, RENAME_EXCHANGE))
		return CTP_OK;
	if (errno == EINVAL)
		return ctp_err_set(err, "%s: this file system cannot exchange folders; remove it first", f->path);
	return ctp_err_sys(err, "%s", f->path);
}

void ctp_ctf_folder_end(struct ctp_ctf_folder *f)
{
	sigset_t ours, before;
	sigemptyset(&ours);
	for (int i = 0; i < 3; i++)
		sigaddset(&ours, signals[i]);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	dismiss();
	for (int i = 0; i < 3; i++)
		sigaction(signals[i], &guard.before[i], NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	f->temp[0] = '\0';
}
