/* ppt-chosen.c - see ppt-chosen.h. */
#include "ppt/ppt-chosen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *path, size_t len, const char *end, size_t end_len)
{
	return end_len && end_len <= len && !memcmp(path + len - end_len, end, end_len) &&
	       (end_len == len || end[0] == '/' || path[len - end_len - 1] == '/');
}

/* The kernel marks a file that no path leads to. */
static bool is_file(const char *path, const char *wanted, size_t wanted_len)
{
	static const char mark[] = " (deleted)";
	size_t len = strlen(path), mark_len = sizeof mark - 1;
	for (; wanted_len > 2 && !strncmp(wanted, "./", 2); wanted_len -= 2)
		wanted += 2;
	return ends_with(path, len, wanted, wanted_len) ||
	       (len > mark_len && !strcmp(path + len - mark_len, mark) && ends_with(path, len - mark_len, wanted, wanted_len));
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

enum ctp_status ctp_ppt_chosen_check(char *const *names, const struct ctp_ppt_buffers *all, pid_t pid, struct ctp_err *err)
{
	for (; *names; names++) {
		size_t n = 0;
		for (size_t i = 0; i < all->n; i++)
			n += ctp_ppt_chosen_by(*names, all->buffer[i].name, all->buffer[i].file);
		if (!n)
			return ctp_err_set(err, "%s: process %d has no such buffer; ctp-ppt list %d shows them", *names, (int)pid, (int)pid);
	}
	if (!all->n)
		return ctp_err_set(err, "process %d: no ppt buffers in it: its program and its libraries have none of their symbols", (int)pid);
	return CTP_OK;
}

static char *name_of(const struct ctp_ppt_buffer *const *chosen, size_t i)
{
	char *name = NULL;
	size_t same = 1;
	for (size_t k = 0; k < i; k++)
		same += !strcmp(chosen[k]->name, chosen[i]->name);
	if (same == 1)
		return strdup(chosen[i]->name);
	return asprintf(&name, "%s-%zu", chosen[i]->name, same) < 0 ? NULL : name;
}

char **ctp_ppt_chosen_names(const struct ctp_ppt_buffer *const *chosen, size_t n)
{
	char **names = calloc(n, sizeof *names);
	for (size_t i = 0; names && i < n; i++)
		if (!(names[i] = name_of(chosen, i))) {
			ctp_ppt_chosen_names_free(names, n);
			return NULL;
		}
	return names;
}

void ctp_ppt_chosen_names_free(char **names, size_t n)
{
	for (size_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}
