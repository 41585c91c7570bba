/*
 * collect.c - the collector: sets up what the target needs, harvests while it lives, and ends when all of them are gone.
 *
 * One thread looks and waits; another (outqueue.c) writes. The sleep follows cTP's contract, fence against fence:
 *
 *	collector                               probe
 *	tracer_sleeping = 1                     slot.seq = ... (the event is published)
 *	seq_cst fence                 <---->    seq_cst fence
 *	look at the stations                    read tracer_sleeping
 *	block                                   if 1: swap it to 0, write a byte
 *
 * Whatever the order, the look sees the event or the probe sees the flag. A light sleep looks at the hot stations only: an
 * event of a cold one that was published before the flag waits for the sweep that comes 10 ms later. For a writer without a
 * fence the rests are limited to a second (pace.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#define CTP_LAYOUT_ONLY
#include "ctp.h"
#include "events.h"
#include "keeper.h"
#include "outqueue.h"
#include "pace.h"
#include "shm.h"
#include "sock.h"
#include "spawn.h"
#include "target.h"
#include "users.h"
#include "watch.h"
#include "writer.h"

#define SHM_VARIABLE "CTP_SHM_PATH"
static const uint64_t US = 1000, MS = 1000000, SECOND = 1000000000;

enum {
	FLUSH_MS = 50,      /* a record waits no longer for its packet to be sent */
	LIVES_MS = 100,     /* deaths are looked for so often while there are events */
	LIVES_SHARE = 200,  /* but for no more than this part of the time */
	REFRESH_MS = 20,    /* a glance at the processes so often while there are events */
	HEIR_MS = 500,      /* a process left behind has so long to attach */
	HEIR_PAUSE_MS = 20, /* and is looked at so often */
	STALLED_MS = 5,     /* between looks at a queue that is full */
	SPIN_US = 100,      /* between looks at the descriptors where there is no nap */
};

