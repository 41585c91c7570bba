/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * targets.c - mappings and threads of the traced processes, from /proc, and the first words of frames, from their memory.
 *
 * For each process there is a list of the mappings already written, in the order of addresses. A new reading adds what is new to
 * the trace. A mapping that has gone is dropped from the list, so that a library loaded again at the same place is written again.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"
#include "collect/end-signal.h"
#include "collect/frame-reader.h"
#include "collect/mapped-file.h"
#include "collect/proc-dir.h"
#include "collect/targets.h"
#include "stream/events.h"

enum {
	PROCESSES_MAX = 1024,
	MAPPINGS_MAX = 1024, /* executable ones of a process */
	LATE_MAX = 256,      /* of those, on file systems that may not answer */
	THREADS_MAX = 8192,
	LOOKUPS_MAX = 256,   /* a second, that a target can make us do by connecting and by naming threads */
	THREADS_AT_ONCE = 4, /* to look at again, which takes about as long as one process */
	NAME_BYTES = 64,
	READS_MAX = 16,      /* of memory, at once */
	SHARE = 50,          /* of the time for which mappings are read because code was found in none of them */
};

static const uint64_t ROUND_NS = 1000000000, AGAIN_NS = 100000000;

struct mapping {
	uint64_t start, stop, hash;
};

struct process {
	pid_t pid;
	bool closed; /* we may not read its memory */
	uint64_t again_ns; /* when its mappings may be read again out of turn */
	size_t nwritten, room;
	struct mapping *written; /* those with a record in the trace, by address */
};

struct thread {
	pid_t tid, pid;
	char name[NAME_BYTES];
};

struct ctp_targets {
	struct ctp_writer *writer;
	uint64_t (*when_ns)(void *arg);
	void *when_arg;
	struct ctp_map_file shm;
	struct ctp_class *mapping_class, *thread_class;
	size_t nprocesses, nthreads;
	size_t next_process, next_thread; /* of the round of refreshing under way */
	uint64_t round_ns;                /* when it began */
	size_t next_reused;
	unsigned lookups; /* left in this second */
	uint64_t lookups_ns;
	struct process processes[PROCESSES_MAX];
	struct thread threads[THREADS_MAX];
	struct mapping found[MAPPINGS_MAX]; /* of the reading under way */
	struct ctp_mapped_file late[LATE_MAX]; /* of the same: those that others must be asked about */
	size_t nlate;
	bool unanswered;              /* those did not answer in time */
	struct ctp_frame_reader *frames;
	bool unread;                  /* a process's memory did not answer in time */
	const struct ctp_notice *warn;
	struct ctp_str *text, *id;    /* of the record under way: PATH_MAX and CTP_BUILD_ID_MAX bytes */
};

struct ctp_targets *ctp_targets_new(struct ctp_writer *w, const struct ctp_map_file *shm, struct ctp_err *err)
{
	struct ctp_targets *t = calloc(1, sizeof *t);
	if (t) {
		t->writer = w;
		t->shm = *shm;
		t->mapping_class = ctp_event_class(CTP_MAPPING);
		t->thread_class = ctp_event_class(CTP_THREAD);
		t->frames = ctp_frame_reader_new();
		t->text = malloc(sizeof *t->text + PATH_MAX + 1);
		t->id = malloc(sizeof *t->id + CTP_BUILD_ID_MAX + 1);
	}
	if (t && t->mapping_class && t->thread_class && t->frames && t->text && t->id)
		return t;
	ctp_targets_free(t);
	ctp_err_memory(err);
	return NULL;
}

void ctp_targets_when(struct ctp_targets *t, uint64_t (*when_ns)(void *arg), void *arg)
{
	t->when_ns = when_ns;
	t->when_arg = arg;
}

void ctp_targets_warn(struct ctp_targets *t, const struct ctp_notice *warn) { t->warn = warn; }

void ctp_targets_free(struct ctp_targets *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nprocesses; i++)
		free(t->processes[i].written);
	ctp_class_free(t->mapping_class);
	ctp_class_free(t->thread_class);
	ctp_frame_reader_free(t->frames);
	free(t->text);
	free(t->id);
	free(t);
}

static bool may_look(struct ctp_targets *t)
{
	uint64_t now = ctp_clock_ns();
	if (now - t->lookups_ns > ROUND_NS) {
		t->lookups_ns = now;
		t->lookups = LOOKUPS_MAX;
	}
	return t->lookups && t->lookups--;
}

static uint64_t text_val(struct ctp_str *room, const char *text, size_t len_max)
{
	room->len = (uint32_t)strnlen(text, len_max);
	memcpy(room->data, text, room->len);
	room->data[room->len] = '\0';
	return ctp_val_str(room);
}

