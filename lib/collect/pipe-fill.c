/* pipe-fill.c - a child that copies, asks and closes; it answers through a pipe of its own. */
#include "collect/pipe-fill.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/fd-text.h"
#include "collect/mapped-file.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

#define LIMIT_NS UINT64_C(500000000) /* for all of them */

enum { AT_ONCE = 64 }; /* answers */

struct answer {
	uint32_t number, found, unread;
};

/* Whether our copy is the pipe. Only its name is looked at: a file that is none may not answer. */
static bool is_pipe(int fd, uint32_t want)
{
	char path[32], link[CTP_FD_LINK_BYTES];
	uint32_t ino;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ssize_t len = readlink(path, link, sizeof link);
	return len > 0 && ctp_fd_text_link(link, (size_t)len, &ino) == CTP_FD_LINK_PIPE && ino == want;
}

static void answer(const struct ctp_pipe *p, uint32_t number, int process, int out)
{
	struct answer a = {.number = number};
	int unread = 0, fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, p->fd, 0);
	if (fd >= 0 && is_pipe(fd, p->ino) && !ioctl(fd, FIONREAD, &unread) && unread >= 0) {
		a.found = 1;
		a.unread = (uint32_t)unread;
	}
	if (fd >= 0)
		close(fd);
	if (write(out, &a, sizeof a) != sizeof a)
		_exit(1);
}

/* A child of a child, which is gone at once: nobody waits for this one. */
static bool start(const struct ctp_pipe *pipes, size_t n, int out)
{
	pid_t child = fork();
	if (child > 0)
		return waitpid(child, NULL, 0) == child;
	if (child < 0)
		return false;
	if (fork())
		_exit(0);
	ctp_mapped_close_others(-1, out);
	int process = -1;
	for (size_t i = 0; i < n; i++) {
		if (!i || pipes[i].pid != pipes[i - 1].pid) {
			if (process >= 0)
				close(process);
			process = (int)syscall(SYS_pidfd_open, pipes[i].pid, 0);
		}
		answer(&pipes[i], (uint32_t)i, process, out);
	}
	_exit(0);
}

/* Each answer is written whole, and so is read whole. */
static size_t hear(struct ctp_pipe *pipes, size_t n, int in)
{
	uint64_t until_ns = ctp_clock_ns() + LIMIT_NS, now_ns;
	struct answer a[AT_ONCE];
	size_t heard = 0;
	while (heard < n && (now_ns = ctp_clock_ns()) < until_ns &&
	       poll(&(struct pollfd){.fd = in, .events = POLLIN}, 1, (int)((until_ns - now_ns) / 1000000) + 1) > 0) {
		ssize_t got = read(in, a, sizeof a);
		if (got <= 0)
			break;
		for (size_t i = 0; i < (size_t)got / sizeof *a && heard < n && a[i].number < n; i++, heard++) {
			pipes[a[i].number].found = a[i].found;
			pipes[a[i].number].unread = a[i].unread;
		}
	}
	return heard;
}

bool ctp_pipe_fill(struct ctp_pipe *pipes, size_t n)
{
	int ends[2];
	size_t heard = 0;
	for (size_t i = 0; i < n; i++)
		pipes[i].found = false;
	if (!n || pipe2(ends, O_CLOEXEC))
		return true;
	bool started = start(pipes, n, ends[1]);
	close(ends[1]);
	if (started)
		heard = hear(pipes, n, ends[0]);
	close(ends[0]);
	return !started || heard == n;
}
