/*
 * ctp.h - the cTP probe for C and C++: what goes into the traced program. One header, Linux, no dependency but libc.
 *
 *	struct ctp_coro co;                 // one for each coroutine, anywhere, for as long as it lives
 *	ctp_coro_new(&co, (uintptr_t)task); // it exists
 *	ctp_coro_suspend(&co, CTP_HERE);    // it is about to give up its thread, here
 *	ctp_coro_resume(&co);               // it runs again, on this thread
 *	ctp_coro_death(&co);                // it is gone
 *
 * There is nothing to start or to link. A program that was started by a collector finds it through its environment
 * (CTP_SHM_PATH, CTP_SOCK_PATH, CTP_MAX_STATIONS); any other runs as if these calls were not there, at the cost of a branch
 * each. What the probe promises: it never blocks, takes no lock, calls no malloc, raises no signal, prints nothing, is no
 * cancellation point, leaves errno alone, and does not care whether the collector is slow, stopped or dead.
 *
 * Two parts: the layout of the shared memory, defined here once for everybody (define CTP_LAYOUT_ONLY to have only that), and
 * the probe that writes it. The protocol is described in ctp-protocol(5). Names that end in _ are private.
 */
#if !defined CTP_LAYOUT_ONLY && !defined _DEFAULT_SOURCE && !defined _GNU_SOURCE && !defined _FEATURES_H
#define _DEFAULT_SOURCE 1 /* a strict -std=c11 hides what the probe needs, unless it is asked for before the first header */
#endif

#ifndef CTP_LAYOUT_H
#define CTP_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* --- the layout ----------------------------------------------------------------------------------------------------------- */

/*
 * Both sides read and write these fields only through relaxed (or stronger) atomics: the other side is another process and may
 * be anywhere. The structs stay plain, so that C and C++ agree on them; __atomic builtins do the rest.
 */
#define CTP_SHM_MAGIC UINT64_C(0x434F524F54524352) /* "COROTRCR" */
#define CTP_SHM_VERSION UINT32_C(1)
#define CTP_SHM_SLOTS 8u

struct ctp_shm_header {
	uint64_t magic;
	uint32_t version;
	uint32_t max_stations;
	uint32_t allocated_count; /* of stations; exceeds max_stations by the coroutines that found none */
	uint32_t tracer_sleeping; /* 1: send a byte after the next event */
	uint8_t reserved[1000];
};

struct ctp_shm_slot {
	uint64_t timestamp; /* CLOCK_MONOTONIC, ns */
	uint64_t tid;
	uint64_t addr; /* where it is suspended; 0 when it runs */
	uint64_t seq;
	uint8_t reserved[31];
	uint8_t is_active;
};

struct ctp_shm_station {
	uint64_t probe_id;
	uint64_t birth_ts;
	uint8_t is_dead;
	uint8_t pad[47];
	struct ctp_shm_slot slots[8];
	/* v1 calls the rest flexible[448] and gives it no meaning. */
	uint64_t announce; /* CTP_ANNOUNCE(flags), or anything else: a writer that announces nothing */
	uint8_t flexible[440];
};

/*
 * What a writer promises of a station, from its birth to its end. Stored with release after probe_id and birth_ts and before
 * the first event: who loads it with acquire and finds it, or finds an event, sees the header whole.
 */
#define CTP_ANNOUNCE_MAGIC UINT32_C(0x2b505443) /* "CTP+" */
#define CTP_ANNOUNCE_ORDERED UINT32_C(1)        /* seqlock dialect; a slot's odd mark is visible before any of its payload */
#define CTP_ANNOUNCE(flags) ((uint64_t)CTP_ANNOUNCE_MAGIC | (uint64_t)(flags) << 32)
#define CTP_ANNOUNCE_IS(word) ((uint32_t)(word) == CTP_ANNOUNCE_MAGIC)
#define CTP_ANNOUNCE_FLAGS(word) ((uint32_t)((word) >> 32)) /* flags that you do not know are to be ignored */

