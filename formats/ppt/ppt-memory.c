/*
 * ppt-memory.c - opens, reads and writes; and finds out why it may not.
 */
#include "ppt/ppt-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/proc-dir.h"

enum { TEXT_PIECE = 4096, CAP_SYS_PTRACE_BIT = 19 };

/* --- permission ------------------------------------------------------------------------------------------------------------ */

/* The line of /proc/PID/status that begins with label, behind it; "" for none. */
static void status_line(pid_t pid, const char *label, char text[128])
{
	char path[32], line[256];
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	text[0] = '\0';
	FILE *in = fopen(path, "re");
	while (in && !text[0] && fgets(line, sizeof line, in))
		if (!strncmp(line, label, strlen(label)))
			snprintf(text, 128, "%s", line + strlen(label));
	if (in)
		fclose(in);
}

uid_t ctp_ppt_memory_user(pid_t pid)
{
	char text[128];
	unsigned uid;
	status_line(pid, "Uid:", text);
	return sscanf(text, "%*u %u", &uid) == 1 ? (uid_t)uid : (uid_t)-1;
}

static bool has_ptrace(void)
{
	char text[128];
	status_line(getpid(), "CapEff:", text);
	return strtoull(text, NULL, 16) >> CAP_SYS_PTRACE_BIT & 1;
}

static int yama(void)
{
	int scope = 0;
	FILE *in = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	if (in && fscanf(in, "%d", &scope) != 1)
		scope = 0;
	if (in)
		fclose(in);
	return scope;
}

static enum ctp_status refused(pid_t pid, struct ctp_err *err)
{
	char path[32];
	struct stat st;
	uid_t user = ctp_ppt_memory_user(pid);
	int scope = yama();
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	bool shown = !stat(path, &st);
	if (scope >= 3)
		return ctp_err_set(err, "process %d: kernel.yama.ptrace_scope is %d: nobody may look into another process until the next boot",
		                   (int)pid, scope);
	if (!geteuid() && !has_ptrace())
		return ctp_err_set(err, "process %d: we are root, but without CAP_SYS_PTRACE: a container wants --cap-add=SYS_PTRACE", (int)pid);
	if (has_ptrace())
		return ctp_err_set(err, "process %d: refused although we have CAP_SYS_PTRACE: it is in a user namespace that ours is not above, "
		                   "or a security module forbids it; run this where the process runs", (int)pid);
	if (user != (uid_t)-1 && user != geteuid())
		return ctp_err_set(err, "process %d: is of the user %u, and we are %u: run this as that user, or as root", (int)pid,
		                   (unsigned)user, (unsigned)geteuid());
	if (shown && st.st_uid != geteuid())
		return ctp_err_set(err, "process %d: is not dumpable (setuid, setcap or prctl(PR_SET_DUMPABLE)): run this as root", (int)pid);
	if (scope == 2)
		return ctp_err_set(err, "process %d: kernel.yama.ptrace_scope is 2: run this as root, or with CAP_SYS_PTRACE", (int)pid);
	if (scope == 1)
		return ctp_err_set(err, "process %d: kernel.yama.ptrace_scope is 1, which lets only a parent look into it: run this as root, "
		                   "or as root: sysctl kernel.yama.ptrace_scope=0", (int)pid);
	return ctp_err_set(err, "process %d: may not be looked into: run this as root", (int)pid);
}

/* --- the process ----------------------------------------------------------------------------------------------------------- */

static int open_process(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	errno = ENOSYS;
	return -1;
#endif
}

