/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-copies.c - see parquet-copies.h. */
#include "parquet/parquet-copies.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/folder.h"

enum { HASH_DIGITS = 8, TAIL_BYTES = 1024 }; /* a tail has the last note of a footer, and what follows it */
static const char SUFFIX[] = ".parquet", CUT[] = ".cut.parquet", ROWS[] = "ctp.rows";

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);
	return len >= n && !strcmp(name + len - n, end);
}

/* --- folders -------------------------------------------------------------------------------------------------------------- */

static bool is_cut(const char *name, const char *id)
{
	size_t len = strlen(name), end = strlen(id) + HASH_DIGITS + strlen(CUT);
	return ends_in(name, CUT) && len > end && !strncmp(name + len - end, id, strlen(id));
}

bool ctp_parquet_has_cut(int folder, uint64_t id)
{
	char name[64];
	struct stat st;
	snprintf(name, sizeof name, "sections-%016llx%s", (unsigned long long)id, CUT);
	return !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW);
}

bool ctp_parquet_has_complete(int folder, uint64_t id)
{
	char begin[64];
	bool found = false;
	DIR *d = ctp_folder_list(folder);
	size_t len = (size_t)snprintf(begin, sizeof begin, "sections-%016llx-", (unsigned long long)id);
	for (struct dirent *e; d && !found && (e = readdir(d));)
		found = !strncmp(e->d_name, begin, len) && strlen(e->d_name) == len + HASH_DIGITS + strlen(SUFFIX) &&
		        ends_in(e->d_name, SUFFIX);
	if (d)
		closedir(d);
	return found;
}

void ctp_parquet_remove_cut(int folder, uint64_t id)
{
	char part[32], sections[64];
	DIR *d = ctp_folder_list(folder);
	if (!d)
		return;
	snprintf(part, sizeof part, "-%016llx-", (unsigned long long)id);
	snprintf(sections, sizeof sections, "sections-%016llx%s", (unsigned long long)id, CUT);
	for (struct dirent *e; (e = readdir(d));)
		if (is_cut(e->d_name, part))
			unlinkat(dirfd(d), e->d_name, 0);
	unlinkat(dirfd(d), sections, 0); /* last: it says that there is more */
	closedir(d);
}

/* --- files ---------------------------------------------------------------------------------------------------------------- */

static bool cut_path(char to[PATH_MAX], const char *path)
{
	return snprintf(to, PATH_MAX, "%.*s%s", (int)(strlen(path) - strlen(SUFFIX)), path, CUT) < PATH_MAX;
}

static const char *name_in(const char *path) { return strrchr(path, '/') + 1; }

/* As the last note of a file that is cut says; 0: there is none. */
static uint64_t rows_of(int folder, const char *name)
{
	char tail[TAIL_BYTES];
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t n = fd < 0 ? 0 : pread(fd, tail, sizeof tail, size > TAIL_BYTES ? size - TAIL_BYTES : 0);
	if (fd >= 0)
		close(fd);
	ssize_t key = (ssize_t)strlen(ROWS);
	for (ssize_t at = n - key - 2; at >= 0; at--) {
		const char *value = tail + at + key + 2; /* after its type and its length, which is less than 128 */
		uint8_t len = (uint8_t)value[-1];
		uint64_t rows;
		if (!memcmp(tail + at, ROWS, strlen(ROWS)))
			return len <= tail + n - value && ctp_parse_u64(value, value + len, &rows) ? rows : 0;
	}
	return 0;
}

enum ctp_status ctp_parquet_close_complete(struct ctp_parquet_file *f, struct ctp_parquet_work *w, struct ctp_err *err)
{
	char cut[PATH_MAX];
	if (ctp_parquet_file_close(f, w, err))
		return CTP_FAILED;
	if (cut_path(cut, f->path))
		unlinkat(f->folder, name_in(cut), 0);
	return CTP_OK;
}

enum ctp_status ctp_parquet_close_cut(struct ctp_parquet_file *f, struct ctp_parquet_work *w, bool *stays, struct ctp_err *err)
{
	char path[PATH_MAX], rows[CTP_TEXT_MAX];
	if (!cut_path(path, f->path))
		return ctp_err_set(err, "%.40s...: the name is too long", f->path);
	if (rows_of(f->folder, name_in(path)) > ctp_parquet_file_rows(f)) {
		*stays = true;
		return CTP_OK;
	}
	*ctp_text_u64(rows, ctp_parquet_file_rows(f)) = '\0';
	ctp_parquet_file_note(f, ROWS, rows);
	return ctp_parquet_file_rename(f, path, err) ? CTP_FAILED : ctp_parquet_file_close(f, w, err);
}
