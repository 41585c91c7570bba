/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * collect.c - the beginning and the end of a collector: it starts the target and makes what that needs, or attaches to one that
 * runs; and when all is over (collect-loop.c says when) it writes the end and leaves nothing behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "collect/attach.h"
#include "collect/collect-loop.h"
#include "collect/end-signal.h"
#include "collect/spawn.h"

enum {
	ARGV_BYTES = 64 << 10, /* of the arguments of a process that was attached to */
	OWN_BYTES = 96 << 20,  /* the queue, packets in the making, batches: whatever the target is */
};
#define PATIENCE_NS UINT64_C(10000000000) /* with a reader that takes nothing, when we are to end */
_Static_assert(OWN_BYTES >> 20 < CTP_COLLECT_MIB_MIN, "there is something left for the target");

static bool to_stdout(const struct ctp_collect_conf *conf) { return !conf->output || !strcmp(conf->output, "-"); }

/* --- what the probes are told -------------------------------------------------------------------------------------------- */

static uint32_t mode_now(const struct ctp_collect_loop *c)
{
	return __atomic_load_n(&c->arena.header->mode, __ATOMIC_RELAXED);
}

/* Tells the probes of us. */
static void announce(struct ctp_collect_loop *c)
{
	const struct ctp_collect_conf *conf = c->conf;
	uint32_t mode = CTP_MODE_RECORD | CTP_MODE_RINGS | CTP_MODE_SKIPS | conf->modes;
	mode |= ctp_membarrier() ? CTP_MODE_MEMBARRIER : 0;
	uint32_t before = mode_now(c);
	if (conf->pid && !before)
		ctp_notice_say(conf->news,
		               "process %d was started without CTP_RECORD=1: coroutines that do nothing from now on are not in the trace",
		               (int)conf->pid);
	if (before & CTP_MODE_RINGS) { /* a collector died here: the threads have filled their rings for it */
		ctp_arena_close(&c->arena, CTP_MODE_RECORD | (before & CTP_MODE_KEEP));
		ctp_arena_trim(&c->arena, c->shm.fd);
	}
	mode |= conf->pid ? before & CTP_MODE_KEEP : CTP_MODE_KEEP; /* if we die, the next collector finds the last states */
	ctp_arena_open(&c->arena, mode, conf->wait_us, c->unreachable ? NULL : c->sock.path);
	c->announced = true;
}

/* The probes do again what they did before there was a collector. */
static void renounce(struct ctp_collect_loop *c)
{
	if (!c->announced)
		return;
	bool keep = c->conf->pid && mode_now(c) & CTP_MODE_KEEP;
	ctp_arena_close(&c->arena, keep ? CTP_MODE_RECORD | CTP_MODE_KEEP : 0);
	c->announced = false;
}

/* --- the end -------------------------------------------------------------------------------------------------------------- */

/* The last record of the clocks comes before the end in time, too. */
static void write_last_clock(struct ctp_collect_loop *c)
{
	struct ctp_clock_pair pair;
	if (!c->clock_due_ns)
		return;
	ctp_clock_pair_read(&pair);
	ctp_collect_loop_clock(c, &pair);
}

static void write_end(struct ctp_collect_loop *c)
{
	const struct ctp_harvest_stats *s = ctp_harvest_stats(c->harvest);
	bool ended = c->watch.ended, killed = ended && WIFSIGNALED(c->watch.status);
	enum ctp_outcome how = c->conf->pid ? CTP_OUTCOME_ENDED : killed ? CTP_OUTCOME_KILLED : CTP_OUTCOME_EXITED;
	struct ctp_end_bounds end = ctp_sampler_end(&c->sampler, ended ? c->watch.ended_ns : 0);
	const uint64_t val[CTP_END_FIELDS] = {
		[CTP_END_TS] = ctp_clock_ns(),
		[CTP_END_EVENTS] = s->events,
		[CTP_END_LOST] = s->lost,
		[CTP_END_UNVERIFIED] = s->unverified,
		[CTP_END_UNTRACED] = s->untraced,
		[CTP_END_BIRTHS] = s->births,
		[CTP_END_DEATHS] = s->deaths,
		[CTP_END_OUTCOME] = ended ? how : CTP_OUTCOME_RUNNING,
		[CTP_END_STATUS] = !ended ? 0 : (uint64_t)(killed ? WTERMSIG(c->watch.status) : WEXITSTATUS(c->watch.status)),
		[CTP_END_AFTER] = end.after_ns,
		[CTP_END_BEFORE] = end.before_ns,
	};
	ctp_writer_record(c->writer, c->end_class, val);
	ctp_writer_end(c->writer, true);
}