#ifdef __cplusplus
#define CTP_ASSERT_(what) static_assert(what, #what)
#else
#define CTP_ASSERT_(what) _Static_assert(what, #what)
#endif
#define CTP_AT_(type, field, at) CTP_ASSERT_(offsetof(struct type, field) == (at))
CTP_AT_(ctp_shm_header, magic, 0x00);
CTP_AT_(ctp_shm_header, version, 0x08);
CTP_AT_(ctp_shm_header, max_stations, 0x0c);
CTP_AT_(ctp_shm_header, allocated_count, 0x10);
CTP_AT_(ctp_shm_header, tracer_sleeping, 0x14);
CTP_AT_(ctp_shm_header, reserved, 0x18);
CTP_ASSERT_(sizeof(struct ctp_shm_header) == 1024);
CTP_AT_(ctp_shm_slot, timestamp, 0x00);
CTP_AT_(ctp_shm_slot, tid, 0x08);
CTP_AT_(ctp_shm_slot, addr, 0x10);
CTP_AT_(ctp_shm_slot, seq, 0x18);
CTP_AT_(ctp_shm_slot, reserved, 0x20);
CTP_AT_(ctp_shm_slot, is_active, 0x3f);
CTP_ASSERT_(sizeof(struct ctp_shm_slot) == 64);
CTP_AT_(ctp_shm_station, probe_id, 0x000);
CTP_AT_(ctp_shm_station, birth_ts, 0x008);
CTP_AT_(ctp_shm_station, is_dead, 0x010);
CTP_AT_(ctp_shm_station, pad, 0x011);
CTP_AT_(ctp_shm_station, slots, 0x040);
CTP_AT_(ctp_shm_station, announce, 0x240);
CTP_AT_(ctp_shm_station, flexible, 0x248);
CTP_ASSERT_(sizeof(struct ctp_shm_station) == 1024);

#endif

#if !defined CTP_LAYOUT_ONLY && !defined CTP_PROBE_H
#define CTP_PROBE_H

/* --- the probe ------------------------------------------------------------------------------------------------------------ */