/* --- mappings ------------------------------------------------------------------------------------------------------------- */

/* All processes of one kernel and width share it, so ours serves. */
static size_t vdso_build_id(const struct ctp_mapping *map, uint8_t *id)
{
	const void *ours = (const void *)getauxval(AT_SYSINFO_EHDR);
	return ours ? ctp_buildid_image(ours, map->stop - map->start, id) : 0;
}

static void write_mapping(struct ctp_targets *t, const struct ctp_mapped_file *f)
{
	const struct ctp_mapping *map = &f->map;
	uint8_t *id = (uint8_t *)t->id->data;
	memcpy(id, f->id, f->len);
	t->id->len = (uint32_t)f->len;
	id[t->id->len] = '\0';
	const uint64_t val[CTP_MAPPING_FIELDS] = {
		[CTP_MAPPING_TS] = t->when_ns ? t->when_ns(t->when_arg) : ctp_clock_ns(),
		[CTP_MAPPING_PID] = (uint64_t)f->pid,
		[CTP_MAPPING_START] = map->start,
		[CTP_MAPPING_STOP] = map->stop,
		[CTP_MAPPING_OFFSET] = map->offset,
		[CTP_MAPPING_PATH] = text_val(t->text, map->path, PATH_MAX),
		[CTP_MAPPING_BUILD_ID] = ctp_val_str(t->id),
	};
	ctp_writer_record(t->writer, t->mapping_class, val);
}