static void wait_for_event(struct ctp_collect_loop *c, int64_t ns)
{
	ctp_event_loop_wait(&c->watch, ns);
	if (c->watch.asked)
		ctp_collect_loop_say(c);
	if (c->watch.doubted)
		ctp_notice_say(c->conf->warn, "interrupted, but the trace is not written yet; interrupt again to end all");
	c->watch.doubted = false;
}

/* With -v: what sorts of probes there were. */
static void say_probes(struct ctp_collect_loop *c)
{
	const struct ctp_harvest_stats *s = &c->result->stats;
	uint32_t annexed = 0, ordered = 0;
	for (uint32_t i = 0; c->conf->info && i < s->stations; i++) {
		uint64_t word = __atomic_load_n(&c->arena.stations[i].announce, __ATOMIC_RELAXED);
		uint32_t flags = CTP_ANNOUNCE_IS(word) ? CTP_ANNOUNCE_FLAGS(word) : 0;
		annexed += !!(flags & CTP_ANNOUNCE_ANNEX);
		ordered += (flags & (CTP_ANNOUNCE_ANNEX | CTP_ANNOUNCE_ORDERED)) == CTP_ANNOUNCE_ORDERED;
	}
	ctp_notice_say(c->conf->info,
	               "%" PRIu64 " rings of threads; stations: %" PRIu32 " with rings, %" PRIu32 " ordered, %" PRIu64
	               " of version 1; woken %" PRIu64 " times",
	               s->rings, annexed, ordered, s->stations - annexed - ordered, c->watch.wakes);
}

/*
 * Takes our hands off the memory: the probes do as they did before we came, and what died meanwhile is theirs again. With the
 * descriptor goes the lock, so that another collector may come.
 */
static void detach(struct ctp_collect_loop *c, bool deserted)
{
	renounce(c);
	if (!c->watch.extra && !ctp_memory_severed())
		ctp_harvest_last(c->harvest, deserted);
	if (ctp_memory_severed())
		ctp_harvest_abandon(c->harvest);
	else
		ctp_harvest_release(c->harvest);
	ctp_collect_loop_truncated(c);
	ctp_collect_loop_tight(c);
	ctp_collect_loop_total(c);
	uint64_t unread = c->result->stats.unread;
	if (unread)
		ctp_notice_say(c->conf->warn, "the last look %s: %" PRIu64 " that it did not come to are counted as lost",
		               ctp_end_signal() ? "was ended by a signal" : "took too long", unread);
	say_probes(c);
	if (!deserted && !c->shm.named && !ctp_memory_severed())
		ctp_arena_trim(&c->arena, c->shm.fd);
	/*
	 * The command may still open CTP_SHM_PATH: it must not find a file of ours there, nor none, but one that cannot be opened. So the
	 * number is closed and taken in one step, and what stays of it belongs to nobody.
	 */
	if (!c->shm.named && c->shm.fd >= 0 && dup3(c->watch.epoll_fd, c->shm.fd, O_CLOEXEC) >= 0)
		c->shm.fd = -1;
	ctp_memory_fini(&c->shm);
}

/*
 * A reader that does not read holds us here. A signal that COMMAND does not need any more ends that; and where one has come before, so
 * does a time in which nothing was taken.
 */
static void wait_for_queue(struct ctp_collect_loop *c)
{
	size_t held = SIZE_MAX;
	uint64_t since_ns = 0;
	c->watch.stop = false;
	while (!c->watch.extra && !c->watch.stop) {
		size_t held_now = ctp_outqueue_held(c->queue);
		if (!c->watch.urged || held_now != held)
			since_ns = ctp_clock_ns();
		else if (ctp_clock_ns() - since_ns >= PATIENCE_NS)
			break;
		held = held_now;
		wait_for_event(c, c->watch.urged ? (int64_t)PATIENCE_NS / 50 : CTP_FOREVER);
	}
}

static bool has_been_urged(void) { return true; }

