/* limit.c - see limit.h. Uses nothing that a fork from a process with threads would leave locked. */
#include "base/limit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* RLIMIT_DATA counts these: also what the child of a fork has from its parent. */
static uint64_t private_bytes(void)
{
	char text[200], *p = text; /* numbers of pages, of which the sixth is meant */
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (int i = 0; i < 5; i++)
		strtoull(p, &p, 10);
	return strtoull(p, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void ctp_limit_memory(uint64_t more_bytes)
{
	struct rlimit limit;
	uint64_t most = private_bytes() + more_bytes;
	if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	setrlimit(RLIMIT_DATA, &limit);
}
