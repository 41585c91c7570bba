/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tracee.c - a traced program for tests: a cTP v1 writer made from the protocol document alone.
 *
 * It shares no code with lib/ or sdk/, on purpose. Dialects: "plain" is the document's own (slot seq % 8, seq stored last, no
 * fence before the look at tracer_sleeping); "seqlock" is what the field's SDKs do, an odd mark by a release store and write(2)
 * for the wake byte included, which raises SIGPIPE where nobody holds the other end.
 *
 * Each coroutine has one writer. With -p the number of published events is appended to a file, a line for each process.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct slot {
	uint64_t timestamp, tid, addr;
	_Atomic uint64_t seq;
	char reserved[31];
	uint8_t is_active;
};

struct station {
	uint64_t probe_id, birth_ts;
	uint8_t is_dead, pad[47];
	struct slot slots[8];
	char flexible[448];
};

struct header {
	uint64_t magic;
	uint32_t version, max_stations;
	_Atomic uint32_t allocated_count, tracer_sleeping;
	char reserved[1000];
};

_Static_assert(sizeof(struct slot) == 64 && sizeof(struct station) == 1024 && sizeof(struct header) == 1024, "cTP v1");

static const char usage[] =
	"usage: tracee [options]\n"
	"  -d DIALECT  seqlock (default) or plain\n"
	"  -c N        coroutines of each process (1)\n"
	"  -i N        stations taken besides, that stay without events (0)\n"
	"  -e N        events of each coroutine (100)\n"
	"  -j N        threads that share the coroutines (1)\n"
	"  -r N        events a second, of each process (0: flat out)\n"
	"  -m          the coroutine of each event is chosen at random\n"
	"  -z          coroutines do not die\n"
	"  -f N        fork N processes that do the same, each with stations of its own\n"
	"  -F          fork in the middle: the child writes the same stations, when the parent has ended\n"
	"  -x N        do it all N times more, each after an exec (of $TRACEE_EXEC if set)\n"
	"  -s N        close the socket and connect again after every N events\n"
	"  -S          close the socket after it was connected, and go on without\n"
	"  -u          do not connect at all\n"
	"  -D          leave a daemon behind that does it all, and end\n"
	"  -b FILE     before the first event, read FILE to its end (a FIFO holds it there)\n"
	"  -a FILE     after the last event, read FILE to its end\n"
	"  -p FILE     append the number of events published\n"
	"  -k N        kill -9 itself after N events\n"
	"  -h          with -k: half-way through writing a slot\n"
	"  -t          in the middle, truncate the shared memory to nothing, and go on without it\n"
	"  -X N        exit status\n";

static struct {
	bool plain, random, immortal, fork_middle, close_socket, no_socket, daemon, halfway, truncate;
	uint64_t coroutines, idle, events, threads, rate, forks, execs, reconnect, kill_after;
	const char *before, *after, *published;
	int status;
} opt = {.coroutines = 1, .events = 100, .threads = 1};

/* It takes seconds to look for leaks, and this is not what is tested. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static struct header *head;
static struct station *stations;
static uint32_t max_stations;
static int shm_fd = -1, sock_fd = -1, over_fd = -1;
static _Atomic uint64_t published;

static _Noreturn void die(const char *what)
{
	perror(what);
	_exit(99);
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void connect_socket(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const char *path = getenv("CTP_SOCK_PATH");
	if (opt.no_socket || !path)
		return;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	sock_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock_fd < 0 || connect(sock_fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(sock_fd); /* the collector is gone: on without wake-ups, as the field's SDKs do */
		sock_fd = -1;
		return;
	}
	fcntl(sock_fd, F_SETFL, O_NONBLOCK);
	if (opt.close_socket) {
		close(sock_fd);
		sock_fd = -1;
	}
}