#if !defined __linux__ || !defined __GNUC__
#error "ctp.h is for Linux, with gcc or clang"
#endif
#if !defined __LP64__
#error "ctp.h is for 64-bit systems"
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#ifndef MAP_ANONYMOUS
#error "include ctp.h before the system's headers, or compile with -std=gnu11 or with -D_DEFAULT_SOURCE"
#include "stop here" /* there is no such file: that ends the compilation, which would have a page more to say */
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A coroutine. The struct is the caller's; one of zeros is valid and not traced. It may move between threads as the coroutine
 * does, under whatever makes that safe for the coroutine itself: of the calls for one coroutine, each ends before the next
 * begins. (So a signal handler must not trace the coroutine that it interrupts; it may trace others.)
 *
 * After a fork the child's copy is inert, for a station has one writer and that is the parent; coroutines that the child makes
 * have stations of their own. (Between vfork and exec there is only the parent's memory: make no calls there.)
 */
struct ctp_coro {
	struct ctp_probe_ *probe_; /* null: not traced */
	struct ctp_shm_station *station_;
	uint64_t events_;
};

/*
 * Attaches to the collector, if that was not tried yet, and tells whether it is there. The first ctp_coro_new does it too; a
 * program that changes its environment or its root, or drops privileges, should do it before.
 */
static inline bool ctp_init(void);

/* Whether this process is attached. */
static inline bool ctp_traced(void);

/*
 * The coroutine exists. id is how the program knows it (an address, a number; it may come back for another one), or 0 for a
 * number that no other coroutine of the trace has. Where there is no collector, or no station left, co is not traced.
 */
static inline void ctp_coro_new(struct ctp_coro *co, uint64_t id);

/* Whether it has a station, and the id that it has there (0: none). */
static inline bool ctp_coro_traced(const struct ctp_coro *co);
static inline uint64_t ctp_coro_id(const struct ctp_coro *co);

/* addr says where: CTP_HERE, or an address that means as much, such as the coroutine's frame. */
static inline void ctp_coro_suspend(struct ctp_coro *co, const void *addr);
static inline void ctp_coro_resume(struct ctp_coro *co);

/* The last call; further ones do nothing. */
static inline void ctp_coro_death(struct ctp_coro *co);

/* The address of the code that says CTP_HERE. */
#define CTP_HERE ctp_here_()

/* --- what it is made of --------------------------------------------------------------------------------------------------- */

/*
 * An attachment. It lives in a page of its own that the kernel gives to the child of a fork as zeros (MADV_WIPEONFORK): there,
 * every inherited handle finds shm null, and so does the next ctp_coro_new, which attaches anew in a new page. That holds for
 * fork, and for a clone that no handler would hear of; and the hot path pays one load. The page is never freed, so its address
 * also names the process, as far as one address space can tell: see ctp_tid_.
 */
struct ctp_probe_ {
	struct ctp_shm_header *shm;
	size_t bytes; /* mapped there */
	uint32_t max_stations;
	uint64_t sock;     /* low half: descriptor + 1, high half: its inode number; 0: none */
	uint64_t sock_dev; /* the same for every socket there is */
};

struct ctp_thread_ {
	const struct ctp_probe_ *probe; /* that tid was asked for */
	uint64_t tid;
};

/*
 * Weak and hidden: all files of one executable or shared object share one state, C and C++ alike, and none shares it with
 * another object, whose ctp.h may be of another version. Two attachments in one process do no harm.
 *
 * Initial-exec: the dynamic linker would otherwise allocate the variable at a thread's first event. And no function that uses
 * it, or errno, may be inlined into one that switches stacks: a coroutine can come out of the switch on another thread, where
 * the address that the compiler kept would be that of the first one's variable.
 */
#define CTP_SHARED_ __attribute__((weak, visibility("hidden")))
#define CTP_FN_ __attribute__((weak, visibility("hidden"), noinline))
#define CTP_TLS_ __attribute__((tls_model("initial-exec")))

CTP_SHARED_ extern struct ctp_probe_ *ctp_current_; /* null: not tried yet. &ctp_none_: tried in vain */
CTP_SHARED_ extern struct ctp_probe_ ctp_none_;
CTP_SHARED_ CTP_TLS_ extern __thread struct ctp_thread_ ctp_self_;
CTP_FN_ struct ctp_probe_ *ctp_attach_(struct ctp_probe_ *old);
CTP_FN_ bool ctp_map_(struct ctp_probe_ *p);
CTP_FN_ void ctp_connect_(struct ctp_probe_ *p);
CTP_FN_ void ctp_wake_(struct ctp_probe_ *p);
CTP_FN_ void ctp_birth_(struct ctp_coro *co, struct ctp_probe_ *p, uint64_t id);
CTP_FN_ void ctp_event_(struct ctp_coro *co, uint64_t addr, uint8_t active);

struct ctp_probe_ *ctp_current_;
struct ctp_probe_ ctp_none_;
__thread struct ctp_thread_ ctp_self_;

static inline uint64_t ctp_clock_(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Asked once for each thread, and again after a fork: a child has another page, and it cannot have the address of the old. */
static inline uint64_t ctp_tid_(const struct ctp_probe_ *p)
{
	if (ctp_self_.probe != p) {
		ctp_self_.tid = (uint64_t)syscall(SYS_gettid);
		__atomic_signal_fence(__ATOMIC_RELEASE); /* a signal handler that traces finds both or neither */
		ctp_self_.probe = p;
	}
	return ctp_self_.tid;
}

/*
 * Whatever has to do with descriptors is asked of the kernel directly. libc's functions are cancellation points, and coroutine
 * libraries replace them by others that suspend. (On the 64-bit systems the kernel's struct stat is libc's.)
 */

/* Maps what the environment names, if it is what it should be. */
bool ctp_map_(struct ctp_probe_ *p)
{
	const char *path = getenv("CTP_SHM_PATH"), *max = getenv("CTP_MAX_STATIONS");
	if (!path || !max || *max < '0' || *max > '9')
		return false;
#ifndef CTP_SETUID /* who runs a setuid program may not have it write a file of his choice, unless its author says so */
	if (getauxval(AT_SECURE))
		return false;
#endif
	char *end;
	uint64_t stations = strtoul(max, &end, 10), blocks = 0;
	int fd = *end ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	struct stat st;
	if (!syscall(SYS_fstat, fd, &st) && S_ISREG(st.st_mode))
		blocks = (uint64_t)st.st_size / sizeof(struct ctp_shm_station);
	if (stations >= blocks)
		stations = blocks ? blocks - 1 : 0; /* behind the end of the file there is a SIGBUS */
	p->bytes = (size_t)(stations + 1) * sizeof(struct ctp_shm_station);
	void *at = stations ? mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	syscall(SYS_close, fd);
	if (at == MAP_FAILED)
		return false;

	p->shm = (struct ctp_shm_header *)at;
	uint32_t theirs = __atomic_load_n(&p->shm->max_stations, __ATOMIC_RELAXED);
	p->max_stations = stations < theirs ? (uint32_t)stations : theirs;
	if (__atomic_load_n(&p->shm->magic, __ATOMIC_RELAXED) == CTP_SHM_MAGIC &&
	    __atomic_load_n(&p->shm->version, __ATOMIC_RELAXED) == CTP_SHM_VERSION)
		return true;
	munmap(at, p->bytes);
	return false;
}

/* Nobody waits for anybody: of several threads that attach at once the first to finish wins, and a fork finds no lock held. */
struct ctp_probe_ *ctp_attach_(struct ctp_probe_ *old)
{
	int err = errno;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ctp_probe_ *p = &ctp_none_;
	void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at != MAP_FAILED) {
		if (!madvise(at, page, MADV_WIPEONFORK) && ctp_map_((struct ctp_probe_ *)at)) /* Linux before 4.14: untraced */
			p = (struct ctp_probe_ *)at;
		else
			munmap(at, page);
	}
	/* Release: the page is filled. Pairs with the acquire load in ctp_probe_get_. */
	if (__atomic_compare_exchange_n(&ctp_current_, &old, p, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		if (p->shm)
			ctp_connect_(p);
	} else {
		if (p->shm) {
			munmap(p->shm, p->bytes);
			munmap(p, page);
		}
		p = old;
	}
	errno = err;
	return p;
}

/*
 * Neither socket nor connect can block: a non-blocking connect to a full backlog fails. Then there are no wake-ups, and the
 * collector finds events when its own timer rings. The descriptor goes where it does not change the numbers that the program's
 * own ones get, if there is room.
 */
void ctp_connect_(struct ctp_probe_ *p)
{
	const char *path = getenv("CTP_SOCK_PATH");
	struct sockaddr_un un;
	memset(&un, 0, sizeof un);
	un.sun_family = AF_UNIX;
	size_t len = path ? strlen(path) : 0;
	if (!len || len >= sizeof un.sun_path)
		return;
	memcpy(un.sun_path, path, len);
	int low = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (low < 0)
		return;
	int fd = (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, 960);
	if (fd < 0)
		fd = low;
	else
		syscall(SYS_close, low);
	struct stat st;
	if (syscall(SYS_connect, fd, &un, sizeof un) || syscall(SYS_fstat, fd, &st)) {
		syscall(SYS_close, fd);
		return;
	}
	__atomic_store_n(&p->sock_dev, (uint64_t)st.st_dev, __ATOMIC_RELAXED);
	__atomic_store_n(&p->sock, (uint64_t)st.st_ino << 32 | (uint32_t)(fd + 1), __ATOMIC_RELEASE);
}

/*
 * The collector sleeps and there is an event. The program may have closed our descriptor, and the number may be something of
 * its own by now: so look first whether it is still the socket that we opened. If it is not, connect again, once for each
 * time that this happens; a new connection wakes the collector by itself. Who has no socket leaves the flag to who has one.
 */
void ctp_wake_(struct ctp_probe_ *p)
{
	uint64_t sock = __atomic_load_n(&p->sock, __ATOMIC_ACQUIRE);
	if (!sock)
		return;
	int err = errno, fd = (int)((uint32_t)sock - 1);
	struct stat st;
	bool ours = !syscall(SYS_fstat, fd, &st) && S_ISSOCK(st.st_mode) && (uint32_t)st.st_ino == sock >> 32 &&
	            (uint64_t)st.st_dev == __atomic_load_n(&p->sock_dev, __ATOMIC_RELAXED);
	if (!ours) {
		if (__atomic_compare_exchange_n(&p->sock, &sock, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			ctp_connect_(p);
	} else if (__atomic_exchange_n(&p->shm->tracer_sleeping, 0, __ATOMIC_ACQ_REL) == 1) {
		syscall(SYS_sendto, fd, "1", 1, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
	}
	errno = err;
}

void ctp_birth_(struct ctp_coro *co, struct ctp_probe_ *p, uint64_t id)
{
	/* The count goes on beyond max_stations, so that it tells how many found none; but it must never come round to 0. */
	if (__atomic_load_n(&p->shm->allocated_count, __ATOMIC_RELAXED) >> 31)
		return;
	uint32_t index = __atomic_fetch_add(&p->shm->allocated_count, 1, __ATOMIC_RELAXED);
	if (index >= p->max_stations)
		return;
	co->probe_ = p;
	co->station_ = (struct ctp_shm_station *)(p->shm + 1) + index;
	__atomic_store_n(&co->station_->probe_id, id ? id : (uint64_t)index + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&co->station_->birth_ts, ctp_clock_(), __ATOMIC_RELAXED);
	/* Release: the header is whole. Pairs with the reader's acquire load of announce. */
	__atomic_store_n(&co->station_->announce, CTP_ANNOUNCE(CTP_ANNOUNCE_ORDERED), __ATOMIC_RELEASE);
}

/* gcc says under -fsanitize=thread that it does not model fences. Nothing rests on that: the payload is atomic. */
#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/*
 * Event k of a station goes to slot k % 8, whose seq is odd while it is written and 2 * (k / 8 + 1) when it is complete. The
 * clock is read before, so that the slot is closed for as short as can be.
 */
void ctp_event_(struct ctp_coro *co, uint64_t addr, uint8_t active)
{
	struct ctp_probe_ *p = co->probe_;
	if (!p->shm)
		return; /* the parent's */
	uint64_t ts = ctp_clock_(), tid = ctp_tid_(p), k = co->events_++, seq = k / CTP_SHM_SLOTS * 2;
	struct ctp_shm_slot *slot = &co->station_->slots[k % CTP_SHM_SLOTS];

	__atomic_store_n(&slot->seq, seq + 1, __ATOMIC_RELAXED);
	/*
	 * Who sees any of the payload below sees the odd seq above. Pairs with the reader's acquire fence between its copy of
	 * the payload and its second look at seq.
	 */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&slot->timestamp, ts, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->tid, tid, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->addr, addr, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->is_active, active, __ATOMIC_RELAXED);
	/* Who sees this seq sees the payload above. Pairs with the reader's acquire load, its first look. */
	__atomic_store_n(&slot->seq, seq + 2, __ATOMIC_RELEASE);

	/*
	 * Either we see the collector's flag here, or it sees our event. Pairs with the fence between its store of
	 * tracer_sleeping and its last look at the stations before it blocks.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&p->shm->tracer_sleeping, __ATOMIC_RELAXED) == 1)
		ctp_wake_(p);
}

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic pop
#endif

static inline struct ctp_probe_ *ctp_probe_get_(void)
{
	struct ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE); /* pairs with the exchange in ctp_attach_ */
	return p && (p->shm || p == &ctp_none_) ? p : ctp_attach_(p);
}

static inline bool ctp_init(void)
{
	return ctp_probe_get_()->shm != NULL;
}

static inline bool ctp_traced(void)
{
	struct ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE);
	return p && p->shm;
}

static inline void ctp_coro_new(struct ctp_coro *co, uint64_t id)
{
	struct ctp_probe_ *p = ctp_probe_get_();
	co->probe_ = NULL;
	co->station_ = NULL;
	co->events_ = 0;
	if (p->shm)
		ctp_birth_(co, p, id);
}

static inline bool ctp_coro_traced(const struct ctp_coro *co)
{
	return co->probe_ && co->probe_->shm;
}

static inline uint64_t ctp_coro_id(const struct ctp_coro *co)
{
	return ctp_coro_traced(co) ? __atomic_load_n(&co->station_->probe_id, __ATOMIC_RELAXED) : 0;
}

static inline void ctp_coro_suspend(struct ctp_coro *co, const void *addr)
{
	if (co->probe_)
		ctp_event_(co, (uint64_t)(uintptr_t)addr, 0);
}

static inline void ctp_coro_resume(struct ctp_coro *co)
{
	if (co->probe_)
		ctp_event_(co, 0, 1);
}

static inline void ctp_coro_death(struct ctp_coro *co)
{
	if (ctp_coro_traced(co)) /* Release: its events came before. Pairs with the reader's acquire load of is_dead. */
		__atomic_store_n(&co->station_->is_dead, 1, __ATOMIC_RELEASE);
	co->probe_ = NULL;
}

static inline __attribute__((always_inline)) const void *ctp_here_(void)
{
	const void *pc;
#if defined __x86_64__
	__asm__ volatile("lea 0(%%rip), %0" : "=r"(pc));
#elif defined __aarch64__
	__asm__ volatile("adr %0, ." : "=r"(pc));
#else
	pc = __extension__ ({ __label__ here; here: &&here; });
#endif
	return pc;
}

#ifdef __cplusplus
}
#endif
#endif
