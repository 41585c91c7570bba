/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* folder.c - folders below a given one are created and found without following links, with openat2(2) and without. */
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/syscalls.h"
#include "tap.h"

/* From now on openat2(2) fails with this error, as on an old kernel (ENOSYS) or in a container that forbids it (EPERM). */
static bool without_openat2(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the number of the call */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* True if the folder exists and is the one at the path. */
static bool is_at(int fd, const char *path)
{
	struct stat a, b;
	bool same = fd >= 0 && !fstat(fd, &a) && !lstat(path, &b) && S_ISDIR(b.st_mode) && a.st_ino == b.st_ino;
	if (fd >= 0)
		close(fd);
	return same;
}

static void below(int top, const char *how)
{
	struct ctp_err err = {0};
	ok(ctp_folder_below(top, "t", "a/b/c", false, &err) < 0 && strstr(err.text, "t/a: "),
	   "%s: a missing folder is an error: %s", how,
	   err.text);
	ok(is_at(ctp_folder_below(top, "t", "a/b/c", true, &err), "t/a/b/c"), "%s: a folder is created, with its parents", how);
	ok(is_at(ctp_folder_below(top, "t", "a/b/c", true, &err), "t/a/b/c"), "%s: the folder is found again", how);
	ok(is_at(ctp_folder_below(top, "t", "a", false, &err), "t/a"), "%s: a path of one name is found", how);
	ok(!symlink("b", "t/a/l") && ctp_folder_below(top, "t", "a/l/c", true, &err) < 0 && strstr(err.text, "t/a/l: is a link"),
	   "%s: a link in the path is not followed: %s", how, err.text);
	ok(ctp_folder_below(top, "t", "a/l", true, &err) < 0 && strstr(err.text, "t/a/l: is a link"),
	   "%s: a link at the end is not followed", how);
	ok(ctp_folder_below(top, "t", "../out", true, &err) < 0 && ctp_folder_below(top, "t", "a/../../out", true, &err) < 0 &&
	   access("out", F_OK), "%s: .. creates nothing outside", how);
	ok(ctp_folder_below(top, "t", "../real", false, &err) < 0 && ctp_folder_below(top, "t", "a/../../real", false, &err) < 0,
	   "%s: .. does not reach what exists outside", how);
	ok(ctp_folder_below(top, "t", "/tmp", true, &err) < 0, "%s: an absolute path is refused", how);
	close(open("t/a/f", O_CREAT | O_WRONLY, 0600));
	ok(ctp_folder_below(top, "t", "a/f", true, &err) < 0 && strstr(err.text, "t/a/f: Not a directory"),
	   "%s: a file is no folder", how);
	ok(!unlink("t/a/f") && !unlink("t/a/l") && !rmdir("t/a/b/c") && !rmdir("t/a/b") && !rmdir("t/a"),
	   "%s: nothing else was created", how);
}

/* Runs the tests in a child; its failures count here. */
static void below_without(int top, int error, const char *how)
{
	int status = -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		FILE *said = freopen("said", "w", stdout);
		if (!said || !without_openat2(error))
			_exit(99);
		tap_run = tap_failed = 0; /* the child counts anew */
		below(top, how);
		fflush(stdout);
		_exit(done_testing());
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 99) {
		diag("no filter of system calls can be set: %s is not tried", how);
		status = 0;
	}
	ok(!status, "%s: all checks pass", how);
	unlink("said");
}

int main(void)
{
	char dir[] = "/tmp/folder-XXXXXX";
	struct ctp_err err = {0};
	if (!mkdtemp(dir) || chdir(dir) || mkdir("real", 0700) || symlink("real", "t"))
		skip_all("no folder can be made in /tmp");
	int top = ctp_folder_open("t", true, &err);
	ok(top >= 0, "the given folder itself may be a link %s", err.text);
	below(top, "as it is");
	below_without(top, ENOSYS, "without openat2");
	below_without(top, EPERM, "with openat2 forbidden");
	close(top);
	ok(is_at(ctp_folder_open("n/e/w", true, &err), "n/e/w") && !rmdir("n/e/w") && !rmdir("n/e") && !rmdir("n"),
	   "a folder is created, with its parents");
	ok(ctp_folder_open("none", false, &err) < 0 && strstr(err.text, "none: No such"),
	   "a missing folder is an error: %s", err.text);
	ok(!unlink("t") && !rmdir("real") && !chdir("/") && !rmdir(dir), "nothing else was created");
	return done_testing();
}
