/*
 * ppt-show.c - texts of list and describe. Names are the target's choice, and shown so that a terminal takes no harm.
 */
#include "ppt/ppt-show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/visible.h"
#include "ppt/ppt-attach.h"

enum { LINE_BYTES = 4096, STATE_BYTES = 48 };

static void print(struct ctp_output *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void print(struct ctp_output *out, const char *fmt, ...)
{
	char text[LINE_BYTES / 4], line[LINE_BYTES];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	size_t len = ctp_visible(line, sizeof line - 1, text);
	line[len++] = '\n';
	ctp_output_put(out, line, len);
}

/* --- list ------------------------------------------------------------------------------------------------------------------ */

static void say_state(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, char text[STATE_BYTES])
{
	struct ctp_ppt_user user;
	if (!ctp_ppt_attach_user(m, b, &user))
		snprintf(text, STATE_BYTES, "gone");
	else if (user.use == CTP_PPT_FREE)
		snprintf(text, STATE_BYTES, "free");
	else if (user.use == CTP_PPT_USED)
		snprintf(text, STATE_BYTES, user.pid ? "attached by %d" : "attached", (int)user.pid);
	else
		snprintf(text, STATE_BYTES, user.pid ? "left by %d, dead" : "left by a dead agent", (int)user.pid);
}

static void say_frames(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, char *text, size_t room)
{
	struct ctp_err err;
	size_t len, at = 0;
	char *json = ctp_ppt_symbols_json(m, b, &len, &err);
	struct ctp_ppt_layout *l = json ? ctp_ppt_layout_parse(json, len, &err) : NULL;
	if (!l)
		snprintf(text, room, "(%.400s)", err.text);
	for (uint32_t i = 0; l && i < l->nframes && at < room; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%s", i ? "," : "", l->frames[i].name);
	ctp_ppt_layout_free(l);
	free(json);
}

static enum ctp_status find(struct ctp_ppt_memory *m, struct ctp_ppt_buffers *all, pid_t pid, const struct ctp_notice *notice,
                            struct ctp_err *err)
{
	if (ctp_ppt_memory_open(m, pid, false, err))
		return CTP_FAILED;
	if (!ctp_ppt_symbols_find(all, pid, notice, err))
		return CTP_OK;
	ctp_ppt_memory_close(m);
	return CTP_FAILED;
}

enum ctp_status ctp_ppt_show_list(struct ctp_output *out, pid_t pid, const struct ctp_notice *notice, struct ctp_err *err)
{
	struct ctp_ppt_memory m;
	struct ctp_ppt_buffers all;
	struct ctp_err ignored;
	if (find(&m, &all, pid, notice, err))
		return CTP_FAILED;
	ctp_ppt_shm_join(pid, &ignored);
	if (all.n)
		print(out, "%-16s %-20s %-24s %s", "BUFFER", "STATE", "FRAMES", "FILE");
	for (size_t i = 0; i < all.n; i++) {
		const struct ctp_ppt_buffer *b = &all.buffer[i];
		char state[STATE_BYTES], frames[512];
		say_state(&m, b, state);
		say_frames(&m, b, frames, sizeof frames);
		print(out, "%-16s %-20s %-24s %s", b->name, state, frames, b->file);
	}
	bool any = all.n;
	ctp_ppt_symbols_free(&all);
	ctp_ppt_memory_close(&m);
	return any ? CTP_OK : CTP_EOF;
}

/* --- describe -------------------------------------------------------------------------------------------------------------- */

static void show_member(struct ctp_output *out, const struct ctp_ppt_frame *f, const struct ctp_ppt_member *m)
{
	char what[256] = "";
	if (m->kind != CTP_PPT_MEMBER)
		snprintf(what, sizeof what, "%s", ctp_ppt_kind_name(m->kind));
	else if (m->end != CTP_PPT_ALONE)
		snprintf(what, sizeof what, "%s of %s%s%s", m->end == CTP_PPT_BEGIN ? "begin" : "end", m->base,
		         m->other >= 0 ? ", with " : "", m->other >= 0 ? f->members[m->other].name : "");
	print(out, "  %6" PRIu32 " %6" PRIu32 " %-8s %-24s%s%s", m->offset, m->size, ctp_ppt_type_name(m->type), m->name, *what ? " " : "", what);
}

static void show_layout(struct ctp_output *out, const struct ctp_ppt_layout *l)
{
	print(out, "abi         %s", l->abi);
	print(out, "clock       %s%s", *l->clock ? l->clock : "not said", l->rep == CTP_PPT_TIMEVAL ? ", in microseconds" : "");
	print(out, "threads     %s", l->multithread ? "many" : "one");
	print(out, "resizable   %s", l->resizable ? "yes" : "no");
	print(out, "elements    %" PRIu64 " at least", l->min_elements);
	print(out, "tags        %.*s", l->tags_len ? (int)(l->tags_len < 900 ? l->tags_len : 900) : 4, l->tags_len ? l->tags : "none");
	for (uint32_t i = 0; i < l->nframes; i++) {
		const struct ctp_ppt_frame *f = &l->frames[i];
		print(out, "frame %s: %" PRIu32 " bytes, %" PRIu32 " in the ring", f->name, f->size, l->stride);
		print(out, "  offset  bytes type     name");
		for (uint32_t k = 0; k < f->nmembers; k++)
			show_member(out, f, &f->members[k]);
	}
}

static enum ctp_status show_one(struct ctp_output *out, const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, struct ctp_err *err)
{
	size_t len;
	char state[STATE_BYTES];
	struct ctp_err why;
	char *json = ctp_ppt_symbols_json(m, b, &len, &why);
	struct ctp_ppt_layout *l = json ? ctp_ppt_layout_parse(json, len, &why) : NULL;
	free(json);
	if (!l)
		return ctp_err_set(err, "%s: %.400s", b->name, why.text);
	say_state(m, b, state);
	print(out, "buffer      %s", b->name);
	print(out, "state       %s", state);
	print(out, "file        %s", b->file);
	show_layout(out, l);
	ctp_ppt_layout_free(l);
	return CTP_OK;
}

enum ctp_status ctp_ppt_show_buffer(struct ctp_output *out, pid_t pid, const char *name, const struct ctp_notice *notice,
                                    struct ctp_err *err)
{
	struct ctp_ppt_memory m;
	struct ctp_ppt_buffers all;
	struct ctp_err ignored;
	bool found = false;
	if (find(&m, &all, pid, notice, err))
		return CTP_FAILED;
	ctp_ppt_shm_join(pid, &ignored);
	enum ctp_status status = CTP_OK;
	for (size_t i = 0; i < all.n && !status; i++)
		if (!strcmp(all.buffer[i].name, name)) {
			found = true;
			status = show_one(out, &m, &all.buffer[i], err);
		}
	if (!found)
		status = ctp_err_set(err, "%s: process %d has no such buffer; ctp-ppt list %d shows them", name, (int)pid, (int)pid);
	ctp_ppt_symbols_free(&all);
	ctp_ppt_memory_close(&m);
	return status;
}
