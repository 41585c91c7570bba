/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * conn-keeper.c - holds connections when the collector is gone.
 *
 * It is made by clone(CLONE_FILES): one table of descriptors for both, so a connection lives as long as either. It waits for
 * the collector's end on a pidfd, and then
 *	1. closes everything that is not a connection to our socket: a reader of our output must see its end at once, and a
 *	   target that connects later must be refused, not left waiting;
 *	2. stays until the last connection has hung up.
 * It has no exit signal, so the collector's SIGCHLD and plain wait() never see it. Until it is needed it costs its stack.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "collect/conn-keeper.h"
#include "shm/sock.h"

static bool is_ours(int fd, const struct sockaddr_un *addr)
{
	int listens = 0;
	socklen_t len = sizeof listens;
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) || listens)
		return false;
	struct sockaddr_un name = {0};
	len = sizeof name;
	return !getsockname(fd, (struct sockaddr *)&name, &len) && name.sun_family == AF_UNIX &&
	       !strncmp(name.sun_path, addr->sun_path, sizeof name.sun_path);
}

/* Closes what is not a connection of ours; those that are go to kept[]. Returns their number. */
static nfds_t close_others(const struct sockaddr_un *addr, struct pollfd *kept, nfds_t room)
{
	nfds_t n = 0;
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	DIR *dir = opendir("/proc/self/fd");
	if (!dir)
		return 0;
	for (struct dirent *e; (e = readdir(dir));) {
		int fd = atoi(e->d_name);
		if (e->d_name[0] == '.' || fd == dirfd(dir))
			continue;
		if (!is_ours(fd, addr))
			close(fd);
		else if (n < room)
			kept[n++] = (struct pollfd){.fd = fd}; /* a hang-up is always told; bytes are of no use now */
	}
	closedir(dir);
	return n;
}

/* The descriptor keeps the inode from being used again, so that what another has made at the same place since stays. */
static void remove_file(const char *path, int fd)
{
	struct stat made, found;
	if (path && !fstat(fd, &made) && !lstat(path, &found) && made.st_dev == found.st_dev && made.st_ino == found.st_ino)
		unlink(path);
}

static void keep(struct pollfd *kept, nfds_t n)
{
	while (n) {
		if (poll(kept, n, -1) < 0)
			continue;
		for (nfds_t i = n; i-- > 0;) {
			if (kept[i].revents) {
				close(kept[i].fd);
				kept[i] = kept[--n];
			}
		}
	}
}

static _Noreturn void keeper_main(const struct ctp_conn_keeper_conf *conf, int collector)
{
	ctp_signals_ignore_all();
	setsid(); /* what is sent to the collector's group is not for us */
	if (chdir("/"))
		_exit(1);
	prctl(PR_SET_NAME, "ctp-keeper");
	struct pollfd end = {.fd = collector, .events = POLLIN};
	while (poll(&end, 1, -1) < 0)
		;
	for (size_t i = 0; i < sizeof conf->remove / sizeof conf->remove[0]; i++)
		remove_file(conf->remove[i].path, conf->remove[i].fd);
	static struct pollfd kept[CTP_CONNECTIONS_MAX];
	keep(kept, close_others(conf->addr, kept, CTP_CONNECTIONS_MAX));
	_exit(0);
}

enum ctp_status ctp_conn_keeper_init(struct ctp_conn_keeper *k, const struct ctp_conn_keeper_conf *conf, struct ctp_err *err)
{
	*k = (struct ctp_conn_keeper){.collector_fd = -1};
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (self < 0)
		return ctp_err_sys(err, "pidfd_open");
	long pid = syscall(SYS_clone, CLONE_FILES, NULL, NULL, NULL, NULL);
	if (pid < 0) {
		close(self);
		return ctp_err_sys(err, "clone");
	}
	if (pid == 0)
		keeper_main(conf, self);
	k->pid = (pid_t)pid;
	k->collector_fd = self; /* stays open: the table is shared */
	return CTP_OK;
}

void ctp_conn_keeper_fini(struct ctp_conn_keeper *k)
{
	if (k->pid <= 0)
		return;
	kill(k->pid, SIGKILL);
	while (waitpid(k->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	close(k->collector_fd);
	*k = (struct ctp_conn_keeper){.collector_fd = -1};
}
