/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-client.c - programs for ctp-ppt to attach to: ppt's clients, written by hand (ppt-byhand.h).
 *
 * Two buffers: Foo has two types of frames, 100 bytes of JSON in slots of 104, and counters; FooBar has one type, 60 in 64. A third,
 * Lib, comes with a library (ppt-client-lib.so.c). What a frame holds follows from its n, so that a reader knows a torn one: x is n / 2,
 * f is n % 1000, b is n % 256. Frame n of thread t is n = t * 2^24 + (0, 1, 2 ...), and even ones are of the first type.
 *
 * At SIGUSR1 the library is unloaded, where there is one thread; at SIGUSR2 closed, unloaded and loaded again at once. It prints "ready" when
 * its threads run, and at the end, which may come by SIGTERM, a line for each buffer and one for fd 0.
 */
#include "ppt-byhand.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const char usage[] =
	"usage: ppt-client [options]\n"
	"  -t N     threads (1)\n"
	"  -r N     calls of save a second, of each thread (1000; 0: flat out)\n"
	"  -n N     ends after N calls of each thread (0: never)\n"
	"  -s N     ends after N frames were saved in all buffers together (0: never)\n"
	"  -i       idle: never calls save\n"
	"  -2       saves to FooBar too, the same frames\n"
	"  -l FILE  loads the library, and saves to its buffer too\n"
	"  -a N     size of perf_event_attr in the control block: 112 or 128 (128)\n"
	"  -q N     the first sequence number (1)\n"
	"  -k N     kill -9 itself in the middle of frame N of Foo\n"
	"  -b N     saves N frames of Foo at once when it was first attached to, and prints \"burst\"\n"
	"  -f N     forks when N frames of Foo were saved, and the child saves too\n"
	"  -d N     the same, and the child saves 200 at once, and ends\n"
	"  -e N     the same, and the child becomes another program\n"
	"  -c       has no descriptor 0\n";

struct request {
	int front, type, n;
	float f;
	struct byhand_time d_start, d_end;
	uint64_t ev[3][2];
	int back;
};
struct tick {
	int front, type;
	double x;
	struct byhand_time at;
	int n;
	uint8_t b, pad[59];
	int back;
};
struct sample {
	int front, n;
	double x;
	struct byhand_time at;
	double y, z, w;
	int back;
};

#define SAME(frame, member, offset) _Static_assert(offsetof(struct frame, member) == (offset), "where the JSON has it")
SAME(request, d_start, 16);
SAME(request, ev, 48);
SAME(request, back, 96);
SAME(tick, x, 8);
SAME(tick, at, 16);
SAME(tick, b, 36);
SAME(tick, back, 96);
SAME(sample, at, 16);
SAME(sample, w, 48);
SAME(sample, back, 56);
_Static_assert(sizeof(struct request) == 104 && sizeof(struct tick) == 104 && sizeof(struct sample) == 64, "C's sizes");

#define SYMBOL __attribute__((used, visibility("default")))
extern int _ppt_stat_Foo, _ppt_hmem_Foo, _ppt_stat_FooBar, _ppt_hmem_FooBar;
extern const char *_ppt_json_Foo, *_ppt_json_FooBar;

SYMBOL int _ppt_stat_Foo, _ppt_hmem_Foo, _ppt_stat_FooBar, _ppt_hmem_FooBar;
SYMBOL const char *_ppt_json_Foo = BYHAND_JSON("Foo", 512, "", "ETimeClockMonotonic", "",
	BYHAND_FRAME("request",
		BYHAND_ELEMENT("n", "false", BYHAND_INT) "," BYHAND_ELEMENT("f", "false", BYHAND_FLOAT) ","
		BYHAND_ELEMENT("d", "true", BYHAND_TIME) "," BYHAND_ELEMENT("ev", "true", BYHAND_COUNTER),
		BYHAND_FRONT BYHAND_TYPE
		BYHAND_MEMBER("n", 8, 4, 4, BYHAND_INT)
		BYHAND_MEMBER("f", 12, 4, 4, BYHAND_FLOAT)
		BYHAND_INTERVAL_TIME("d", 16, 32)
		BYHAND_INTERVAL_COUNTER("ev", 0, 48, 56)
		BYHAND_INTERVAL_COUNTER("ev", 1, 64, 72)
		BYHAND_INTERVAL_COUNTER("ev", 2, 80, 88)
		BYHAND_BACK(96)) ","
	BYHAND_FRAME("tick",
		BYHAND_ELEMENT("x", "false", BYHAND_DOUBLE) "," BYHAND_ELEMENT("at", "false", BYHAND_TIME) ","
		BYHAND_ELEMENT("n", "false", BYHAND_INT) "," BYHAND_ELEMENT("b", "false", BYHAND_BYTE),
		BYHAND_FRONT BYHAND_TYPE
		BYHAND_MEMBER("x", 8, 8, 8, BYHAND_DOUBLE)
		BYHAND_MEMBER("at", 16, 16, 16, BYHAND_TIME)
		BYHAND_MEMBER("n", 32, 4, 4, BYHAND_INT)
		BYHAND_MEMBER("b", 36, 1, 1, BYHAND_BYTE)
		BYHAND_PAD(37, 59)
		BYHAND_BACK(96)));