enum ctp_status ctp_ppt_memory_open(struct ctp_ppt_memory *m, pid_t pid, bool write, struct ctp_err *err)
{
	char dir[CTP_PROCDIR_BYTES], path[CTP_PROCDIR_BYTES + 8];
	*m = (struct ctp_ppt_memory){.pid = pid, .process = open_process(pid), .mem = -1};
	if (m->process < 0 && errno == ESRCH)
		return ctp_err_set(err, "process %d: there is none", (int)pid);
	if (m->process < 0 && (errno == EINVAL || errno == ENOENT)) /* the latter from newer systems */
		return ctp_err_set(err, "process %d: is a thread; name its process", (int)pid);
	bool has_memory = ctp_proc_dir(pid, dir);
	snprintf(path, sizeof path, "%s/mem", dir);
	m->mem = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	int why = errno;
	/* The process that the first descriptor holds is still there, so the second is of that one. */
	if (m->mem >= 0 && ctp_ppt_memory_alive(m))
		return CTP_OK;
	bool gone = !ctp_ppt_memory_alive(m) || (m->mem < 0 && why == ENOENT);
	ctp_ppt_memory_close(m);
	if (gone)
		return ctp_err_set(err, "process %d: there is none", (int)pid);
	if (!has_memory)
		return ctp_err_set(err, "process %d: has ended, or is a kernel thread", (int)pid);
	errno = why;
	return why == EACCES || why == EPERM ? refused(pid, err) : ctp_err_sys(err, "process %d: its memory", (int)pid);
}

void ctp_ppt_memory_close(struct ctp_ppt_memory *m)
{
	if (m->process >= 0)
		close(m->process);
	if (m->mem >= 0)
		close(m->mem);
	m->process = m->mem = -1;
}

bool ctp_ppt_memory_alive(const struct ctp_ppt_memory *m)
{
	if (m->process >= 0)
		return poll(&(struct pollfd){.fd = m->process, .events = POLLIN}, 1, 0) == 0;
	return !kill(m->pid, 0) || errno == EPERM;
}

/* A process that is ending has no program. Its memory may be gone long before itself is. */
bool ctp_ppt_memory_replaced(const struct ctp_ppt_memory *m)
{
	char dir[CTP_PROCDIR_BYTES], path[CTP_PROCDIR_BYTES + 8], byte;
	bool has_memory = ctp_proc_dir(m->pid, dir);
	snprintf(path, sizeof path, "%s/exe", dir);
	bool has_program = has_memory && (readlink(path, &byte, 1) >= 0 || errno == EACCES);
	return has_program && pread(m->mem, &byte, 1, 0) == 0 && ctp_ppt_memory_alive(m);
}

/* --- its memory ------------------------------------------------------------------------------------------------------------ */

bool ctp_ppt_memory_peek(const struct ctp_ppt_memory *m, uint64_t at, uint32_t *value)
{
	return at <= INT64_MAX && pread(m->mem, value, sizeof *value, (off_t)at) == sizeof *value;
}

bool ctp_ppt_memory_poke(const struct ctp_ppt_memory *m, uint64_t at, uint32_t value)
{
	return at <= INT64_MAX && pwrite(m->mem, &value, sizeof value, (off_t)at) == sizeof value;
}

size_t ctp_ppt_memory_read(const struct ctp_ppt_memory *m, uint64_t at, void *to, size_t len)
{
	size_t done = 0;
	while (done < len && at + done <= INT64_MAX) {
		ssize_t n = pread(m->mem, (char *)to + done, len - done, (off_t)(at + done));
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

char *ctp_ppt_memory_text(const struct ctp_ppt_memory *m, uint64_t at, size_t max, size_t *len, struct ctp_err *err)
{
	char *text = NULL;
	for (*len = 0; *len <= max;) {
		/* Up to the border of a page: the next need not be there. */
		size_t want = TEXT_PIECE - (at + *len) % TEXT_PIECE;
		char *more = realloc(text, *len + want + 1);
		if (!more) {
			free(text);
			ctp_err_set(err, "out of memory");
			return NULL;
		}
		text = more;
		size_t n = ctp_ppt_memory_read(m, at + *len, text + *len, want);
		const char *end = memchr(text + *len, 0, n);
		*len += end ? (size_t)(end - (text + *len)) : n;
		if (end && *len <= max)
			return text;
		if (n < want)
			break;
	}
	if (*len > max)
		ctp_err_set(err, "is longer than %zu bytes", max);
	else
		ctp_err_set(err, "does not end: there is no memory at 0x%" PRIx64, at + *len);
	free(text);
	return NULL;
}