/* The last of everything, unless the output has failed. Its reader sees the end here. */
static void finish(struct ctp_collect_loop *c, bool deserted)
{
	if (c->watch.urged) /* by a signal that was taken already, and so does not wait to be taken */
		ctp_outqueue_until(c->queue, has_been_urged);
	ctp_sampler_look(&c->sampler, true);
	if (!deserted && !c->watch.ended && !c->watch.extra)
		ctp_sampler_last_fds(&c->sampler, c->conf->once);
	detach(c, deserted);
	if (!c->watch.extra) {
		ctp_targets_last(c->targets);
		write_last_clock(c);
		write_end(c);
		c->over = true;
		ctp_outqueue_finish(c->queue);
	}
	wait_for_queue(c);
	struct ctp_err err = {.text = "the last packets were not taken in time"};
	c->unread = c->watch.extra && ctp_outqueue_unread(c->queue);
	if (!c->watch.extra || ctp_outqueue_close(c->queue, &err)) {
		c->result->broken = true;
		ctp_notice_say(c->conf->warn, "%s; collecting has stopped%s", err.text,
		               c->watch.ended ? "" : c->conf->pid ? ", the process runs on" : ", the command runs on");
		if (c->unread)
			ctp_notice_say(c->conf->warn,
			               "the reader of the pipe has ended before the trace; -o FILE needs no reader");
	}
	ctp_event_loop_extra(&c->watch, -1, &err);
	c->queue = NULL;
	if (to_stdout(c->conf)) {
		int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
			close(STDOUT_FILENO);
		close(fd);
	}
}

/* The trace has ended. Says what is waited for. */
static void wait_for_command(struct ctp_collect_loop *c)
{
	if (!c->watch.ended && !c->result->broken)
		ctp_notice_say(c->conf->news, "trace ended%s; waiting for %s (pid %d)", c->tight ? "" : " by -t",
		               c->conf->argv[0], (int)c->watch.command);
	while (!c->watch.ended)
		wait_for_event(c, CTP_FOREVER);
	int sig = WIFSIGNALED(c->watch.status) ? WTERMSIG(c->watch.status) : 0;
	c->result->signal = c->result->broken ? 0 : sig;
	c->result->status = c->result->broken || sig ? 125 : WEXITSTATUS(c->watch.status);
}

/* A key that comes before they have written all must not end them. */
static void wait_for_readers(struct ctp_collect_loop *c)
{
	uint64_t until_ns = ctp_clock_ns() + PATIENCE_NS;
	c->watch.finishing = true;
	while (!c->watch.stop && ctp_clock_ns() < until_ns && ctp_event_loop_readers(&c->watch))
		wait_for_event(c, (int64_t)PATIENCE_NS / 50);
	ctp_event_loop_background(&c->watch);
	if (c->watch.stop && c->watch.key) /* blocked here */
		kill(0, c->watch.key);
}

/* --- the beginning -------------------------------------------------------------------------------------------------------- */

/* The arguments of the process that was attached to, as it shows them. */
static void add_argv(struct ctp_section *sec, pid_t pid)
{
	char *text = malloc(ARGV_BYTES + 1);
	size_t len = text ? ctp_attach_argv(pid, text, ARGV_BYTES) : 0;
	for (size_t at = 0; at < len && ctp_section_add(sec, "argv[]", text + at); at += strlen(text + at) + 1)
		;
	free(text);
}

static void begin_section(struct ctp_collect_loop *c)
{
	const struct ctp_collect_conf *conf = c->conf;
	struct ctp_section sec;
	struct ctp_clock_pair pair;
	ctp_clock_pair_read(&pair);
	ctp_section_init(&sec);
	ctp_section_add_host(&sec, "ctp-collect " CTP_VERSION);
	ctp_section_addf(&sec, "pid", "%d", (int)(conf->pid ? conf->pid : c->watch.command));
	ctp_section_add(&sec, "clock", "monotonic");
	bool same = ctp_section_add_clock(&sec, conf->pid);
	if (same)
		ctp_section_addf(&sec, "wall_offset_ns", "%" PRId64, (int64_t)(pair.wall_ns - pair.mono_ns));
	else
		ctp_notice_say(conf->warn, "process %d has another clock, because it is in another time namespace: the order of its events and "
		               "the end of the trace are wrong; run ctp-collect there: nsenter -T -t %d ctp-collect ...",
		               (int)conf->pid, (int)conf->pid);
	ctp_section_addf(&sec, "start_ns", "%" PRIu64, c->start_ns);
	ctp_section_addf(&sec, "max_stations", "%" PRIu32, c->arena.geo.max_stations);
	if (conf->dialect != CTP_DIALECT_AUTO)
		ctp_section_add(&sec, "dialect", conf->dialect == CTP_DIALECT_PLAIN ? "plain" : "seqlock");
	if (conf->pid) {
		ctp_section_add(&sec, "attached", "yes");
		ctp_section_add(&sec, "recorded", mode_now(c) & CTP_MODE_RECORD ? "yes" : "no"); /* before */
		add_argv(&sec, conf->pid);
	}
	for (char *const *arg = conf->argv; !conf->pid && *arg && ctp_section_add(&sec, "argv[]", *arg); arg++)
		;
	ctp_writer_begin(c->writer, &sec);
	ctp_section_fini(&sec);
	if (same)
		ctp_collect_loop_clock(c, &pair);
}