struct collect {
	const struct ctp_collect_conf *conf;
	struct ctp_collect_result *result;
	struct ctp_shm shm;
	struct ctp_sock sock;
	struct ctp_keeper keeper;
	struct ctp_watch watch;
	struct ctp_outqueue *queue; /* null: closed */
	struct ctp_writer *writer;
	struct ctp_harvest *harvest;
	struct ctp_targets *targets;
	struct ctp_class *end_class;
	struct ctp_map_file file;
	struct ctp_pace pace;
	bool unread;    /* the output has failed as a pipe that nobody reads */
	bool idle;      /* all that was found is sent, marked, and there was nothing since */
	bool stalled;   /* the queue is full, and it was said */
	bool truncated; /* the memory was, and it was said */
	uint64_t start_ns, now_ns;
	uint64_t waited_ns, dirty_ns, lives_ns, refresh_ns, asked_ns, ended_ns; /* when last, or since when; 0: it is not */
	uint64_t refresh_events;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

static bool to_stdout(const struct ctp_collect_conf *conf) { return !conf->output || !strcmp(conf->output, "-"); }

static void update_result(struct collect *c)
{
	c->result->stats = *ctp_harvest_stats(c->harvest);
	c->result->attached = c->watch.accepted || c->result->stats.stations;
	c->result->duration_ns = clock_ns(CLOCK_MONOTONIC) - c->start_ns;
}

void ctp_collect_line(const struct ctp_collect_result *r, char line[CTP_COLLECT_LINE_MAX])
{
	const struct ctp_harvest_stats *s = &r->stats;
	char unverified[48] = "", remedy[48] = "";
	if (s->unverified)
		snprintf(unverified, sizeof(unverified), " (%" PRIu64 " unverified)", s->unverified);
	if (s->untraced)
		snprintf(remedy, sizeof(remedy), " (raise -n, now %" PRIu32 ")", r->max_stations);
	snprintf(line, CTP_COLLECT_LINE_MAX,
	         "%" PRIu64 " events%s, %" PRIu64 " coroutines, %" PRIu64 " lost%s, %" PRIu64 " untraced%s, %.3f s%s",
	         s->events, r->broken ? " harvested" : "", s->births, s->lost, unverified, s->untraced, remedy,
	         (double)r->duration_ns / (double)SECOND, r->broken ? "; the stream is NOT complete" : "");
}

/* --- looking and resting -------------------------------------------------------------------------------------------------- */

static void set_sleeping(struct collect *c, uint32_t sleeping)
{
	struct ctp_shm_header *head = c->shm.base;
	__atomic_store_n(&head->tracer_sleeping, sleeping, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with the probe's, between its publish and its look at this flag */
}

static size_t look(struct collect *c, bool sweep)
{
	unsigned busiest = 0;
	size_t found;
	if (sweep) {
		found = ctp_harvest_sweep(c->harvest);
		busiest = 3; /* not known: the pace stays */
	} else {
		found = ctp_harvest_scan(c->harvest, &busiest);
	}
	c->now_ns = clock_ns(CLOCK_MONOTONIC);
	ctp_pace_found(&c->pace, found, busiest, c->now_ns);
	c->idle &= !found;
	return found;
}

/* What was found becomes a packet that a live reader can have. */
static void publish(struct collect *c)
{
	ctp_harvest_settle(c->harvest);
	ctp_writer_flush(c->writer);
	c->dirty_ns = 0;
}

static void wait_for(struct collect *c, uint64_t ns)
{
	uint64_t due = c->now_ns + ns;
	if (c->conf->limit_ns)
		due = earlier(due, c->start_ns + c->conf->limit_ns);
	if (c->dirty_ns)
		due = earlier(due, c->dirty_ns + FLUSH_MS * MS);
	ctp_watch_wait(&c->watch, due > c->now_ns ? (int64_t)(due - c->now_ns) : 0);
	c->waited_ns = c->now_ns = clock_ns(CLOCK_MONOTONIC);
}

static void rest(struct collect *c)
{
	bool wakeable = c->watch.connections || !(c->watch.ended || ctp_harvest_stats(c->harvest)->stations);
	struct ctp_rest rest = ctp_pace_next(&c->pace, wakeable, c->now_ns);
	if (!rest.sleep) {
		if (rest.ns || c->now_ns - c->waited_ns > SPIN_US * US)
			wait_for(c, rest.ns);
		return;
	}
	if (rest.ns > FLUSH_MS * MS && !c->idle) {
		publish(c); /* and so the mark that lets a live reader have the last event */
		c->idle = true;
	}
	set_sleeping(c, 1);
	if (!look(c, rest.sweep)) {
		c->watch.woken = false;
		wait_for(c, rest.ns);
	}
	set_sleeping(c, 0);
	if (c->watch.woken && !look(c, false))
		look(c, true); /* whoever woke us was not hot */
	c->watch.woken = false;
}

/* --- what is done now and then -------------------------------------------------------------------------------------------- */

static void say_if_truncated(struct collect *c)
{
	if (ctp_shm_truncated() && !c->truncated) {
		c->truncated = true;
		ctp_notice_say(c->conf->warn, "%s: was truncated; what it held is lost", c->shm.path);
	}
}

static void keep_house(struct collect *c)
{
	const struct ctp_harvest_stats *stats = ctp_harvest_stats(c->harvest);
	uint64_t events = stats->events + stats->lost;
	if (c->now_ns >= c->lives_ns) {
		ctp_harvest_lives(c->harvest);
		uint64_t began_ns = c->now_ns;
		c->now_ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t pause_ns = (c->now_ns - began_ns) * LIVES_SHARE;
		c->lives_ns = c->now_ns + (pause_ns > LIVES_MS * MS ? pause_ns : LIVES_MS * MS);
	}
	if (events != c->refresh_events && c->now_ns - c->refresh_ns > REFRESH_MS * MS) {
		ctp_targets_refresh(c->targets);
		c->refresh_events = events;
		c->refresh_ns = c->now_ns;
	}
	if (!c->dirty_ns && (ctp_harvest_unsettled(c->harvest) || ctp_writer_pending(c->writer)))
		c->dirty_ns = c->now_ns;
	if (c->dirty_ns && c->now_ns - c->dirty_ns >= FLUSH_MS * MS)
		publish(c);
	say_if_truncated(c);
}

static void say_status(struct collect *c)
{
	char line[CTP_COLLECT_LINE_MAX];
	c->watch.asked = false;
	if (c->queue)
		update_result(c);
	ctp_collect_line(c->result, line);
	ctp_notice_say(c->conf->warn, "%s", line);
}

static bool output_is_slow(struct collect *c)
{
	bool tight = ctp_outqueue_tight(c->queue);
	if (tight && !c->stalled)
		ctp_notice_say(c->conf->info, "the output is too slow: harvesting waits, and what is overwritten is lost");
	c->stalled = tight;
	return tight;
}

/*
 * Everybody is gone. Who only unmapped the memory, without a connection, is found out once a second. A process that COMMAND
 * left behind and that has not attached yet, such as a daemon that starts tracing after its fork, is given a moment to do so.
 */
static bool is_deserted(struct collect *c)
{
	uint64_t pause_ns = c->watch.users ? SECOND : HEIR_PAUSE_MS * MS;
	if (!c->watch.ended || !(c->watch.change || c->now_ns - c->asked_ns > pause_ns))
		return false;
	if (!c->ended_ns)
		c->ended_ns = c->now_ns;
	c->asked_ns = c->now_ns;
	if (!ctp_watch_deserted(&c->watch, &c->file))
		return false;
	char assignment[sizeof(SHM_VARIABLE) + 1 + PATH_MAX];
	snprintf(assignment, sizeof(assignment), "%s=%s", SHM_VARIABLE, c->shm.path);
	return c->now_ns - c->ended_ns >= HEIR_MS * MS || !ctp_users_heir(assignment);
}

/* Returns true when the target is gone and so all that will ever be published has been. */
static bool harvest(struct collect *c)
{
	for (;;) {
		if (c->watch.asked)
			say_status(c);
		if (c->watch.extra) /* the queue's: it has failed */
			return false;
		if (is_deserted(c))
			return true;
		if (c->watch.stop || (c->conf->limit_ns && c->now_ns - c->start_ns >= c->conf->limit_ns))
			return false;
		if (output_is_slow(c)) {
			wait_for(c, STALLED_MS * MS);
			continue;
		}
		look(c, false);
		keep_house(c);
		rest(c);
	}
}

/* --- the end -------------------------------------------------------------------------------------------------------------- */

static void write_end(struct collect *c)
{
	const struct ctp_harvest_stats *s = ctp_harvest_stats(c->harvest);
	bool ended = c->watch.ended, killed = ended && WIFSIGNALED(c->watch.status);
	const uint64_t val[CTP_END_FIELDS] = {
		[CTP_END_TS] = clock_ns(CLOCK_MONOTONIC),
		[CTP_END_EVENTS] = s->events,
		[CTP_END_LOST] = s->lost,
		[CTP_END_UNVERIFIED] = s->unverified,
		[CTP_END_UNTRACED] = s->untraced,
		[CTP_END_BIRTHS] = s->births,
		[CTP_END_DEATHS] = s->deaths,
		[CTP_END_OUTCOME] = !ended ? CTP_OUTCOME_RUNNING : killed ? CTP_OUTCOME_KILLED : CTP_OUTCOME_EXITED,
		[CTP_END_STATUS] = !ended ? 0 : (uint64_t)(killed ? WTERMSIG(c->watch.status) : WEXITSTATUS(c->watch.status)),
	};
	ctp_writer_record(c->writer, c->end_class, val);
	ctp_writer_end(c->writer, true);
}

static void wait_for_event(struct collect *c)
{
	ctp_watch_wait(&c->watch, CTP_FOREVER);
	if (c->watch.asked)
		say_status(c);
}

/* The last of everything, unless the output has failed. Who reads our output sees its end here. */
static void finish(struct collect *c, bool deserted)
{
	if (!c->watch.extra) {
		ctp_harvest_last(c->harvest, deserted);
		say_if_truncated(c);
		write_end(c);
		ctp_outqueue_finish(c->queue);
	}
	update_result(c);
	/* A reader that does not read holds us here: a signal that COMMAND does not need any more ends that. */
	c->watch.stop = false;
	while (!c->watch.extra && !c->watch.stop)
		wait_for_event(c);
	struct ctp_err err = {"the last packets were not taken in time"};
	c->unread = c->watch.extra && ctp_outqueue_unread(c->queue);
	if (!c->watch.extra || ctp_outqueue_close(c->queue, &err)) {
		c->result->broken = true;
		ctp_notice_say(c->conf->warn, "%s; collecting has stopped%s", err.text,
		               c->watch.ended ? "" : ", the command runs on");
	}
	ctp_watch_extra(&c->watch, -1, &err);
	c->queue = NULL;
	if (to_stdout(c->conf)) {
		int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
			close(STDOUT_FILENO);
		close(fd);
	}
}

/* The trace has ended. Says what is waited for and, after a Ctrl-C that took the reader along, what would have helped. */
static void wait_for_command(struct collect *c)
{
	if (!c->watch.ended && !c->result->broken)
		ctp_notice_say(c->conf->news, "trace ended by -t; waiting for %s (pid %d)", c->conf->argv[0],
		               (int)c->watch.command);
	while (!c->watch.ended)
		wait_for_event(c);
	int sig = WIFSIGNALED(c->watch.status) ? WTERMSIG(c->watch.status) : 0;
	if (c->unread && (sig == SIGINT || sig == SIGQUIT || sig == SIGTERM || sig == SIGHUP))
		ctp_notice_say(c->conf->warn, "the reader of the pipe died too; use -o FILE with Ctrl-C");
	c->result->signal = c->result->broken ? 0 : sig;
	c->result->status = c->result->broken || sig ? 125 : WEXITSTATUS(c->watch.status);
}

/* --- the beginning -------------------------------------------------------------------------------------------------------- */

/* What to add to our clock for the time of day, from the closest of a few pairs of readings. */
static int64_t wall_offset_ns(void)
{
	uint64_t best_ns = UINT64_MAX;
	int64_t offset_ns = 0;
	for (int i = 0; i < 8; i++) {
		uint64_t before_ns = clock_ns(CLOCK_MONOTONIC), wall_ns = clock_ns(CLOCK_REALTIME);
		uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - before_ns;
		if (took_ns < best_ns) {
			best_ns = took_ns;
			offset_ns = (int64_t)(wall_ns - before_ns - took_ns / 2);
		}
	}
	return offset_ns;
}

static void begin_section(struct collect *c)
{
	const struct ctp_collect_conf *conf = c->conf;
	struct ctp_section sec;
	ctp_section_init(&sec);
	ctp_section_add_host(&sec, "ctp-collect");
	ctp_section_addf(&sec, "pid", "%d", (int)c->watch.command);
	ctp_section_add(&sec, "clock", "monotonic");
	ctp_section_addf(&sec, "wall_offset_ns", "%" PRId64, wall_offset_ns());
	ctp_section_addf(&sec, "start_ns", "%" PRIu64, c->start_ns);
	ctp_section_addf(&sec, "max_stations", "%" PRIu32, conf->max_stations);
	if (conf->dialect != CTP_DIALECT_AUTO)
		ctp_section_add(&sec, "dialect", conf->dialect == CTP_DIALECT_PLAIN ? "plain" : "seqlock");
	for (char *const *arg = conf->argv; *arg && ctp_section_add(&sec, "argv[]", *arg); arg++)
		;
	ctp_writer_begin(c->writer, &sec);
	ctp_section_fini(&sec);
}

static void on_thread(void *arg, uint64_t tid)
{
	struct collect *c = arg;
	ctp_targets_thread(c->targets, tid);
}

static void on_connection(void *arg, pid_t pid)
{
	struct collect *c = arg;
	if (pid > 0 && c->queue)
		ctp_targets_process(c->targets, pid);
	ctp_notice_say(c->conf->info, "process %d has connected (%u now)", (int)pid, c->watch.connections);
}

/* Says whose argument it was that failed. */
static enum ctp_status name_option(const char *option, struct ctp_err *err)
{
	struct ctp_err plain = *err;
	return ctp_err_set(err, "%s %s", option, plain.text);
}

static enum ctp_status open_output(struct collect *c, struct ctp_err *err)
{
	struct ctp_output out;
	if (ctp_output_open(&out, c->conf->output, true, c->conf->force, err))
		return to_stdout(c->conf) ? CTP_FAILED : name_option("-o", err);
	c->queue = ctp_outqueue_new(&out, err);
	if (c->queue)
		return ctp_watch_extra(&c->watch, ctp_outqueue_fd(c->queue), err);
	ctp_output_abandon(&out);
	return CTP_FAILED;
}

static enum ctp_status set_up(struct collect *c, struct ctp_err *err)
{
	const struct ctp_collect_conf *conf = c->conf;
	if (ctp_sock_init(&c->sock, conf->sock_path, err))
		return conf->sock_path ? name_option("--sock", err) : CTP_FAILED;
	if (ctp_shm_init(&c->shm, conf->max_stations, conf->shm_path, err))
		return conf->shm_path ? name_option("--shm", err) : CTP_FAILED;
	if (ctp_watch_init(&c->watch, &c->sock, err))
		return CTP_FAILED;
	if (!ctp_maps_file_at(c->shm.base, &c->file))
		return ctp_err_set(err, "/proc/self/maps: the shared memory is not to be found (is /proc mounted?)");
	c->watch.connected = on_connection;
	c->watch.arg = c;
	struct ctp_keeper_conf keep = {.addr = &c->sock.addr};
	keep.remove[0].path = c->shm.named ? c->shm.path : NULL;
	keep.remove[0].fd = c->shm.fd;
	keep.remove[1].path = c->sock.named ? c->sock.path : NULL;
	keep.remove[1].fd = c->sock.inode_fd;
	if (ctp_keeper_init(&c->keeper, &keep, err))
		return CTP_FAILED;
	return open_output(c, err); /* starts a thread, so it comes after the clone */
}

static enum ctp_status set_up_harvest(struct collect *c, struct ctp_err *err)
{
	c->writer = ctp_writer_new(ctp_outqueue_put, c->queue, err);
	if (!c->writer)
		return CTP_FAILED;
	c->targets = ctp_targets_new(c->writer, &c->file, err);
	if (!c->targets)
		return CTP_FAILED;
	c->end_class = ctp_event_class(CTP_END);
	if (!c->end_class)
		return ctp_err_set(err, "out of memory");
	struct ctp_harvest_conf conf = {
		.shm = c->shm.base,
		.max_stations = c->conf->max_stations,
		.dialect = c->conf->dialect,
		.writer = c->writer,
		.new_thread = on_thread,
		.arg = c,
	};
	c->harvest = ctp_harvest_new(&conf, err);
	return c->harvest ? CTP_OK : CTP_FAILED;
}

static int start_command(struct collect *c, const struct ctp_signals *signals, struct ctp_err *err)
{
	char stations[16];
	snprintf(stations, sizeof(stations), "%" PRIu32, c->conf->max_stations);
	const char *const env[] = {
		SHM_VARIABLE, c->shm.path, "CTP_SOCK_PATH", c->sock.path, "CTP_MAX_STATIONS", stations, NULL,
	};
	struct ctp_spawn_conf spawn = {
		.argv = c->conf->argv, .env = env, .stdout_to_stderr = to_stdout(c->conf), .signals = signals};
	return ctp_spawn(&spawn, &c->watch.command, err);
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

static void tear_down(struct collect *c)
{
	if (c->queue) /* nothing was started */
		ctp_outqueue_abandon(c->queue);
	ctp_harvest_free(c->harvest);
	ctp_targets_free(c->targets);
	ctp_class_free(c->end_class);
	ctp_writer_free(c->writer);
	ctp_watch_fini(&c->watch);
	ctp_shm_fini(&c->shm);
	ctp_sock_fini(&c->sock);
	if (!c->watch.connections) /* else it holds them until their processes end */
		ctp_keeper_fini(&c->keeper);
}

enum ctp_status ctp_collect(const struct ctp_collect_conf *conf, struct ctp_collect_result *result, struct ctp_err *err)
{
	*result = (struct ctp_collect_result){.status = 125, .max_stations = conf->max_stations};
	struct collect c = {
		.conf = conf, .result = result, .shm.fd = -1, .sock.fd = -1, .sock.inode_fd = -1, .watch.epoll_fd = -1,
		.watch.signal_fd = -1, .start_ns = clock_ns(CLOCK_MONOTONIC)};
	c.now_ns = c.refresh_ns = c.start_ns;
	sigset_t block;
	struct ctp_signals signals;
	ctp_watch_signals(&block);
	ctp_signals_take(&signals, &block);

	enum ctp_status st = set_up(&c, err);
	if (!st)
		st = set_up_harvest(&c, err);
	if (!st && (result->status = start_command(&c, &signals, err)))
		st = CTP_FAILED;
	if (!st) {
		ask_more_of_the_system();
		begin_section(&c);
		finish(&c, harvest(&c));
		wait_for_command(&c);
	}
	tear_down(&c);
	ctp_signals_restore(&signals);
	return st;
}
