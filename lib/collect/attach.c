/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * attach.c - goes through /proc for memfds of the name "ctp".
 *
 * What a process shows there is its own word. So a descriptor is opened as a place first (O_PATH: nothing blocks and nothing
 * happens), looked at, and only then opened for what it is; it must be a memfd that cannot shrink, or reading it could raise
 * SIGBUS; and what it holds is checked by ctp_arena_find before anything is believed.
 *
 * A collector has such a descriptor too, its own memory's. It differs by the lock that it holds through it, which
 * /proc/PID/fdinfo shows.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/visible.h"
#include "collect/attach.h"
#include "collect/end-signal.h"
#include "collect/proc-dir.h"
#include "collect/proc-maps.h"
#include "collect/proc-users.h"

#define LINK "/memfd:ctp (deleted)"

enum {
	PATH_BYTES = 80, /* /proc/PID/map_files/START-STOP is the longest */
	MEMORIES_MAX = 16, /* of a process */
	USER_BYTES = 13,   /* a longer name is shown as a number */
	LOCK_TRIES = 30,
	LOCK_PAUSE_MS = 10,
};

static bool is_link(const char *path)
{
	char link[sizeof LINK];
	return readlink(path, link, sizeof link) == sizeof LINK - 1 && !memcmp(link, LINK, sizeof LINK - 1);
}

/* --- the holder of the lock ------------------------------------------------------------------------------------------------ */

/* Of a descriptor of another process: the file's inode number, and whether a lock is held through it. */
static bool read_fdinfo(const char *dir, const char *fd, uint64_t *ino)
{
	char path[PATH_BYTES], text[512];
	snprintf(path, sizeof path, "%s/fdinfo/%.10s", dir, fd);
	ctp_fd_read_file(AT_FDCWD, path, text, sizeof text);
	const char *at = strstr(text, "\nino:");
	*ino = at ? strtoull(at + 5, NULL, 10) : 0;
	return strstr(text, "\nlock:");
}

static DIR *open_fds(const char *dir)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "%s/fd", dir);
	return opendir(path);
}

/* The next descriptor that is a memory of ours, by its number and its path; null: none. */
static const char *next_fd(DIR *fds, const char *dir, char path[PATH_BYTES])
{
	for (struct dirent *e; !ctp_end_signal() && (e = readdir(fds));) { /* there may be a million */
		snprintf(path, PATH_BYTES, "%s/fd/%.10s", dir, e->d_name);
		if (is_link(path))
			return e->d_name;
	}
	return NULL;
}

/* locked: and a lock is held through it. */
static bool has_fd(pid_t pid, uint64_t ino, bool locked)
{
	char dir[CTP_PROCDIR_BYTES], path[PATH_BYTES];
	uint64_t found;
	bool has = false;
	ctp_proc_dir(pid, dir);
	DIR *fds = open_fds(dir);
	for (const char *fd; fds && !has && (fd = next_fd(fds, dir, path));)
		has = read_fdinfo(dir, fd, &found) >= locked && found == ino;
	if (fds)
		closedir(fds);
	return has;
}

bool ctp_attach_kept(pid_t pid, const struct ctp_map_file *file) { return has_fd(pid, file->ino, false); }

/* The process that holds the lock; 0: none, or not to be seen. A keeper has its collector's descriptors, and comes later. */
static pid_t lock_holder(uint64_t ino)
{
	DIR *proc = opendir("/proc");
	pid_t pid = 0;
	while (proc && (pid = ctp_end_signal() ? 0 : ctp_proc_users_next(proc)) && !has_fd(pid, ino, true))
		;
	if (proc)
		closedir(proc);
	return pid;
}

static bool is_locked(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

enum ctp_status ctp_attach_lock(int fd, struct ctp_err *err)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		if (!fcntl(fd, F_OFD_SETLK, &lock))
			return CTP_OK;
		if (errno != EAGAIN && errno != EACCES)
			return ctp_err_sys(err, "locking the shared memory");
		nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_MS * 1000000L}, NULL);
	}
	struct stat st;
	pid_t pid = fstat(fd, &st) ? 0 : lock_holder(st.st_ino);
	return pid ? ctp_err_as(err, CTP_ERR_REFUSED, "another collector is attached to it (pid %d)", (int)pid) :
	             ctp_err_as(err, CTP_ERR_REFUSED, "another collector is attached to it");
}