static void attach(void)
{
	const char *path = getenv("CTP_SHM_PATH"), *max = getenv("CTP_MAX_STATIONS");
	if (!path || !max)
		return; /* untraced */
	max_stations = (uint32_t)strtoul(max, NULL, 10);
	size_t bytes = 1024 * ((size_t)max_stations + 1);
	shm_fd = open(path, O_RDWR | O_CLOEXEC);
	if (shm_fd < 0)
		return;
	head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shm_fd, 0);
	if (head == MAP_FAILED)
		die("mmap");
	if (head->magic != 0x434F524F54524352 || head->version != 1 || head->max_stations != max_stations) {
		fputs("tracee: not a cTP memory\n", stderr);
		_exit(98);
	}
	stations = (struct station *)(head + 1);
	connect_socket();
}

static void wake(void)
{
	if (!opt.plain)
		atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&head->tracer_sleeping, memory_order_relaxed) != 1)
		return;
	if (!opt.plain && atomic_exchange(&head->tracer_sleeping, 0) != 1)
		return;
	ssize_t ignored = sock_fd >= 0 ? write(sock_fd, "1", 1) : 0; /* as in the field; SIGPIPE is not ignored */
	(void)ignored;
}

/* The k-th event of a station, k from 0. */
static void event(struct station *st, uint64_t k, uint64_t tid)
{
	uint64_t seq = opt.plain ? k + 1 : 2 * (k / 8 + 1);
	struct slot *slot = &st->slots[(opt.plain ? seq : k) % 8];
	bool last = opt.kill_after && atomic_load(&published) + 1 == opt.kill_after;
	if (!opt.plain)
		atomic_store_explicit(&slot->seq, seq - 1, memory_order_release);
	slot->timestamp = now_ns();
	slot->tid = tid;
	if (last && opt.halfway)
		kill(getpid(), SIGKILL);
	slot->addr = k % 2 ? 0 : 0x400000 + st->probe_id % 16 * 64;
	slot->is_active = k % 2;
	atomic_store_explicit(&slot->seq, seq, memory_order_release);
	atomic_fetch_add(&published, 1);
	wake();
	if (last)
		kill(getpid(), SIGKILL);
}

struct worker {
	pthread_t thread;
	uint64_t first, count; /* coroutines of its own */
	struct station **station;
	uint64_t *done;
};

/* At an even rate: a thread that is late does not catch up. */
static void pace(uint64_t *due_ns)
{
	if (!opt.rate)
		return;
	uint64_t now = now_ns();
	if (now > *due_ns + 10000000)
		*due_ns = now;
	for (; now < *due_ns; now = now_ns()) {
		if (*due_ns - now > 200000)
			nanosleep(&(struct timespec){.tv_nsec = (long)(*due_ns - now - 100000) % 1000000000}, NULL);
	}
	*due_ns += 1000000000 * opt.threads / opt.rate;
}

