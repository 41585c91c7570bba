/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-memory.c - a child opens, reads and writes; and if it may not, the reason is found out.
 */
#include "ppt/ppt-memory.h"

#include <assert.h>
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

#include "base/array.h"
#include "collect/attach.h"
#include "collect/proc-dir.h"

enum { TEXT_PIECE = 4096, CALL_MS = 3000, CAP_SYS_PTRACE_BIT = 19 };

/* --- permission ------------------------------------------------------------------------------------------------------------ */

/* The rest of the line of /proc/PID/status that begins with label; "" for none. */
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

uint64_t ctp_ppt_memory_setting(const char *name)
{
	char path[64];
	uint64_t n = 0;
	snprintf(path, sizeof path, "/proc/sys/kernel/%s", name);
	FILE *in = fopen(path, "re");
	if (in && fscanf(in, "%" SCNu64, &n) != 1)
		n = 0;
	if (in)
		fclose(in);
	return n;
}

static enum ctp_status refused(pid_t pid, struct ctp_err *err)
{
	char path[32];
	struct stat st;
	uid_t user = ctp_ppt_memory_user(pid);
	int scope = (int)ctp_ppt_memory_setting("yama/ptrace_scope");
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

/* --- the child ------------------------------------------------------------------------------------------------------------- */

struct area {
	pid_t pid;
	bool write;
	int error;
	uint64_t at;
	size_t len; /* wanted, and then read or written */
	unsigned char bytes[CTP_PPT_MEMORY_AREA - 64];
};
_Static_assert(sizeof(struct area) <= CTP_PPT_MEMORY_AREA, "it is in the child's area");

static int mem = -1; /* of the child */

static void open_here(void *area)
{
	struct area *a = area;
	char dir[CTP_PROCDIR_BYTES], path[CTP_PROCDIR_BYTES + 8];
	a->len = ctp_proc_dir(a->pid, dir);
	snprintf(path, sizeof path, "%s/mem", dir);
	mem = open(path, (a->write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	a->error = mem < 0 ? errno : 0;
}

static void read_here(void *area)
{
	struct area *a = area;
	size_t done = 0, len = a->len < sizeof a->bytes ? a->len : sizeof a->bytes;
	ssize_t n = 1;
	for (errno = 0; done < len && n > 0; done += n > 0 ? (size_t)n : 0)
		n = pread(mem, a->bytes + done, len - done, (off_t)(a->at + done));
	a->error = errno;
	a->len = done;
}

static void write_here(void *area)
{
	struct area *a = area;
	errno = 0;
	ssize_t n = pwrite(mem, a->bytes, a->len, (off_t)a->at);
	a->error = errno;
	a->len = n > 0 ? (size_t)n : 0;
}

static void argv_here(void *area)
{
	struct area *a = area;
	a->len = ctp_attach_argv(a->pid, (char *)a->bytes, a->len < sizeof a->bytes ? a->len : sizeof a->bytes);
}

bool ctp_ppt_memory_call(const struct ctp_ppt_memory *m, ctp_ppt_child_fn *fn) { return ctp_ppt_child_call(m->child, fn, CALL_MS); }
bool ctp_ppt_memory_lost(const struct ctp_ppt_memory *m) { return m->child->lost; }

size_t ctp_ppt_memory_argv(pid_t pid, char *text, size_t room)
{
	struct ctp_ppt_child child;
	size_t len = 0;
	if (!ctp_ppt_child_start(&child, sizeof(struct area)))
		return 0;
	struct area *a = child.area;
	a->pid = pid;
	a->len = room;
	if (ctp_ppt_child_call(&child, argv_here, CALL_MS))
		len = a->len < room ? a->len : room;
	memcpy(text, a->bytes, len);
	ctp_ppt_child_stop(&child);
	return len;
}

/* --- the process ----------------------------------------------------------------------------------------------------------- */

/* The child opens the memory. False: errno. *has_memory: the process has memory. */
static bool open_memory(struct ctp_ppt_memory *m, bool write, bool *has_memory)
{
	*has_memory = true;
	m->child = calloc(1, sizeof *m->child);
	if (!m->child || !ctp_ppt_child_start(m->child, CTP_PPT_MEMORY_AREA))
		return false;
	struct area *a = m->child->area;
	a->pid = m->pid;
	a->write = write;
	if (!ctp_ppt_memory_call(m, open_here))
		return false;
	*has_memory = a->len;
	errno = a->error;
	return !a->error;
}

enum ctp_status ctp_ppt_memory_open(struct ctp_ppt_memory *m, pid_t pid, bool write, struct ctp_err *err)
{
	bool has_memory;
	*m = (struct ctp_ppt_memory){.pid = pid, .process = (int)syscall(SYS_pidfd_open, pid, 0)};
	if (m->process < 0 && errno == ESRCH)
		return ctp_err_set(err, "process %d: there is none", (int)pid);
	if (m->process < 0 && (errno == EINVAL || errno == ENOENT)) /* the latter from newer systems */
		return ctp_err_set(err, "process %d: is a thread; name its process", (int)pid);
	bool opened = open_memory(m, write, &has_memory);
	int why = errno;
	/* The process of the first descriptor still runs, so the second descriptor is of the same process. */
	if (opened && ctp_ppt_memory_alive(m))
		return CTP_OK;
	bool gone = !ctp_ppt_memory_alive(m) || (!opened && why == ENOENT);
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
	if (m->child)
		ctp_ppt_child_stop(m->child);
	free(m->child);
	m->process = -1;
	m->child = NULL;
}

bool ctp_ppt_memory_alive(const struct ctp_ppt_memory *m)
{
	if (m->process >= 0)
		return poll(&(struct pollfd){.fd = m->process, .events = POLLIN}, 1, 0) == 0;
	return !kill(m->pid, 0) || errno == EPERM;
}

/* A process that is ending has no program. Its memory may be gone long before the process. */
bool ctp_ppt_memory_replaced(const struct ctp_ppt_memory *m)
{
	char dir[CTP_PROCDIR_BYTES], path[CTP_PROCDIR_BYTES + 8], byte;
	bool has_memory = ctp_proc_dir(m->pid, dir);
	snprintf(path, sizeof path, "%s/exe", dir);
	bool has_program = has_memory && (readlink(path, &byte, 1) >= 0 || errno == EACCES);
	errno = 0;
	/* Address 0 of memory that is there is an error. Memory that is gone reads as empty, without an error. */
	return has_program && !ctp_ppt_memory_read(m, 0, &byte, 1) && !errno && ctp_ppt_memory_alive(m);
}

/* --- its memory ------------------------------------------------------------------------------------------------------------ */

size_t ctp_ppt_memory_read(const struct ctp_ppt_memory *m, uint64_t at, void *to, size_t len)
{
	struct area *a = m->child->area;
	size_t done = 0, n = 1;
	for (; done < len && at + done <= INT64_MAX && n; done += n) {
		a->at = at + done;
		a->len = len - done;
		if (!ctp_ppt_memory_call(m, read_here))
			break;
		n = a->len < len - done ? a->len : len - done;
		memcpy((char *)to + done, a->bytes, n);
		errno = a->error;
	}
	return done;
}

bool ctp_ppt_memory_peek(const struct ctp_ppt_memory *m, uint64_t at, uint32_t *value)
{
	return ctp_ppt_memory_read(m, at, value, sizeof *value) == sizeof *value;
}

bool ctp_ppt_memory_poke(const struct ctp_ppt_memory *m, uint64_t at, uint32_t value)
{
	struct area *a = m->child->area;
	assert(at % sizeof value == 0); /* one word of the target, in one piece */
	if (at > INT64_MAX)
		return false;
	a->at = at;
	a->len = sizeof value;
	memcpy(a->bytes, &value, sizeof value);
	if (!ctp_ppt_memory_call(m, write_here))
		return false;
	errno = a->error;
	return a->len == sizeof value;
}

char *ctp_ppt_memory_text(const struct ctp_ppt_memory *m, uint64_t at, size_t max, size_t *len, struct ctp_err *err)
{
	char *text = NULL;
	size_t room = 0;
	bool memory = true;
	for (*len = 0; *len <= max;) {
		/* Up to the end of a page: the next page may be missing. */
		size_t want = TEXT_PIECE - (at + *len) % TEXT_PIECE;
		if (!(memory = CTP_ARRAY_RESERVE(text, room, *len + want, SIZE_MAX)))
			break;
		size_t n = ctp_ppt_memory_read(m, at + *len, text + *len, want);
		const char *end = memchr(text + *len, 0, n);
		*len += end ? (size_t)(end - (text + *len)) : n;
		if (end && *len <= max)
			return text;
		if (n < want)
			break;
	}
	if (!memory)
		ctp_err_memory(err);
	else if (ctp_ppt_memory_lost(m))
		ctp_err_set(err, "does not answer: it is in a page that does not come");
	else if (*len > max)
		ctp_err_set(err, "is longer than %zu bytes", max);
	else
		ctp_err_set(err, "does not end: there is no memory at 0x%" PRIx64, at + *len);
	free(text);
	return NULL;
}
