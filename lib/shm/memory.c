/*
 * memory.c - makes the shared memory, and survives its truncation.
 *
 * A page beyond the end of a truncated file raises SIGBUS. The handler puts anonymous zeros over everything from that page to
 * the end of the mapping, which is what the file has lost at that moment, and the read is done again. Each such fault lies
 * below the one before, so the number of mappings stays small.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/arena.h"
#include "shm/memory.h"

enum { RING_BITS_MIN = 11, RINGS_FEW = 16 }; /* a ring is whole pages, which have 64 KiB at the most */

static struct {
	uintptr_t start, stop, page;
	volatile sig_atomic_t hit;
	struct sigaction before;
} guard;

static void guard_bus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	int saved = errno;
	uintptr_t at = (uintptr_t)info->si_addr & ~(guard.page - 1);
	if (info->si_code <= 0 || at < guard.start || at >= guard.stop ||
	    mmap((void *)at, guard.stop - at, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
		signal(sig, SIG_DFL); /* not ours: the instruction runs again and ends us as it would have */
		if (info->si_code <= 0)
			raise(sig);
	} else {
		guard.hit = 1;
	}
	errno = saved;
}

static bool guard_set(const struct ctp_memory *shm)
{
	guard.page = (uintptr_t)sysconf(_SC_PAGESIZE);
	guard.start = (uintptr_t)shm->base;
	guard.stop = (guard.start + shm->bytes + guard.page - 1) & ~(guard.page - 1);
	guard.hit = 0;
	struct sigaction act = {.sa_sigaction = guard_bus, .sa_flags = SA_SIGINFO};
	sigemptyset(&act.sa_mask);
	return !sigaction(SIGBUS, &act, &guard.before);
}

bool ctp_memory_truncated(void) { return guard.hit; }

bool ctp_path_absolute(char out[PATH_MAX], const char *path)
{
	char cwd[PATH_MAX] = "";
	if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
		return false;
	int n = snprintf(out, PATH_MAX, "%s%s%s", cwd, *cwd ? "/" : "", path);
	return n > 0 && n < PATH_MAX;
}

/* --- making --------------------------------------------------------------------------------------------------------------- */

static enum ctp_status create(struct ctp_memory *shm, const char *path, struct ctp_err *err)
{
	if (path) {
		if (!ctp_path_absolute(shm->path, path))
			return ctp_err_set(err, "%s: path too long", path);
		shm->fd = open(shm->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (shm->fd < 0 && errno == EEXIST)
			return ctp_err_set(err, "%s: exists already; it must not", path);
		if (shm->fd < 0)
			return ctp_err_sys(err, "%s", path);
		shm->named = true;
	} else {
		shm->fd = memfd_create("ctp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (shm->fd < 0)
			return ctp_err_sys(err, "memfd_create");
		snprintf(shm->path, sizeof shm->path, "/proc/%d/fd/%d", (int)getpid(), shm->fd);
	}
	return CTP_OK;
}

static enum ctp_status map_guarded(struct ctp_memory *shm, struct ctp_err *err)
{
	void *base = mmap(NULL, shm->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, shm->fd, 0);
	if (base == MAP_FAILED)
		return ctp_err_sys(err, "%s: mapping %zu bytes", shm->path, shm->bytes);
	shm->base = base;
	madvise(base, shm->bytes, MADV_DONTFORK); /* a process that maps it is then a traced one, or this */
	madvise(base, shm->bytes, MADV_DONTDUMP); /* it may be larger than any disk */
	return guard_set(shm) ? CTP_OK : ctp_err_sys(err, "sigaction");
}

/* A file of so many bytes, and address space for it. */
static enum ctp_status shm_size(struct ctp_memory *shm, size_t bytes, struct ctp_err *err)
{
	struct rlimit file;
	shm->bytes = bytes;
	if (!getrlimit(RLIMIT_FSIZE, &file) && bytes > file.rlim_cur) /* asking for it would end us by SIGXFSZ */
		return ctp_err_set(err, "%s: the limit of a file's size is below %zu bytes", shm->path, bytes);
	if (ftruncate(shm->fd, (off_t)bytes))
		return ctp_err_sys(err, "%s: making %zu bytes", shm->path, bytes);
	/* A probe reserves what it writes to. Where a file system cannot, its pages are asked for one by one. */
	if (shm->named && fallocate(shm->fd, 0, 0, sizeof(struct ctp_shm_header)) && errno != EOPNOTSUPP)
		return ctp_err_sys(err, "%s: room for its header", shm->path);
	return map_guarded(shm, err);
}

enum ctp_status ctp_memory_init(struct ctp_memory *shm, const struct ctp_memory_conf *conf, struct ctp_err *err)
{
	struct ctp_geometry geo = {conf->max_stations, CTP_ANNEX_SITES, CTP_ANNEX_RINGS, CTP_ANNEX_RING_BITS};
	if (conf->ring_events)
		for (geo.ring_bits = RING_BITS_MIN; (conf->ring_events - 1) >> geo.ring_bits; geo.ring_bits++)
			;
	*shm = (struct ctp_memory){.fd = -1};
	if (!ctp_arena_bytes(&geo)) {
		ctp_err_set(err, "rings of %u events: 2^%d is the most", conf->ring_events, CTP_ANNEX_RING_BITS_MAX);
		goto failed;
	}
	if (create(shm, conf->path, err))
		goto failed;
	while (shm_size(shm, ctp_arena_bytes(&geo), err)) {
		if (geo.max_rings > RINGS_FEW)
			geo.max_rings /= 2;
		else if (geo.ring_bits > RING_BITS_MIN)
			geo.ring_bits--;
		else
			goto failed;
	}
	if (!conf->path && fcntl(shm->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		ctp_err_sys(err, "sealing the shared memory");
		goto failed;
	}
	ctp_arena_make(shm->base, &geo);
	return CTP_OK;
failed:
	ctp_memory_fini(shm);
	return CTP_FAILED;
}

enum ctp_status ctp_memory_map(struct ctp_memory *shm, int fd, struct ctp_err *err)
{
	struct stat st;
	*shm = (struct ctp_memory){.fd = fd};
	snprintf(shm->path, sizeof shm->path, "/proc/%d/fd/%d", (int)getpid(), fd);
	enum ctp_status status = fstat(fd, &st) ? ctp_err_sys(err, "%s", shm->path) : CTP_OK;
	if (!status) {
		shm->bytes = (size_t)st.st_size;
		status = map_guarded(shm, err);
	}
	shm->fd = -1; /* the caller's */
	if (status)
		ctp_memory_fini(shm);
	return status;
}

void ctp_memory_fini(struct ctp_memory *shm)
{
	if (guard.start && guard.start == (uintptr_t)shm->base) {
		sigaction(SIGBUS, &guard.before, NULL);
		guard.start = guard.stop = 0;
	}
	if (shm->base)
		munmap(shm->base, shm->bytes);
	if (shm->named)
		unlink(shm->path);
	if (shm->fd >= 0)
		close(shm->fd);
	shm->base = NULL;
	shm->named = false;
	shm->fd = -1;
}
