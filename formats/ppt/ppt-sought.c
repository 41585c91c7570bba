/* ppt-sought.c - see ppt-sought.h. */
#include "ppt/ppt-sought.h"

#include <stdlib.h>
#include <string.h>

#include "ppt/ppt-chosen.h"
#include "ppt/ppt-layout.h"

enum { SETTLED_LOOKS = 2 };

static bool is_of(const char *name, const struct ctp_ppt_buffer *b) { return ctp_ppt_chosen_by(name, b->name, b->file); }

bool ctp_ppt_sought_readable(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b)
{
	struct ctp_err ignored;
	size_t len;
	char *json = ctp_ppt_symbols_json(m, b, &len, &ignored);
	struct ctp_ppt_layout *layout = json ? ctp_ppt_layout_parse(json, len, &ignored) : NULL;
	bool good = layout;
	ctp_ppt_layout_free(layout);
	free(json);
	return good;
}

enum ctp_status ctp_ppt_sought_init(struct ctp_ppt_sought *s, char *const *names, const struct ctp_ppt_buffers *all, struct ctp_err *err)
{
	size_t n = 0;
	while (names[n])
		n++;
	*s = (struct ctp_ppt_sought){.names = names, .plain = CTP_PPT_PLAIN};
	s->looks = calloc(n + 1, sizeof *s->looks);
	s->found = calloc(n + 1, sizeof *s->found);
	if (!s->looks || !s->found)
		return ctp_err_set(err, "out of memory");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < all->n; k++)
			if (is_of(names[i], &all->buffer[k]))
				s->looks[i] = SETTLED_LOOKS;
		s->missing += s->looks[i] < SETTLED_LOOKS;
	}
	return CTP_OK;
}

void ctp_ppt_sought_fini(struct ctp_ppt_sought *s)
{
	for (size_t i = 0; i < s->nfound; i++)
		ctp_ppt_symbols_free(&s->found[i]);
	free(s->found);
	free(s->looks);
	ctp_distinct_fini(&s->plain);
	*s = (struct ctp_ppt_sought){0};
}

/* Whether it has all that it needs, and no name that was there before. */
static bool is_new(const struct ctp_ppt_sought *s, const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b)
{
	bool named = false;
	for (size_t i = 0; s->names[i]; i++) {
		if (is_of(s->names[i], b) && s->looks[i] == SETTLED_LOOKS)
			return false;
		named |= is_of(s->names[i], b);
	}
	return named && ctp_ppt_sought_readable(m, b);
}

static void drop(struct ctp_ppt_buffers *all, size_t i)
{
	struct ctp_ppt_buffer was = all->buffer[i];
	all->n--;
	memmove(all->buffer + i, all->buffer + i + 1, (all->n - i) * sizeof *all->buffer);
	free(was.file);
	free(was.label);
}

/* Counts the look for each name. True: of some it was the last. */
static bool count_look(struct ctp_ppt_sought *s, const struct ctp_ppt_buffers *all, bool *last)
{
	bool any = false;
	for (size_t i = 0; s->names[i]; i++) {
		bool there = false;
		for (size_t k = 0; k < all->n; k++)
			there |= is_of(s->names[i], &all->buffer[k]);
		last[i] = false;
		if (s->looks[i] == SETTLED_LOOKS)
			continue;
		s->looks[i] = there ? s->looks[i] + 1 : 0;
		last[i] = s->looks[i] == SETTLED_LOOKS;
		s->missing -= last[i];
		any |= last[i];
	}
	return any;
}

static bool is_of_last(const struct ctp_ppt_sought *s, const bool *last, const struct ctp_ppt_buffer *b)
{
	bool any = false;
	for (size_t i = 0; s->names[i]; i++)
		any |= last[i] && is_of(s->names[i], b);
	return any;
}

const struct ctp_ppt_buffers *ctp_ppt_sought_look(struct ctp_ppt_sought *s, const struct ctp_ppt_memory *m)
{
	struct ctp_err ignored;
	struct ctp_ppt_buffers all;
	size_t n = 0;
	while (s->names[n])
		n++;
	bool *last = calloc(n + 1, sizeof *last);
	if (!last || ctp_ppt_symbols_find_next(&all, m->pid, &s->plain, NULL, &ignored)) {
		free(last);
		return NULL;
	}
	for (size_t i = all.n; i-- > 0;)
		if (!is_new(s, m, &all.buffer[i]))
			drop(&all, i);
	bool any = count_look(s, &all, last);
	for (size_t i = all.n; i-- > 0;)
		if (!is_of_last(s, last, &all.buffer[i]))
			drop(&all, i);
	free(last);
	if (!any) {
		ctp_ppt_symbols_free(&all);
		return NULL;
	}
	s->found[s->nfound] = all;
	return &s->found[s->nfound++];
}

static bool is_repeated(char *const *names, size_t i)
{
	size_t k = 0;
	while (strcmp(names[k], names[i]))
		k++;
	return k < i;
}

const char *ctp_ppt_sought_missing(const struct ctp_ppt_sought *s, size_t *i)
{
	while (s->names && s->names[*i] && (s->looks[*i] == SETTLED_LOOKS || is_repeated(s->names, *i)))
		++*i;
	return s->names && s->names[*i] ? s->names[(*i)++] : NULL;
}