/* --- one memory ----------------------------------------------------------------------------------------------------------- */

void ctp_attach_fini(struct ctp_attach *at)
{
	ctp_memory_fini(&at->shm);
	*at = (struct ctp_attach){.shm.fd = -1};
}

/* A name proves nothing: in a user namespace of its own a process can mount a device under this one. Nothing but memory has no links. */
static bool is_memory(int place)
{
	struct stat st;
	struct statfs fs;
	return !fstat(place, &st) && S_ISREG(st.st_mode) && !st.st_nlink && !fstatfs(place, &fs) && fs.f_type == TMPFS_MAGIC;
}

/* path is a link of /proc. What it leads to is held before it is looked at, so that it cannot become another meanwhile. */
static int open_memfd(const char *path)
{
	char self[PATH_BYTES];
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	snprintf(self, sizeof self, "/proc/self/fd/%d", place);
	if (place < 0)
		return -1;
	bool is_it = is_link(self) && is_memory(place);
	errno = ESTALE;
	if (is_it)
		fd = open(self, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int error = errno;
	close(place);
	errno = error;
	return fd;
}

static enum ctp_status map_memory(struct ctp_attach *at, const char *path, struct ctp_err *err)
{
	struct ctp_memory *shm = &at->shm;
	struct stat st;
	shm->fd = open_memfd(path);
	if (shm->fd < 0 && errno == ESTALE)
		return ctp_err_as(err, CTP_ERR_REFUSED, "%s: is not of ordinary memory, so a probe did not make it", path);
	if (shm->fd < 0 || fstat(shm->fd, &st))
		return ctp_err_sys(err, "%s", path);
	int seals = fcntl(shm->fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return ctp_err_as(err, CTP_ERR_REFUSED, "%s: is not sealed, so a probe did not make it", path);
	if (!ctp_memory_map(shm, (size_t)st.st_size))
		return ctp_err_sys(err, "%s: mapping %jd bytes (is there a limit, ulimit -v?)", path, (intmax_t)st.st_size);
	at->ino = st.st_ino;
	snprintf(shm->path, sizeof shm->path, "%s", path);
	return ctp_arena_find(&at->arena, shm->base, shm->bytes, err);
}

/* --- all of a process ----------------------------------------------------------------------------------------------------- */

struct search {
	struct ctp_attach *best;
	const struct ctp_notice *news;
	pid_t pid, inner; /* as we know the process, and as it knows itself */
	uid_t uid;
	char dir[CTP_PROCDIR_BYTES];
	bool found, collects;
	unsigned left;    /* memories that will still be looked at */
	uint64_t heir_of; /* the process whose memory it has by a fork; 0: none */
	struct ctp_err *err; /* what was wrong with the last one that could not be used; empty: nothing */
};

static uint32_t allocated(const struct ctp_attach *at)
{
	return __atomic_load_n(&at->arena.header->allocated_count, __ATOMIC_RELAXED);
}

static void consider(struct search *s, const char *path)
{
	struct ctp_attach at = {.pid = s->pid, .elsewhere = s->pid != s->inner, .uid = s->uid, .shm.fd = -1}, *worse = &at;
	s->left--;
	bool mapped = !map_memory(&at, path, s->err);
	if (mapped && at.arena.owner && at.arena.owner != (uint64_t)s->inner) {
		s->heir_of = at.arena.owner;
	} else if (mapped && !s->found) {
		worse = s->best; /* which is none yet */
		s->found = true;
	} else if (mapped && at.ino != s->best->ino) {
		worse = allocated(&at) > allocated(s->best) ? s->best : &at;
		ctp_notice_say(s->news,
		               "process %d has two probes that do not share; %" PRIu32 " coroutines of one are left out",
		               (int)s->pid, allocated(worse));
	}
	ctp_attach_fini(worse);
	if (worse == s->best)
		*s->best = at;
}

static void consider_fds(struct search *s, DIR *fds)
{
	char path[PATH_BYTES];
	uint64_t ino;
	for (const char *fd; s->left && (fd = next_fd(fds, s->dir, path));) {
		if (read_fdinfo(s->dir, fd, &ino))
			s->collects = true;
		else
			consider(s, path);
	}
}

/* Where the program has closed its descriptors; only root may open these. True if there was one. */
static bool consider_mappings(struct search *s)
{
	struct ctp_proc_maps maps;
	struct ctp_mapping map;
	bool any = false;
	if (!ctp_proc_maps_open(&maps, s->pid))
		return false;
	while (!s->found && s->left && ctp_proc_maps_next(&maps, &map)) {
		char path[PATH_BYTES];
		if (strcmp(map.path, LINK) || map.offset)
			continue;
		any = true;
		snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)s->pid, map.start, map.stop);
		consider(s, path);
	}
	ctp_proc_maps_close(&maps);
	return any;
}