SYMBOL const char *_ppt_json_FooBar = BYHAND_JSON("FooBar", null, "", "ETimeClockRealtime", "[\"origin\",\"by hand\"]",
	BYHAND_FRAME("sample",
		BYHAND_ELEMENT("n", "false", BYHAND_INT) "," BYHAND_ELEMENT("x", "false", BYHAND_DOUBLE) ","
		BYHAND_ELEMENT("at", "false", BYHAND_TIME) "," BYHAND_ELEMENT("y", "false", BYHAND_DOUBLE) ","
		BYHAND_ELEMENT("z", "false", BYHAND_DOUBLE) "," BYHAND_ELEMENT("w", "false", BYHAND_DOUBLE),
		BYHAND_FRONT
		BYHAND_MEMBER("n", 4, 4, 4, BYHAND_INT)
		BYHAND_MEMBER("x", 8, 8, 8, BYHAND_DOUBLE)
		BYHAND_MEMBER("at", 16, 16, 16, BYHAND_TIME)
		BYHAND_MEMBER("y", 32, 8, 8, BYHAND_DOUBLE)
		BYHAND_MEMBER("z", 40, 8, 8, BYHAND_DOUBLE)
		BYHAND_MEMBER("w", 48, 8, 8, BYHAND_DOUBLE)
		BYHAND_BACK(56)));

static struct byhand foo = { .name = "Foo", .hmem = &_ppt_hmem_Foo, .stride = 104, .size = 100, .lock = PTHREAD_RWLOCK_INITIALIZER };
static struct byhand foobar = { .name = "FooBar", .hmem = &_ppt_hmem_FooBar, .stride = 64, .size = 60, .lock = PTHREAD_RWLOCK_INITIALIZER };

static struct {
	unsigned long threads, rate, calls, frames, burst, fork_at;
	bool idle, two, exec, dies;
	struct byhand *(*lib)(void);
	void (*lib_save)(int n);
} opt = { .threads = 1, .rate = 1000 };
static volatile sig_atomic_t ended, unloads, loads;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static void ask_to_unload(int sig)
{
	loads = sig == SIGUSR2;
	unloads = 1;
}

#ifdef STATIC
static void load(const char *file, size_t attr_bytes)
{
	fprintf(stderr, "ppt-client: %s (%zu): a static program loads none\n", file, attr_bytes);
	exit(1);
}

static void unload(void) { unloads = loads = 0; }
#else
static void *library;
static const char *library_file;

static void load(const char *file, size_t attr_bytes)
{
	library = dlopen(library_file = file, RTLD_NOW);
	if (library) {
		*(void **)&opt.lib = dlsym(library, "ppt_client_lib");
		*(void **)&opt.lib_save = dlsym(library, "ppt_client_lib_save");
	}
	if (!opt.lib || !opt.lib_save) {
		fprintf(stderr, "ppt-client: %s\n", dlerror());
		exit(1);
	}
	opt.lib()->attr_bytes = attr_bytes;
}

static void unload(void)
{
	size_t attr_bytes = opt.lib()->attr_bytes;
	if (loads && opt.lib()->control)
		byhand_detach(opt.lib()); /* else its segment may be where the library was */
	opt.lib = NULL;
	dlclose(library);
	if (loads)
		load(library_file, attr_bytes);
	puts(loads ? "loaded" : "unloaded");
	unloads = loads = 0;
	fflush(stdout);
}
#endif

static void save_request(int n)
{
	struct request r = { .type = 1, .n = n, .f = (float)(n % 1000), .d_start = byhand_now(CLOCK_MONOTONIC) };
	uint64_t v[3] = { 0 };
	byhand_counters(&foo, v);
	for (int i = 0; i < 3; i++)
		r.ev[i][0] = v[i];
	byhand_counters(&foo, v);
	for (int i = 0; i < 3; i++)
		r.ev[i][1] = v[i];
	r.d_end = byhand_now(CLOCK_MONOTONIC);
	byhand_save(&foo, &r);
}

static void save_tick(int n)
{
	struct tick t = { .type = 2, .x = n / 2.0, .at = byhand_now(CLOCK_MONOTONIC), .n = n, .b = (uint8_t)(n % 256) };
	byhand_save(&foo, &t);
}

static void save_sample(int n)
{
	struct sample s = { .n = n, .x = n / 2.0, .at = byhand_now(CLOCK_REALTIME), .y = n / 4.0, .z = -n, .w = n + 0.25 };
	byhand_save(&foobar, &s);
}