static void on_thread(void *arg, uint64_t tid)
{
	struct ctp_collect_loop *c = arg;
	ctp_targets_thread(c->targets, tid);
}

static size_t on_frames(void *arg, const struct ctp_frame *frames, size_t n, uint64_t *code)
{
	struct ctp_collect_loop *c = arg;
	return ctp_targets_code(c->targets, frames, n, code);
}

static uint64_t when_ns(void *arg)
{
	struct ctp_collect_loop *c = arg;
	return c->harvest ? ctp_harvest_floor_ns(c->harvest) : ctp_clock_ns();
}

static void on_connection(void *arg, pid_t pid)
{
	struct ctp_collect_loop *c = arg;
	if (pid > 0 && c->queue && !c->over)
		ctp_targets_process(c->targets, pid);
	ctp_notice_say(c->conf->info, "process %d has connected (%u now)", (int)pid, c->watch.connections);
}

/* Says which argument it was that failed. */
static enum ctp_status name_option(const char *option, struct ctp_err *err)
{
	return ctp_err_before(err, "%s ", option);
}

/*
 * To open a FIFO for writing waits until somebody reads it, and signals are blocked here. So this waits, and sees them. A descriptor
 * that keeps the FIFO open, or -1: it is none, or *err says that a signal came.
 */
static int wait_for_reader(struct ctp_collect_loop *c, struct ctp_err *err)
{
	enum { PAUSE_MS = 50 };
	const char *path = c->conf->output;
	struct stat st;
	err->text[0] = '\0';
	if (to_stdout(c->conf) || stat(path, &st) || !S_ISFIFO(st.st_mode))
		return -1;
	for (;;) {
		int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 || errno != ENXIO)
			return fd;
		if (ctp_end_signal()) {
			ctp_err_set(err, "%s: nobody has opened it to read, and a signal came", path);
			return -1;
		}
		poll(NULL, 0, PAUSE_MS);
	}
}