static pid_t last_number(const char *line)
{
	const char *at = line + strcspn(line, "\n");
	while (at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return (pid_t)atoi(at);
}

/* Reads how it knows itself; fails for what is no process with a memory. */
static enum ctp_status know_process(struct search *s, struct ctp_err *err)
{
	char path[PATH_BYTES], state = '\0', *line = NULL;
	int group = 0;
	bool memory = false;
	size_t room = 0;
	snprintf(path, sizeof path, "%s/status", s->dir);
	FILE *in = fopen(path, "re");
	while (in && getline(&line, &room, in) > 0) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "Tgid: %d", &group);
		sscanf(line, "Uid: %*u %u", &s->uid);
		if (!strncmp(line, "NStgid:", 7))
			s->inner = last_number(line);
		memory |= !strncmp(line, "VmSize:", 7);
	}
	free(line);
	if (in)
		fclose(in);
	if (!group)
		return ctp_err_set(err, "process %d: there is none", (int)s->pid);
	if (group != s->pid)
		return ctp_err_set(err, "process %d: is a thread of process %d", (int)s->pid, group);
	if (state == 'Z' || state == 'X')
		return ctp_err_set(err, "process %d: has ended", (int)s->pid);
	return memory ? CTP_OK : ctp_err_set(err, "process %d: is a thread of the kernel", (int)s->pid);
}

static enum ctp_status say_why(const struct search *s, bool mapped, struct ctp_err *err)
{
	int pid = (int)s->pid;
	if (ctp_end_signal())
		return ctp_err_set(err, "process %d: a signal came before its memory was found", pid);
	if (s->collects)
		return ctp_err_as(err, CTP_ERR_REFUSED, "process %d: is a collector", pid);
	if (s->heir_of)
		return ctp_err_set(err, "process %d: has only the memory of process %" PRIu64 ", which it was forked from", pid,
		                   s->heir_of);
	if (mapped && geteuid())
		return ctp_err_as(err, CTP_ERR_REFUSED,
		                  "process %d: has closed the descriptor of its memory; run ctp-collect as root", pid);
	if (s->err->text[0]) {
		*err = *s->err;
		return ctp_err_before(err, "process %d: ", pid);
	}
	return ctp_err_set(err, "process %d: no probe (ctp.h) has been used in it, or it was started with CTP_RECORD=0: "
	                        "there is nothing to attach to", pid);
}

enum ctp_status ctp_attach_find(struct ctp_attach *at, pid_t pid, const struct ctp_notice *news, struct ctp_err *err)
{
	struct ctp_err wrong = {.text = ""};
	struct search s = {.best = at, .news = news, .pid = pid, .inner = pid, .left = MEMORIES_MAX, .err = &wrong};
	*at = (struct ctp_attach){.shm.fd = -1};
	ctp_proc_dir(pid, s.dir);
	if (know_process(&s, err))
		return CTP_FAILED;
	DIR *fds = open_fds(s.dir);
	at->refused = !fds && (errno == EACCES || errno == EPERM) && geteuid();
	if (!fds && (errno == EACCES || errno == EPERM))
		return ctp_err_as(err, CTP_ERR_REFUSED,
		                  "process %d: is not ours to look at; run ctp-collect as its user, or as root",
		                   (int)pid);
	if (!fds)
		return ctp_err_sys(err, "process %d", (int)pid);
	consider_fds(&s, fds);
	closedir(fds);
	bool mapped = !s.found && !s.collects && !wrong.text[0] && consider_mappings(&s);
	if (s.found && !s.collects)
		return CTP_OK;
	ctp_attach_fini(at);
	at->refused = mapped && geteuid();
	return say_why(&s, mapped, err);
}