static uint64_t hash_mapping(const struct ctp_mapping *map)
{
	uint64_t h = 0x9e3779b97f4a7c15 ^ map->file.ino;
	const uint64_t parts[] = {map->start, map->stop, map->offset};
	for (size_t i = 0; i < 3; i++)
		h = (h ^ parts[i] ^ h >> 32) * 0xff51afd7ed558ccd;
	for (const char *p = map->path; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3;
	return h;
}

/* The mapping at this address, of those written. */
static const struct mapping *mapping_at(const struct process *p, uint64_t addr)
{
	size_t i;
	CTP_ARRAY_FIRST(i, p->nwritten, p->written[i].stop > addr);
	return i < p->nwritten && p->written[i].start <= addr ? &p->written[i] : NULL;
}

/* With its build-id, or when that is known: see write_late. */
static void add_mapping(struct ctp_targets *t, struct ctp_mapped_file *f)
{
	f->len = 0;
	if (f->map.path[0] == '[')
		f->len = vdso_build_id(&f->map, f->id);
	else if (!ctp_mapped_file(f) && !t->unanswered && t->nlate < LATE_MAX) {
		char *path = strdup(f->map.path);
		if (path) {
			t->late[t->nlate] = *f;
			t->late[t->nlate++].map.path = path;
			return;
		}
	}
	write_mapping(t, f);
}

static void write_late(struct ctp_targets *t)
{
	assert(t->nlate <= LATE_MAX);
	if (!ctp_mapped_files(t->late, t->nlate)) {
		t->unanswered = true;
		ctp_notice_say(t->warn, "process %d: %s: its file system does not answer; build-ids there are left out from here on",
		               (int)t->late[0].pid, t->late[0].map.path);
	}
	for (size_t i = 0; i < t->nlate; i++) {
		write_mapping(t, &t->late[i]);
		free((char *)(uintptr_t)t->late[i].map.path);
	}
	t->nlate = 0;
}

/* Writes what is new. False if it does not map our memory (any more), or cannot be read. */
static bool read_mappings(struct ctp_targets *t, struct process *p)
{
	struct ctp_proc_maps maps;
	struct ctp_mapping map;
	size_t n = 0;
	bool ours = false;
	uint64_t began_ns = ctp_clock_ns();
	if (!ctp_proc_maps_open(&maps, p->pid))
		return false;
	struct ctp_mapped_file file = {.pid = p->pid, .root = ctp_mapped_root(p->pid)};
	while (ctp_proc_maps_next(&maps, &map)) {
		ours |= ctp_map_file_same(&map.file, &t->shm);
		if (!map.exec || n == MAPPINGS_MAX || (map.path[0] != '/' && strcmp(map.path, "[vdso]")))
			continue;
		t->found[n] = (struct mapping){map.start, map.stop, hash_mapping(&map)};
		const struct mapping *written = mapping_at(p, map.start);
		file.map = map;
		if (!written || written->hash != t->found[n].hash)
			add_mapping(t, &file);
		n++;
	}
	ctp_proc_maps_close(&maps);
	write_late(t);
	ctp_fd_close(file.root);
	uint64_t ended_ns = ctp_clock_ns(), pause_ns = (ended_ns - began_ns) * SHARE;
	p->again_ns = ended_ns + (pause_ns > AGAIN_NS ? pause_ns : AGAIN_NS);
	if (!CTP_ARRAY_RESERVE(p->written, p->room, n, MAPPINGS_MAX))
		return ours; /* they are written again at the next reading */
	assert(n <= MAPPINGS_MAX);
	if (n)
		memcpy(p->written, t->found, n * sizeof *t->found);
	p->nwritten = n;
	return ours;
}

static struct process *find_process(struct ctp_targets *t, pid_t pid)
{
	for (size_t i = 0; i < t->nprocesses; i++) {
		if (t->processes[i].pid == pid)
			return &t->processes[i];
	}
	return NULL;
}

static struct process *add_process(struct ctp_targets *t, pid_t pid)
{
	if (t->nprocesses < PROCESSES_MAX) {
		t->processes[t->nprocesses].pid = pid;
		return &t->processes[t->nprocesses++];
	}
	for (size_t i = 0; i < t->nprocesses; i++) {
		struct process *p = &t->processes[i];
		if (kill(p->pid, 0) && errno == ESRCH) {
			*p = (struct process){.pid = pid, .written = p->written, .room = p->room};
			return p;
		}
	}
	return NULL;
}

void ctp_targets_process(struct ctp_targets *t, pid_t pid)
{
	struct process *p = find_process(t, pid);
	if (!(p || (p = add_process(t, pid))))
		return;
	p->closed = false;
	if (may_look(t))
		read_mappings(t, p);
}

bool ctp_targets_has(const struct ctp_targets *t, pid_t pid)
{
	return find_process((struct ctp_targets *)t, pid);
}

pid_t ctp_targets_next(const struct ctp_targets *t, pid_t pid)
{
	size_t next = 0;
	for (size_t i = 0; i < t->nprocesses; i++)
		next = t->processes[i].pid == pid ? i + 1 : next;
	return next < t->nprocesses ? t->processes[next].pid : 0;
}

/* --- threads -------------------------------------------------------------------------------------------------------------- */

static bool read_status(pid_t tid, struct thread *th)
{
	char path[32], text[256];
	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	if (!ctp_fd_read_file(AT_FDCWD, path, text, sizeof text))
		return false;
	const char *tgid = strstr(text, "\nTgid:");
	int pid;
	*th = (struct thread){.tid = tid};
	if (!tgid || sscanf(tgid + 6, "%d", &pid) != 1 || sscanf(text, "Name:\t%63[^\n]", th->name) != 1)
		return false;
	th->pid = pid;
	return true;
}

static void write_thread(struct ctp_targets *t, const struct thread *th)
{
	const uint64_t val[CTP_THREAD_FIELDS] = {
		[CTP_THREAD_TS] = t->when_ns ? t->when_ns(t->when_arg) : ctp_clock_ns(),
		[CTP_THREAD_TID] = (uint64_t)th->tid,
		[CTP_THREAD_PID] = (uint64_t)th->pid,
		[CTP_THREAD_NAME] = text_val(t->text, th->name, NAME_BYTES),
	};
	ctp_writer_record(t->writer, t->thread_class, val);
}

static struct thread *find_thread(struct ctp_targets *t, uint64_t tid)
{
	for (size_t i = 0; i < t->nthreads; i++) {
		if ((uint64_t)t->threads[i].tid == tid)
			return &t->threads[i];
	}
	return NULL;
}

static struct thread *add_thread(struct ctp_targets *t)
{
	return t->nthreads < THREADS_MAX ? &t->threads[t->nthreads++] : &t->threads[t->next_reused++ % THREADS_MAX];
}

/* Writes a record of a thread, once. Returns the traced process that it belongs to; null: none, or it cannot be read now. */
static struct process *adopt_thread(struct ctp_targets *t, uint64_t tid)
{
	struct thread th;
	if (tid == 0 || tid > INT32_MAX || !may_look(t) || !read_status((pid_t)tid, &th))
		return NULL;
	/* The number may be anybody's, even ours: a process is a target if it connected, or if it has our memory mapped. */
	struct process *p = find_process(t, th.pid);
	if (!p) {
		if (th.pid == getpid() || !ctp_proc_maps_has(th.pid, &t->shm) || !(p = add_process(t, th.pid)))
			return NULL;
		read_mappings(t, p);
	}
	struct thread *known = find_thread(t, tid);
	if (known && known->pid == th.pid && !strcmp(known->name, th.name))
		return p;
	*(known ? known : add_thread(t)) = th;
	write_thread(t, &th);
	return p;
}

void ctp_targets_thread(struct ctp_targets *t, uint64_t tid) { adopt_thread(t, tid); }

size_t ctp_targets_threads(const struct ctp_targets *t, uint64_t *tids, size_t max)
{
	size_t n = t->nthreads < max ? t->nthreads : max;
	for (size_t i = 0; i < n; i++)
		tids[i] = (uint64_t)t->threads[i].tid;
	return n;
}

pid_t ctp_targets_pid(struct ctp_targets *t, uint64_t tid)
{
	const struct thread *th = find_thread(t, tid);
	return th ? th->pid : 0;
}

static void refresh_thread(struct ctp_targets *t, struct thread *known)
{
	struct thread now;
	if (read_status(known->tid, &now) && now.pid == known->pid && strcmp(now.name, known->name)) {
		*known = now;
		write_thread(t, known);
	}
}

/* --- frames --------------------------------------------------------------------------------------------------------------- */

static struct process *process_of(struct ctp_targets *t, uint64_t tid)
{
	const struct thread *th = find_thread(t, tid);
	struct process *p = th ? find_process(t, th->pid) : NULL;
	return p ? p : adopt_thread(t, tid);
}

static bool is_code(struct ctp_targets *t, struct process *p, uint64_t addr)
{
	if (!mapping_at(p, addr) && addr && ctp_clock_ns() > p->again_ns)
		read_mappings(t, p); /* it may have loaded it since */
	return mapping_at(p, addr);
}

static void say_unread(struct ctp_targets *t, const struct process *p)
{
	if (!t->unread)
		ctp_notice_say(t->warn, "process %d: its memory does not answer; functions of coroutines are left out until it does", (int)p->pid);
	t->unread = true;
}

/* Reads what frames of one process begin with. Returns how many have their answer: all up to the first that cannot be read. */
static size_t read_frames(struct ctp_targets *t, struct process *p, const struct ctp_frame *frames, size_t n, uint64_t *code)
{
	uint64_t addrs[CTP_FRAME_QUEUE_AT_ONCE], words[CTP_FRAME_QUEUE_AT_ONCE];
	size_t asked[CTP_FRAME_QUEUE_AT_ONCE], nasked = 0, whole = 0;
	for (size_t k = 0; k < n; k++) {
		code[k] = 0;
		if (p->closed || frames[k].addr % sizeof *words || mapping_at(p, frames[k].addr))
			continue; /* what is in a mapping is the place itself */
		addrs[nasked] = frames[k].addr;
		asked[nasked++] = k;
	}
	if (!nasked)
		return n;
	ssize_t got = ctp_frame_reader_read(t->frames, p->pid, addrs, nasked, words);
	if (got < 0 && errno != EFAULT) {
		p->closed = errno != ESRCH && errno != ETIMEDOUT;
		if (errno == ETIMEDOUT)
			say_unread(t, p);
		return n;
	}
	for (; got > 0 && whole < (size_t)got; whole++)
		code[asked[whole]] = is_code(t, p, words[whole]) ? words[whole] : 0;
	return whole < nasked ? asked[whole] + 1 : n;
}

size_t ctp_targets_code(struct ctp_targets *t, const struct ctp_frame *frames, size_t n, uint64_t *code)
{
	size_t done = 0, run;
	n = n < CTP_FRAME_QUEUE_AT_ONCE ? n : CTP_FRAME_QUEUE_AT_ONCE;
	for (unsigned reads = 0; done < n && reads < READS_MAX; reads++, done += run) {
		const struct ctp_frame *f = frames + done;
		struct process *p = process_of(t, f->tid);
		for (run = 1; done + run < n; run++)
			if (f[run].tid != f[run - 1].tid && process_of(t, f[run].tid) != p)
				break;
		if (p)
			run = read_frames(t, p, f, run, code + done);
		else
			memset(code + done, 0, run * sizeof *code);
	}
	return done;
}

/* A second record of one of its threads shows that the process was there then. */
static void look_again(struct ctp_targets *t, struct process *p)
{
	struct thread now;
	if (!read_mappings(t, p) || t->nprocesses < 2)
		return;
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].pid == p->pid && read_status(t->threads[i].tid, &now) && now.pid == p->pid) {
			write_thread(t, &now);
			return;
		}
}

void ctp_targets_last(struct ctp_targets *t)
{
	for (size_t i = 0; i < t->nprocesses && !ctp_end_signal(); i++)
		look_again(t, &t->processes[i]);
}

void ctp_targets_refresh(struct ctp_targets *t)
{
	if (t->next_process < t->nprocesses) {
		look_again(t, &t->processes[t->next_process++]);
	} else if (t->next_thread < t->nthreads) {
		for (int i = 0; i < THREADS_AT_ONCE && t->next_thread < t->nthreads; i++)
			refresh_thread(t, &t->threads[t->next_thread++]);
	} else if (ctp_clock_ns() - t->round_ns > ROUND_NS) {
		t->round_ns = ctp_clock_ns();
		t->next_process = t->next_thread = 0;
	}
}
