/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* without CALL COMMAND [ARG...] - runs COMMAND on a system that does not have a system call, or does not allow it. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	uint32_t number, error;
} calls[] = {
	{"userfaultfd", SYS_userfaultfd, EPERM}, /* as under the filter of many a container */
#ifdef SYS_epoll_pwait2
	{"epoll_pwait2", SYS_epoll_pwait2, ENOSYS}, /* Linux before 5.11 */
#endif
};

int main(int argc, char **argv)
{
	size_t i = 0, n = sizeof calls / sizeof *calls;
	while (argc > 2 && i < n && strcmp(argv[1], calls[i].name))
		i++;
	if (argc < 3 || i == n) {
		fputs("usage: without CALL COMMAND [ARG...]\n", stderr);
		return 2;
	}
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | calls[i].error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog all = {sizeof code / sizeof *code, code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all))
		return 99;
	execvp(argv[2], argv + 2);
	return 98;
}