size_t ctp_attach_each(void (*fn)(void *arg, const struct ctp_attach *at), void *arg, size_t *refused)
{
	size_t n = 0;
	*refused = 0;
	DIR *proc = opendir("/proc");
	struct ctp_err ignored;
	for (pid_t pid; proc && (pid = ctp_proc_users_next(proc));) {
		struct ctp_attach at;
		if (ctp_attach_find(&at, pid, NULL, &ignored)) {
			*refused += at.refused;
			continue;
		}
		fn(arg, &at);
		ctp_attach_fini(&at);
		n++;
	}
	if (proc)
		closedir(proc);
	return n;
}

/* --- for people ----------------------------------------------------------------------------------------------------------- */

/* The kernel reads no page of a file for this, so a target cannot hold us here. */
size_t ctp_attach_argv(pid_t pid, char *text, size_t room)
{
	char dir[CTP_PROCDIR_BYTES], path[PATH_BYTES];
	ctp_proc_dir(pid, dir);
	snprintf(path, sizeof path, "%s/cmdline", dir);
	size_t len = ctp_fd_read_file(AT_FDCWD, path, text, room);
	if (len && text[len - 1])
		text[len++] = '\0'; /* it was longer, or the process wrote something else there */
	return len;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static uint32_t count_alive(const struct ctp_attach *at)
{
	static struct ctp_shm_station some[64]; /* read, not mapped: to look at a hole would fill it */
	uint32_t used = allocated(at), n = 0;
	used = used < at->arena.geo.max_stations ? used : at->arena.geo.max_stations;
	for (uint32_t i = 0; i < used; i += COUNT(some)) {
		off_t from = (off_t)(sizeof(struct ctp_shm_header) + i * sizeof *some);
		ssize_t got = pread(at->shm.fd, some, sizeof some, from);
		for (uint32_t k = 0; k < COUNT(some) && i + k < used && (ssize_t)((k + 1) * sizeof *some) <= got; k++)
			n += !some[k].is_dead && some[k].probe_id;
	}
	return n;
}

static void say_state(const struct ctp_attach *at, char *text, size_t room)
{
	uint32_t mode = __atomic_load_n(&at->arena.header->mode, __ATOMIC_RELAXED);
	pid_t holder = is_locked(at->shm.fd) ? lock_holder(at->ino) : -1;
	if (holder < 0)
		snprintf(text, room, "%s", mode & CTP_MODE_RECORD ? "recording" : "idle");
	else if (holder)
		snprintf(text, room, "collected by %d", (int)holder);
	else
		snprintf(text, room, "collected");
}

/* The name of a user as this machine's file has it: no server is asked. */
static void say_user(uid_t uid, char text[USER_BYTES])
{
	FILE *in = fopen("/etc/passwd", "re");
	struct passwd *user = NULL;
	while (in && (user = fgetpwent(in)) && user->pw_uid != uid)
		;
	if (!user || strlen(user->pw_name) >= USER_BYTES)
		snprintf(text, USER_BYTES, "%u", (unsigned)uid);
	else
		ctp_visible(text, USER_BYTES, user->pw_name);
	if (in)
		fclose(in);
}

/* The number of its PID namespace, as lsns(8) has it; 0: not to be seen. */
static uint64_t pid_namespace(pid_t pid)
{
	char path[PATH_BYTES];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

void ctp_attach_line(const struct ctp_attach *at, char line[CTP_ATTACH_LINE_MAX])
{
	char state[32], alive[16] = "-", words[CTP_ATTACH_LINE_MAX - 96], command[CTP_ATTACH_LINE_MAX - 96], user[USER_BYTES];
	uint32_t rings = __atomic_load_n(&at->arena.header->rings_used, __ATOMIC_RELAXED);
	size_t len = ctp_attach_argv(at->pid, words, sizeof words);
	for (size_t i = 0; i + 1 < len; i++)
		words[i] = words[i] ? words[i] : ' ';
	words[len ? len - 1 : 0] = '\0';
	ctp_visible(command, sizeof command, words);
	say_state(at, state, sizeof state);
	say_user(at->uid, user);
	if (__atomic_load_n(&at->arena.header->mode, __ATOMIC_RELAXED) & CTP_MODE_RECORD) /* else they are not counted */
		snprintf(alive, sizeof alive, "%" PRIu32, count_alive(at));
	snprintf(line, CTP_ATTACH_LINE_MAX, "%7d %-19s %10s %6" PRIu32 " %-12s %10" PRIu64 " %s", (int)at->pid, state, alive,
	         rings < at->arena.geo.max_rings ? rings : at->arena.geo.max_rings, user, pid_namespace(at->pid), command);
}
