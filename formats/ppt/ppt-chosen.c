/* ppt-chosen.c - see ppt-chosen.h. */
#include "ppt/ppt-chosen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/mapped-file.h"

static bool ends_with(const char *path, size_t len, const char *end, size_t end_len)
{
	return end_len && end_len <= len && !memcmp(path + len - end_len, end, end_len) &&
	       (end_len == len || end[0] == '/' || path[len - end_len - 1] == '/');
}

static bool is_file(const char *path, const char *wanted, size_t wanted_len)
{
	size_t len = strlen(path), before_mark = ctp_mapped_deleted(path);
	for (; wanted_len > 2 && !strncmp(wanted, "./", 2); wanted_len -= 2)
		wanted += 2;
	return ends_with(path, len, wanted, wanted_len) || (before_mark && ends_with(path, before_mark, wanted, wanted_len));
}

bool ctp_ppt_chosen_by(const char *wanted, const char *buffer, const char *file)
{
	const char *colon = strrchr(wanted, ':');
	if (!strcmp(wanted, buffer))
		return true;
	return colon && file && !strcmp(colon + 1, buffer) && is_file(file, wanted, (size_t)(colon - wanted));
}

bool ctp_ppt_chosen(char *const *names, const struct ctp_ppt_buffer *b)
{
	char *const *name = names;
	while (*name && !ctp_ppt_chosen_by(*name, b->name, b->file))
		name++;
	return !names[0] || *name;
}

size_t ctp_ppt_chosen_count(const char *name, const struct ctp_ppt_buffers *all)
{
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++)
		n += ctp_ppt_chosen_by(name, all->buffer[i].name, all->buffer[i].file);
	return n;
}

/* A deleted file that may have the buffer, and cannot be opened: of FILE:BUFFER that file, else the first. Null: none. */
static const char *find_deleted(const struct ctp_ppt_buffers *all, const char *wanted)
{
	const char *colon = wanted ? strrchr(wanted, ':') : NULL, *path = all->deleted;
	while (path && *path && colon && !is_file(path, wanted, (size_t)(colon - wanted)))
		path += strlen(path) + 1;
	return path && *path ? path : NULL;
}

static enum ctp_status say_deleted(const char *wanted, const char *path, pid_t pid, struct ctp_err *err)
{
	return ctp_err_set(err, "%s%sprocess %d: %.*s was deleted, and cannot be opened without root, so its buffers are not known",
	                   wanted ? wanted : "", wanted ? ": " : "", (int)pid, (int)ctp_mapped_deleted(path), path);
}

enum ctp_status ctp_ppt_chosen_check(char *const *names, const struct ctp_ppt_buffers *all, pid_t pid, struct ctp_err *err)
{
	for (; *names; names++) {
		size_t n = ctp_ppt_chosen_count(*names, all);
		const char *deleted = n ? NULL : find_deleted(all, *names);
		if (deleted)
			return say_deleted(*names, deleted, pid, err);
		if (!n)
			return ctp_err_set(err, "%s: process %d has no such buffer; ctp-ppt list %d shows them", *names, (int)pid, (int)pid);
	}
	const char *deleted = all->n ? NULL : find_deleted(all, NULL);
	if (deleted)
		return say_deleted(NULL, deleted, pid, err);
	if (!all->n)
		return ctp_err_set(err, "process %d: no ppt buffers in it: its program and its libraries have none of their symbols", (int)pid);
	return CTP_OK;
}