static enum ctp_status open_output(struct ctp_collect_loop *c, struct ctp_err *err)
{
	struct ctp_output out;
	int kept = wait_for_reader(c, err);
	bool failed = err->text[0] || ctp_output_open(&out, c->conf->output, true, c->conf->force, err);
	ctp_fd_close(kept);
	if (failed)
		return to_stdout(c->conf) ? CTP_FAILED : name_option("-o", err);
	struct stat st;
	c->piped = !fstat(out.fd, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
	c->queue = ctp_outqueue_new(&out, err);
	if (!c->queue) {
		ctp_output_abandon(&out);
		return CTP_FAILED;
	}
	ctp_outqueue_until(c->queue, ctp_end_signal);
	return ctp_event_loop_extra(&c->watch, ctp_outqueue_fd(c->queue), err);
}

static enum ctp_status make_memory(struct ctp_collect_loop *c, struct ctp_err *err)
{
	const struct ctp_collect_conf *conf = c->conf;
	uint32_t max_stations = conf->max_stations ? conf->max_stations : CTP_COLLECT_STATIONS;
	struct ctp_memory_conf shm = {conf->shm_path, max_stations, conf->ring_events};
	if (ctp_memory_init(&c->shm, &shm, err))
		return conf->shm_path ? name_option("--shm", err) : CTP_FAILED;
	if (ctp_arena_find(&c->arena, c->shm.base, c->shm.bytes, err) || ctp_attach_lock(c->shm.fd, err))
		return CTP_FAILED;
	return CTP_OK;
}

static enum ctp_status find_memory(struct ctp_collect_loop *c, struct ctp_err *err)
{
	const struct ctp_collect_conf *conf = c->conf;
	struct ctp_attach at;
	if (ctp_attach_find(&at, conf->pid, conf->news, err))
		return name_option("-p", err);
	c->shm = at.shm;
	c->arena = at.arena;
	if (ctp_attach_lock(c->shm.fd, err))
		return ctp_err_before(err, "-p process %d: ", (int)conf->pid);
	c->unreachable = at.elsewhere && !conf->sock_path;
	if (at.elsewhere)
		ctp_notice_say(conf->news, "process %d is in another PID namespace: its threads have numbers of their own%s",
		               (int)conf->pid, c->unreachable ? ", and it can wake us only by a --sock PATH that it sees" : "");
	return CTP_OK;
}

static enum ctp_status keep_connections(struct ctp_collect_loop *c, struct ctp_err *err)
{
	struct ctp_conn_keeper_conf keep = {.addr = &c->sock.addr};
	keep.remove[0].path = c->shm.named ? c->shm.path : NULL;
	keep.remove[0].fd = c->shm.fd;
	keep.remove[1].path = c->sock.named ? c->sock.path : NULL;
	keep.remove[1].fd = c->sock.inode_fd;
	return ctp_conn_keeper_init(&c->keeper, &keep, err);
}

static enum ctp_status set_up(struct ctp_collect_loop *c, struct ctp_err *err)
{
	const struct ctp_collect_conf *conf = c->conf;
	if (conf->pid ? find_memory(c, err) : make_memory(c, err))
		return CTP_FAILED;
	c->budget.limit_bytes = (uint64_t)(conf->memory_mib ? conf->memory_mib : CTP_COLLECT_MIB) << 20;
	ctp_budget_take(&c->budget, OWN_BYTES);
	if (ctp_memory_charge(&c->shm, &c->budget, err))
		return CTP_FAILED;
	if (ctp_sock_init(&c->sock, conf->sock_path, err))
		return conf->sock_path ? name_option("--sock", err) : CTP_FAILED;
	if (ctp_event_loop_init(&c->watch, &c->sock, err) || (conf->pid && ctp_event_loop_process(&c->watch, conf->pid, err)))
		return CTP_FAILED;
	c->watch.connected = on_connection;
	c->watch.arg = c;
	if (!ctp_proc_maps_file_at(c->shm.base, &c->file))
		return ctp_err_set(err, "/proc/self/maps: the shared memory is not to be found (is /proc mounted?)");
	/* Probes that can be attached to raise no SIGPIPE; those of version 1 know only the collector that started them. */
	if (!conf->pid && keep_connections(c, err))
		return CTP_FAILED;
	if (open_output(c, err)) /* starts a thread, so it comes after the clone */
		return CTP_FAILED;
	_Static_assert((int)CTP_WRITER_ROOM <= (int)CTP_OUTQUEUE_ROOM, "the queue has room for any packet");
	c->writer = ctp_writer_new_in(ctp_outqueue_room, ctp_outqueue_put, c->queue, err);
	if (!c->writer)
		return CTP_FAILED;
	c->targets = ctp_targets_new(c->writer, &c->file, err);
	if (!c->targets)
		return CTP_FAILED;
	ctp_targets_when(c->targets, when_ns, c);
	ctp_targets_warn(c->targets, conf->warn);
	c->end_class = ctp_event_class(CTP_END);
	c->clock_class = ctp_event_class(CTP_CLOCK);
	return c->end_class && c->clock_class ? CTP_OK : ctp_err_memory(err);
}

static enum ctp_status make_harvest(struct ctp_collect_loop *c, struct ctp_err *err)
{
	struct ctp_harvest_conf conf = {
		.shm = c->shm.base,
		.bytes = c->shm.bytes,
		.max_stations = c->arena.geo.max_stations,
		.attach = c->conf->pid,
		.dialect = c->conf->dialect,
		.writer = c->writer,
		.budget = &c->budget,
		.has_to_end = ctp_end_signal,
		.calm_ns = 1000000,
		.last_calm_ns = 200000000, /* timeout(1) sends its signal twice, and the second is no reason to lose anything */
		.new_thread = on_thread,
		.find_code = on_frames,
		.arg = c,
	};
	c->harvest = ctp_harvest_new(&conf, err);
	return c->harvest ? CTP_OK : CTP_FAILED;
}

static int start_command(struct ctp_collect_loop *c, const struct ctp_spawn_signals *signals, struct ctp_err *err)
{
	char stations[16];
	snprintf(stations, sizeof stations, "%" PRIu32, c->arena.geo.max_stations);
	const char *const env[] = {
		CTP_SHM_VARIABLE, c->shm.path, "CTP_SOCK_PATH", c->sock.path, "CTP_MAX_STATIONS", stations, NULL,
	};
	struct ctp_spawn_conf spawn = {
		.argv = c->conf->argv, .env = env, .stdout_to_stderr = to_stdout(c->conf), .signals = signals};
	if (c->piped)
		ctp_event_loop_foreground(&c->watch, true);
	spawn.group = c->watch.foreground.group;
	int status = ctp_spawn(&spawn, &c->watch.command, err);
	c->watch.foreground.command = c->watch.command;
	return status;
}

/* For ourselves alone, so after the command has started: exact naps, and as many connections as we may have. */
static void ask_more_of_the_system(void)
{
	prctl(PR_SET_TIMERSLACK, 1UL);
	struct rlimit files;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static enum ctp_status begin_command(struct ctp_collect_loop *c, const struct ctp_spawn_signals *signals, struct ctp_err *err)
{
	announce(c);
	if (make_harvest(c, err))
		return CTP_FAILED;
	c->result->status = start_command(c, signals, err);
	if (c->result->status)
		return CTP_FAILED;
	ctp_sampler_init(&c->sampler, c->harvest, c->targets, &c->file, c->watch.command, true, c->arena.geo.max_rings,
	                 c->conf->info);
	ask_more_of_the_system();
	begin_section(c);
	return CTP_OK;
}

/* What is there already becomes records at once, so the section comes first. */
static enum ctp_status begin_attached(struct ctp_collect_loop *c, struct ctp_err *err)
{
	ask_more_of_the_system();
	begin_section(c);
	announce(c);
	if (make_harvest(c, err))
		return CTP_FAILED;
	ctp_targets_process(c->targets, c->conf->pid);
	ctp_sampler_init(&c->sampler, c->harvest, c->targets, &c->file, c->conf->pid, false, c->arena.geo.max_rings,
	                 c->conf->info);
	if (c->piped && !c->conf->once)
		ctp_event_loop_foreground(&c->watch, false);
	if (!c->conf->once) {
		ctp_harvest_scan(c->harvest, NULL); /* the trace begins with the first look: whatever follows our word is in it */
		ctp_notice_say(c->conf->news, "attached to process %d", (int)c->conf->pid);
	}
	return CTP_OK;
}

static void tear_down(struct ctp_collect_loop *c)
{
	if (c->queue) /* nothing was started */
		ctp_outqueue_abandon(c->queue);
	renounce(c);
	ctp_sampler_fini(&c->sampler);
	ctp_harvest_free(c->harvest);
	ctp_targets_free(c->targets);
	ctp_class_free(c->end_class);
	ctp_class_free(c->clock_class);
	ctp_writer_free(c->writer);
	ctp_event_loop_background(&c->watch);
	ctp_event_loop_fini(&c->watch);
	ctp_memory_fini(&c->shm);
	ctp_sock_fini(&c->sock);
	if (!c->watch.connections) /* else it holds them until their processes end */
		ctp_conn_keeper_fini(&c->keeper);
}

enum ctp_status ctp_collect(const struct ctp_collect_conf *conf, struct ctp_collect_result *result, struct ctp_err *err)
{
	*result = (struct ctp_collect_result){.status = 125, .fixed = conf->pid};
	struct ctp_collect_loop c = {
		.conf = conf, .result = result, .shm.fd = -1, .sock.fd = -1, .sock.inode_fd = -1, .watch.epoll_fd = -1,
		.watch.signal_fd = -1, .start_ns = ctp_clock_ns()};
	c.now_ns = c.refresh_ns = c.start_ns;
	sigset_t block;
	struct ctp_spawn_signals signals;
	ctp_event_loop_signals(&block);
	ctp_spawn_signals_take(&signals, &block);

	enum ctp_status st = set_up(&c, err);
	if (!st)
		st = conf->pid ? begin_attached(&c, err) : begin_command(&c, &signals, err);
	if (!st) {
		result->max_stations = c.arena.geo.max_stations;
		result->max_rings = c.arena.geo.max_rings;
		bool deserted = ctp_collect_loop_run(&c);
		c.watch.finishing = conf->pid || c.watch.ended;
		finish(&c, deserted);
		if (!conf->pid)
			wait_for_command(&c);
		wait_for_readers(&c);
		if (conf->pid) /* there is no status of a command to pass on */
			result->status = result->broken ? 125 : 0;
	}
	tear_down(&c);
	if (!c.watch.urged) /* timeout(1) sends its signal twice: the second must not kill a process that is about to end well */
		ctp_spawn_signals_restore(&signals);
	return st;
}
