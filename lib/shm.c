/*
 * shm.c - makes the shared memory, and survives its truncation.
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
#include <unistd.h>

#define CTP_LAYOUT_ONLY
#include "ctp.h"
#include "shm.h"

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

static bool guard_set(const struct ctp_shm *shm)
{
	guard.page = (uintptr_t)sysconf(_SC_PAGESIZE);
	guard.start = (uintptr_t)shm->base;
	guard.stop = (guard.start + shm->bytes + guard.page - 1) & ~(guard.page - 1);
	guard.hit = 0;
	struct sigaction act = {.sa_sigaction = guard_bus, .sa_flags = SA_SIGINFO};
	sigemptyset(&act.sa_mask);
	return !sigaction(SIGBUS, &act, &guard.before);
}

bool ctp_shm_truncated(void) { return guard.hit; }

bool ctp_path_absolute(char out[PATH_MAX], const char *path)
{
	char cwd[PATH_MAX] = "";
	if (path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return false;
	int n = snprintf(out, PATH_MAX, "%s%s%s", cwd, *cwd ? "/" : "", path);
	return n > 0 && n < PATH_MAX;
}

static enum ctp_status shm_create(struct ctp_shm *shm, const char *path, struct ctp_err *err)
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
		snprintf(shm->path, sizeof(shm->path), "/proc/%d/fd/%d", (int)getpid(), shm->fd);
	}
	if (ftruncate(shm->fd, (off_t)shm->bytes))
		return ctp_err_sys(err, "%s: making %zu bytes", shm->path, shm->bytes);
	if (!path && fcntl(shm->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return ctp_err_sys(err, "sealing the shared memory");
	return CTP_OK;
}

enum ctp_status ctp_shm_init(struct ctp_shm *shm, uint32_t max_stations, const char *path, struct ctp_err *err)
{
	*shm = (struct ctp_shm){.fd = -1, .bytes = sizeof(struct ctp_shm_station) * ((size_t)max_stations + 1)};
	if (shm_create(shm, path, err))
		goto failed;
	void *base = mmap(NULL, shm->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shm->fd, 0);
	if (base == MAP_FAILED) {
		ctp_err_sys(err, "%s: mapping %zu bytes", shm->path, shm->bytes);
		goto failed;
	}
	shm->base = base;
	madvise(base, shm->bytes, MADV_DONTFORK); /* who maps it is then a traced process, or we */
	if (!guard_set(shm)) {
		ctp_err_sys(err, "sigaction");
		goto failed;
	}
	struct ctp_shm_header *head = base;
	head->version = CTP_SHM_VERSION;
	head->max_stations = max_stations;
	head->magic = CTP_SHM_MAGIC;
	return CTP_OK;
failed:
	ctp_shm_fini(shm);
	return CTP_FAILED;
}

void ctp_shm_fini(struct ctp_shm *shm)
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