static void in_the_middle(void)
{
	int over[2];
	if (opt.fork_middle && !pipe(over)) {
		bool child = fork() == 0;
		close(over[child]);
		over_fd = over[!child];
		if (child) { /* continues where the parent was, when that has ended */
			char byte;
			while (read(over[0], &byte, 1) > 0)
				;
		}
	}
	if (opt.truncate) {
		if (ftruncate(shm_fd, 0))
			die("ftruncate");
		_exit(opt.status); /* everything that is mapped is gone */
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t tid = (uint64_t)syscall(SYS_gettid), due = 0, total = w->count * opt.events;
	uint64_t dice = 88172645463325252 + w->first;
	for (uint64_t n = 0; n < total; n++) {
		uint64_t i = n % w->count;
		if (opt.random) {
			dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
			i = dice % w->count;
		}
		pace(&due);
		if (w->first == 0 && n == total / 2)
			in_the_middle();
		if (opt.reconnect && n && n % opt.reconnect == 0) {
			close(sock_fd);
			connect_socket();
		}
		if (w->station[i])
			event(w->station[i], w->done[i]++, tid);
	}
	return NULL;
}

static struct station *born(uint64_t i)
{
	uint32_t at = atomic_fetch_add_explicit(&head->allocated_count, 1, memory_order_relaxed);
	if (at >= max_stations)
		return NULL;
	stations[at].probe_id = 0x1000 * (uint64_t)getpid() + i;
	stations[at].birth_ts = now_ns();
	return &stations[at];
}

static void read_to_end(const char *path)
{
	char bytes[256];
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	while (fd >= 0 && read(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
}

static void tell(void)
{
	char line[32];
	int fd = opt.published ? open(opt.published, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	int n = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)published);
	if (opt.published && (fd < 0 || write(fd, line, (size_t)n) != n))
		die(opt.published);
	close(fd);
}

static void run(void)
{
	attach();
	read_to_end(opt.before);
	struct worker *workers = calloc(opt.threads, sizeof(*workers));
	struct station **st = calloc(opt.coroutines, sizeof(struct station *));
	uint64_t *done = calloc(opt.coroutines, sizeof(*done));
	if (!workers || !st || !done)
		die("calloc");
	for (uint64_t i = 0; head && i < opt.coroutines; i++)
		st[i] = born(i);
	for (uint64_t i = 0; head && i < opt.idle; i++)
		born(opt.coroutines + i);
	for (uint64_t i = 0, first = 0; i < opt.threads; i++) {
		uint64_t count = opt.coroutines / opt.threads + (i < opt.coroutines % opt.threads);
		workers[i] = (struct worker){.first = first, .count = count, .station = st + first, .done = done + first};
		first += count;
	}
	for (uint64_t i = 1; i < opt.threads; i++) {
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("pthread_create");
	}
	work(&workers[0]);
	for (uint64_t i = 1; i < opt.threads; i++)
		pthread_join(workers[i].thread, NULL);
	for (uint64_t i = 0; !opt.immortal && i < opt.coroutines; i++) {
		if (st[i])
			st[i]->is_dead = 1;
	}
	close(over_fd);
	tell();
	read_to_end(opt.after);
	free(workers);
	free(st);
	free(done);
}

static uint64_t *number_for(int c)
{
	switch (c) {
	case 'c': return &opt.coroutines;
	case 'i': return &opt.idle;
	case 'e': return &opt.events;
	case 'j': return &opt.threads;
	case 'r': return &opt.rate;
	case 'f': return &opt.forks;
	case 's': return &opt.reconnect;
	case 'k': return &opt.kill_after;
	}
	return NULL;
}

static bool *flag_for(int c)
{
	switch (c) {
	case 'm': return &opt.random;
	case 'z': return &opt.immortal;
	case 'F': return &opt.fork_middle;
	case 'S': return &opt.close_socket;
	case 'u': return &opt.no_socket;
	case 'D': return &opt.daemon;
	case 'h': return &opt.halfway;
	case 't': return &opt.truncate;
	}
	return NULL;
}

static char *parse(int argc, char **argv)
{
	char *execs = NULL;
	for (int c; (c = getopt(argc, argv, "d:c:i:e:j:r:mzf:Fx:s:SuDb:a:p:k:htX:")) != -1;) {
		if (number_for(c))
			*number_for(c) = strtoull(optarg, NULL, 10);
		else if (flag_for(c))
			*flag_for(c) = true;
		else if (c == 'd')
			opt.plain = !strcmp(optarg, "plain");
		else if (c == 'x')
			opt.execs = strtoull(execs = optarg, NULL, 10);
		else if (c == 'b')
			opt.before = optarg;
		else if (c == 'a')
			opt.after = optarg;
		else if (c == 'p')
			opt.published = optarg;
		else if (c == 'X')
			opt.status = atoi(optarg);
		else
			execs = NULL, fputs(usage, stderr), exit(2);
	}
	return execs;
}

int main(int argc, char **argv)
{
	char *execs = parse(argc, argv);
	if (opt.daemon) {
		if (fork())
			_exit(opt.status);
		setsid();
	}
	uint64_t children = 0;
	for (; children < opt.forks; children++) {
		if (fork() == 0) {
			opt.after = NULL;
			break;
		}
	}
	run();
	if (children < opt.forks)
		return opt.status;
	while (wait(NULL) > 0 || errno == EINTR)
		;
	if (opt.execs) {
		sprintf(execs, "%llu", (unsigned long long)opt.execs - 1);
		execv(getenv("TRACEE_EXEC") ? getenv("TRACEE_EXEC") : "/proc/self/exe", argv);
		die("exec");
	}
	return opt.status;
}