static bool enough(void)
{
	unsigned long saved = atomic_load(&foo.saved) + atomic_load(&foobar.saved) + (opt.lib ? atomic_load(&opt.lib()->saved) : 0);
	return ended || (opt.frames && saved >= opt.frames);
}

static void burst(void)
{
	if (!opt.burst || !atomic_load(&foo.saved))
		return;
	for (; opt.burst; opt.burst--)
		save_tick(0);
	puts("burst");
	fflush(stdout);
}

/* One child at most. What it saves has the segment, the numbers and the locks of its parent. */
static void multiply(void)
{
	static atomic_bool done;
	if (!opt.fork_at || atomic_load(&foo.saved) < opt.fork_at || atomic_exchange(&done, true))
		return;
	pid_t child = fork();
	if (child && opt.dies) {
		waitpid(child, NULL, 0); /* its frames are saved before ours with the same numbers */
		nanosleep(&(struct timespec){ .tv_nsec = 500000000 }, NULL); /* an agent looks every 10 ms: if we ended before, it would see us alone */
	}
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (opt.exec) {
		execlp("sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	for (int n = 1 << 23;; n++) {
		n % 2 ? save_tick(n) : save_request(n);
		if (opt.dies && n == (1 << 23) + 199)
			_exit(0);
		if (!opt.dies)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static void *work(void *arg)
{
	int n = (int)(uintptr_t)arg << 24;
	for (unsigned long calls = 0; !enough() && (!opt.calls || calls < opt.calls); calls++, n++) {
		if (!opt.idle) {
			n % 2 ? save_tick(n) : save_request(n);
			if (opt.two)
				save_sample(n);
			if (unloads)
				unload();
			if (opt.lib)
				opt.lib_save(n);
			burst();
			multiply();
		}
		if (opt.rate || opt.idle) {
			unsigned long ns = opt.idle ? 10000000 : 1000000000 / opt.rate;
			nanosleep(&(struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) }, NULL);
		}
	}
	return NULL;
}

static void tell(struct byhand *b)
{
	printf("%s: %lu saved, %lu attaches, %lu detaches, next %d\n", b->name, atomic_load(&b->saved), atomic_load(&b->attaches),
	       atomic_load(&b->detaches), atomic_load(&b->next));
}

int main(int argc, char **argv)
{
	const char *lib = NULL;
	unsigned long attr_bytes = 128, first = 1;
	pthread_t threads[64];
	for (int o; (o = getopt(argc, argv, "t:r:n:s:i2l:a:q:k:b:f:d:e:c")) != -1;)
		switch (o) {
		case 't': opt.threads = strtoul(optarg, NULL, 10); break;
		case 'r': opt.rate = strtoul(optarg, NULL, 10); break;
		case 'n': opt.calls = strtoul(optarg, NULL, 10); break;
		case 's': opt.frames = strtoul(optarg, NULL, 10); break;
		case 'i': opt.idle = true; break;
		case '2': opt.two = true; break;
		case 'l': lib = optarg; break;
		case 'a': attr_bytes = strtoul(optarg, NULL, 10); break;
		case 'q': first = strtoul(optarg, NULL, 10); break;
		case 'k': foo.half_at = strtoul(optarg, NULL, 10); break;
		case 'b': opt.burst = strtoul(optarg, NULL, 10); break;
		case 'd':
		case 'e':
			opt.exec = o == 'e';
			opt.dies = o == 'd';
			/* fall through */
		case 'f': opt.fork_at = strtoul(optarg, NULL, 10); break;
		case 'c': close(0); break;
		default: return fputs(usage, stderr), 2;
		}
	if (optind < argc || !opt.threads || opt.threads > 64 || (attr_bytes != 112 && attr_bytes != 128))
		return fputs(usage, stderr), 2;
	foo.attr_bytes = foobar.attr_bytes = attr_bytes;
	if (lib)
		load(lib, attr_bytes);
	atomic_store(&foo.next, (int)first);
	atomic_store(&foobar.next, (int)first);
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = end }, NULL);
	for (int sig = SIGUSR1; opt.lib && sig; sig = sig == SIGUSR1 ? SIGUSR2 : 0)
		sigaction(sig, &(struct sigaction){ .sa_handler = ask_to_unload }, NULL);
	for (unsigned long i = 0; i < opt.threads; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	puts("ready");
	fflush(stdout);
	for (unsigned long i = 0; i < opt.threads; i++)
		pthread_join(threads[i], NULL);
	tell(&foo);
	tell(&foobar);
	if (opt.lib)
		tell(opt.lib());
	printf("fd 0: %s\n", fcntl(0, F_GETFD) < 0 && errno == EBADF ? "closed" : "open");
	return 0;
}
