/*
 * target.c - mappings and threads of the traced processes, from /proc.
 *
 * For each process a sorted list of hashes stands for the mappings already told; what a new reading shows beyond it is told.
 * One that has gone is dropped from the list, so that a library loaded again at the same place is told again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "buildid.h"
#include "events.h"
#include "target.h"

enum {
	PROCESSES_MAX = 1024,
	MAPPINGS_MAX = 1024, /* executable ones of a process */
	THREADS_MAX = 8192,
	LOOKUPS_MAX = 256,   /* a second, that a target can make us do by connecting and by naming threads */
	THREADS_AT_ONCE = 4, /* to look at again, which takes about as long as one process */
	NAME_BYTES = 64,
};

static const uint64_t ROUND_NS = 1000000000;

struct process {
	pid_t pid;
	size_t ntold;
	uint64_t *told;
};

struct thread {
	pid_t tid, pid;
	char name[NAME_BYTES];
};

struct ctp_targets {
	struct ctp_writer *writer;
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
	uint64_t found[MAPPINGS_MAX]; /* of the reading under way */
	struct ctp_str *text, *id;    /* of the record under way: PATH_MAX and CTP_BUILD_ID_MAX bytes */
};

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct ctp_targets *ctp_targets_new(struct ctp_writer *w, const struct ctp_map_file *shm, struct ctp_err *err)
{
	struct ctp_targets *t = calloc(1, sizeof(*t));
	if (t) {
		t->writer = w;
		t->shm = *shm;
		t->mapping_class = ctp_event_class(CTP_MAPPING);
		t->thread_class = ctp_event_class(CTP_THREAD);
		t->text = malloc(sizeof(*t->text) + PATH_MAX + 1);
		t->id = malloc(sizeof(*t->id) + CTP_BUILD_ID_MAX + 1);
	}
	if (t && t->mapping_class && t->thread_class && t->text && t->id)
		return t;
	ctp_targets_free(t);
	ctp_err_set(err, "out of memory");
	return NULL;
}

void ctp_targets_free(struct ctp_targets *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nprocesses; i++)
		free(t->processes[i].told);
	ctp_class_free(t->mapping_class);
	ctp_class_free(t->thread_class);
	free(t->text);
	free(t->id);
	free(t);
}

static bool may_look(struct ctp_targets *t)
{
	uint64_t now = now_ns();
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

/* Opened as the process itself would, and only what is still the file that it has mapped. */
static size_t file_build_id(pid_t pid, const struct ctp_map *map, uint8_t *id)
{
	char path[PATH_MAX + 32];
	struct stat st;
	if (snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, map->path) >= (int)sizeof(path))
		return 0;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_ino != map->file.ino)
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	size_t len = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_ino == map->file.ino ? ctp_buildid_file(fd, id) : 0;
	close(fd);
	return len;
}

/* All processes of one kernel and width share it, so ours serves. */
static size_t vdso_build_id(const struct ctp_map *map, uint8_t *id)
{
	const void *ours = (const void *)getauxval(AT_SYSINFO_EHDR);
	return ours ? ctp_buildid_image(ours, map->stop - map->start, id) : 0;
}

static void tell_mapping(struct ctp_targets *t, pid_t pid, const struct ctp_map *map)
{
	uint8_t *id = (uint8_t *)t->id->data;
	t->id->len = (uint32_t)(map->path[0] == '[' ? vdso_build_id(map, id) : file_build_id(pid, map, id));
	id[t->id->len] = '\0';
	const uint64_t val[CTP_MAPPING_FIELDS] = {
		[CTP_MAPPING_TS] = now_ns(),
		[CTP_MAPPING_PID] = (uint64_t)pid,
		[CTP_MAPPING_START] = map->start,
		[CTP_MAPPING_STOP] = map->stop,
		[CTP_MAPPING_OFFSET] = map->offset,
		[CTP_MAPPING_PATH] = text_val(t->text, map->path, PATH_MAX),
		[CTP_MAPPING_BUILD_ID] = ctp_val_str(t->id),
	};
	ctp_writer_record(t->writer, t->mapping_class, val);
}

static uint64_t hash_mapping(const struct ctp_map *map)
{
	uint64_t h = 0x9e3779b97f4a7c15 ^ map->file.ino;
	const uint64_t parts[] = {map->start, map->stop, map->offset};
	for (size_t i = 0; i < 3; i++)
		h = (h ^ parts[i] ^ h >> 32) * 0xff51afd7ed558ccd;
	for (const char *p = map->path; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3;
	return h;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Tells what is new. False if it does not map our memory (any more), or cannot be read. */
static bool read_mappings(struct ctp_targets *t, struct process *p)
{
	struct ctp_maps maps;
	struct ctp_map map;
	size_t n = 0;
	bool ours = false;
	if (!ctp_maps_open(&maps, p->pid))
		return false;
	while (ctp_maps_next(&maps, &map)) {
		ours |= ctp_map_file_same(&map.file, &t->shm);
		if (!map.exec || n == MAPPINGS_MAX || (map.path[0] != '/' && strcmp(map.path, "[vdso]")))
			continue;
		t->found[n] = hash_mapping(&map);
		if (!p->ntold || !bsearch(&t->found[n], p->told, p->ntold, sizeof(*p->told), compare_u64))
			tell_mapping(t, p->pid, &map);
		n++;
	}
	ctp_maps_close(&maps);
	if (n > p->ntold || !n) {
		uint64_t *told = realloc(p->told, (n ? n : 1) * sizeof(*told));
		if (!told)
			return ours; /* then they are told again, which is no lie */
		p->told = told;
	}
	qsort(t->found, n, sizeof(*t->found), compare_u64);
	memcpy(p->told, t->found, n * sizeof(*t->found));
	p->ntold = n;
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
			p->pid = pid;
			p->ntold = 0;
			return p;
		}
	}
	return NULL;
}

void ctp_targets_process(struct ctp_targets *t, pid_t pid)
{
	struct process *p = find_process(t, pid);
	if ((p || (p = add_process(t, pid))) && may_look(t))
		read_mappings(t, p);
}

/* --- threads -------------------------------------------------------------------------------------------------------------- */

static bool read_status(pid_t tid, struct thread *th)
{
	char path[32], text[256];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *tgid = strstr(text, "\nTgid:");
	int pid;
	*th = (struct thread){.tid = tid};
	if (!tgid || sscanf(tgid + 6, "%d", &pid) != 1 || sscanf(text, "Name:\t%63[^\n]", th->name) != 1)
		return false;
	th->pid = pid;
	return true;
}

static void tell_thread(struct ctp_targets *t, const struct thread *th)
{
	const uint64_t val[CTP_THREAD_FIELDS] = {
		[CTP_THREAD_TS] = now_ns(),
		[CTP_THREAD_TID] = (uint64_t)th->tid,
		[CTP_THREAD_PID] = (uint64_t)th->pid,
		[CTP_THREAD_NAME] = text_val(t->text, th->name, NAME_BYTES),
	};
	ctp_writer_record(t->writer, t->thread_class, val);
}

void ctp_targets_thread(struct ctp_targets *t, uint64_t tid)
{
	struct thread th;
	if (tid == 0 || tid > INT32_MAX || !may_look(t) || !read_status((pid_t)tid, &th))
		return;
	/* The number may be anybody's: a process is a target if it connected, or if it has our memory mapped. */
	struct process *p = find_process(t, th.pid);
	if (!p) {
		if (!ctp_maps_has(th.pid, &t->shm) || !(p = add_process(t, th.pid)))
			return;
		read_mappings(t, p);
	}
	if (t->nthreads < THREADS_MAX)
		t->threads[t->nthreads++] = th;
	else
		t->threads[t->next_reused++ % THREADS_MAX] = th;
	tell_thread(t, &th);
}

static void refresh_thread(struct ctp_targets *t, struct thread *known)
{
	struct thread now;
	if (read_status(known->tid, &now) && now.pid == known->pid && strcmp(now.name, known->name)) {
		*known = now;
		tell_thread(t, known);
	}
}

void ctp_targets_refresh(struct ctp_targets *t)
{
	if (t->next_process < t->nprocesses) {
		read_mappings(t, &t->processes[t->next_process++]);
	} else if (t->next_thread < t->nthreads) {
		for (int i = 0; i < THREADS_AT_ONCE && t->next_thread < t->nthreads; i++)
			refresh_thread(t, &t->threads[t->next_thread++]);
	} else if (now_ns() - t->round_ns > ROUND_NS) {
		t->round_ns = now_ns();
		t->next_process = t->next_thread = 0;
	}
}
