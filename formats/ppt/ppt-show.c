/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-show.c - texts of list and describe. Names are the target's choice, and shown so that a terminal takes no harm.
 */
#include "ppt/ppt-live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/visible.h"
#include "collect/proc-maps.h"
#include "collect/proc-stat.h"
#include "ppt/ppt-frames.h"

enum { LINE_BYTES = 4096, COLUMNS = 4, WIDE = 48, STATE_BYTES = 48, COMMAND_BYTES = 400 };
enum { KERNEL_THREAD = 0x200000 /* as in the kernel's sched.h */ };

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

/* --- tables ---------------------------------------------------------------------------------------------------------------- */

struct table {
	FILE *rows; /* of cells, each ended by a tab, or by a newline if it is the last of its row */
	char *text;
	size_t len;
};

static void add_row(struct table *t, const char *const cells[COLUMNS])
{
	char text[LINE_BYTES];
	for (size_t k = 0; t->rows && k < COLUMNS; k++) {
		ctp_visible(text, sizeof text, cells[k]);
		fprintf(t->rows, "%s%c", text, k + 1 < COLUMNS ? '\t' : '\n');
	}
}

static void begin_table(struct table *t, const char *const names[COLUMNS])
{
	*t = (struct table){0};
	t->rows = open_memstream(&t->text, &t->len);
	add_row(t, names);
}

/*
 * Columns are as wide as what they hold; a cell beyond WIDE moves its own row and no other. numeric: the first is aligned to the
 * right.
 */
static void put_rows(const char *text, bool numeric, struct ctp_output *out)
{
	int width[COLUMNS] = {0};
	char cell[LINE_BYTES + WIDE];
	size_t len, k = 0;
	for (const char *p = text; *p; p += len + 1, k = (k + 1) % COLUMNS) {
		len = strcspn(p, "\t\n");
		if (len <= WIDE && (int)len > width[k] && k + 1 < COLUMNS)
			width[k] = (int)len;
	}
	for (const char *p = text; *p; p += len + 1, k = (k + 1) % COLUMNS) {
		len = strcspn(p, "\t\n");
		int n = snprintf(cell, sizeof cell, numeric && !k ? "%*.*s" : "%-*.*s", width[k], (int)len, p);
		cell[n++] = k + 1 < COLUMNS ? ' ' : '\n';
		ctp_output_put(out, cell, (size_t)n);
	}
}

static enum ctp_status end_table(struct table *t, bool numeric, struct ctp_output *out, struct ctp_err *err)
{
	bool good = t->rows && !ferror(t->rows);
	good &= t->rows && !fclose(t->rows);
	if (good)
		put_rows(t->text, numeric, out);
	free(t->text);
	return good ? CTP_OK : ctp_err_memory(err);
}

/* --- list ------------------------------------------------------------------------------------------------------------------ */

static void say_state(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, char text[STATE_BYTES])
{
	struct ctp_ppt_user user;
	if (!ctp_ppt_attach_user(m, b, &user))
		snprintf(text, STATE_BYTES, ctp_ppt_memory_lost(m) ? "does not answer" : "gone");
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
	size_t at = 0;
	struct ctp_ppt_layout *l = ctp_ppt_symbols_layout(m, b, NULL, NULL, &err);
	if (!l)
		snprintf(text, room, "(%.400s)", err.text);
	for (uint32_t i = 0; l && i < l->nframes && at < room; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%s", i ? "," : "", l->frames[i].name);
	ctp_ppt_layout_free(l);
}

static enum ctp_status find(struct ctp_ppt_memory *m, struct ctp_ppt_buffers *all, pid_t pid, const struct ctp_notice *notice,
                            struct ctp_err *err)
{
	struct ctp_err ignored;
	if (ctp_ppt_memory_open(m, pid, false, err))
		return CTP_FAILED;
	if (ctp_ppt_symbols_find(all, pid, NULL, notice, err)) {
		ctp_ppt_memory_close(m);
		return CTP_FAILED;
	}
	ctp_ppt_shm_join(pid, &ignored);
	return CTP_OK;
}

enum ctp_status ctp_ppt_show_list(struct ctp_output *out, pid_t pid, const struct ctp_notice *notice, struct ctp_err *err)
{
	struct ctp_ppt_memory m;
	struct ctp_ppt_buffers all;
	struct table table;
	if (find(&m, &all, pid, notice, err))
		return CTP_FAILED;
	begin_table(&table, (const char *const[]){"BUFFER", "STATE", "FRAMES", "FILE"});
	for (size_t i = 0; i < all.n; i++) {
		const struct ctp_ppt_buffer *b = &all.buffer[i];
		char state[STATE_BYTES], frames[512];
		say_state(&m, b, state);
		say_frames(&m, b, frames, sizeof frames);
		add_row(&table, (const char *const[]){b->name, state, frames, b->file});
	}
	enum ctp_status status = end_table(&table, false, out, err);
	if (!status)
		status = ctp_ppt_chosen_check((char *[]){NULL}, &all, pid, err);
	ctp_ppt_symbols_free(&all);
	ctp_ppt_memory_close(&m);
	return status;
}

/* --- of all processes ------------------------------------------------------------------------------------------------------ */

static void say_command(pid_t pid, char text[COMMAND_BYTES])
{
	size_t len = ctp_ppt_memory_argv(pid, text, COMMAND_BYTES - 1);
	while (len && !text[len - 1])
		len--;
	text[len] = '\0';
	for (char *p = text; p < text + len; p++)
		if (!*p)
			*p = ' ';
}

static size_t add_process(struct table *table, pid_t pid, const struct ctp_ppt_buffers *all)
{
	struct ctp_ppt_memory m;
	struct ctp_err ignored;
	char number[16], state[STATE_BYTES] = "not to be read", command[COMMAND_BYTES];
	bool readable = !ctp_ppt_memory_open(&m, pid, false, &ignored);
	ctp_ppt_shm_join(pid, &ignored);
	say_command(pid, command);
	snprintf(number, sizeof number, "%d", (int)pid);
	for (size_t i = 0; i < all->n; i++) {
		if (readable)
			say_state(&m, &all->buffer[i], state);
		add_row(table, (const char *const[]){number, all->buffer[i].name, state, command});
	}
	if (readable)
		ctp_ppt_memory_close(&m);
	return all->n;
}

/* Its mappings may not be read, and it has some. */
static bool is_denied(pid_t pid)
{
	struct ctp_proc_stat st;
	int fd = ctp_proc_maps_fd(pid), why = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	char path[48];
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)pid);
	if ((why != EACCES && why != EPERM) || (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return false;
	bool known = ctp_proc_stat_read(fd, &st);
	close(fd);
	return !known || !(st.flags & KERNEL_THREAD || st.state == 'Z');
}

enum ctp_status ctp_ppt_show_all(struct ctp_output *out, uint64_t *denied, const struct ctp_notice *notice, struct ctp_err *err)
{
	DIR *proc = opendir("/proc");
	struct ctp_distinct plain = CTP_PPT_PLAIN;
	struct table table;
	size_t n = 0;
	*denied = 0;
	if (!proc)
		return ctp_err_sys(err, "/proc");
	begin_table(&table, (const char *const[]){"PID", "BUFFER", "STATE", "COMMAND"});
	for (struct dirent *d; (d = readdir(proc));) {
		struct ctp_ppt_buffers all;
		struct ctp_err ignored;
		uint64_t number;
		if (!ctp_parse_u64(d->d_name, d->d_name + strlen(d->d_name), &number) || number > INT32_MAX)
			continue;
		pid_t pid = (pid_t)number;
		if (ctp_ppt_symbols_find(&all, pid, &plain, notice, &ignored)) {
			*denied += is_denied(pid);
			continue;
		}
		n += add_process(&table, pid, &all);
		ctp_ppt_symbols_free(&all);
	}
	ctp_distinct_fini(&plain);
	closedir(proc);
	enum ctp_status status = end_table(&table, true, out, err);
	return status || n ? status : ctp_err_set(err, "no process that can be read has ppt buffers");
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

/* As they are without -c: a counter has its number in place of a name. */
static enum ctp_status show_classes(struct ctp_output *out, const struct ctp_ppt_layout *l, struct ctp_err *err)
{
	struct ctp_ppt_frames *frames = ctp_ppt_frames_new(l, NULL, 0, false, err);
	for (uint32_t i = 0; frames && i < l->nframes; i++) {
		const struct ctp_class *cls = ctp_ppt_frames_class(frames, i);
		print(out, "class %s: of frame %s", cls->name, l->frames[i].name);
		print(out, "  type   unit   column");
		for (uint32_t k = 0; k < cls->nfields; k++) {
			const struct ctp_field *f = &cls->fields[k];
			print(out, "  %-6s %-6s %s%s", ctp_type_name(f->type), f->unit ? f->unit : "", f->name,
			      f->flags & CTP_FIELD_EXTRA ? " (extra)" : "");
		}
	}
	ctp_ppt_frames_free(frames);
	return frames ? CTP_OK : CTP_FAILED;
}

static enum ctp_status show_one(struct ctp_output *out, const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, struct ctp_err *err)
{
	char state[STATE_BYTES];
	struct ctp_ppt_layout *l = ctp_ppt_symbols_layout(m, b, NULL, NULL, err);
	if (!l)
		return ctp_err_before(err, "%s: ", b->label);
	say_state(m, b, state);
	print(out, "buffer      %s", b->name);
	print(out, "state       %s", state);
	print(out, "file        %s", b->file);
	show_layout(out, l);
	enum ctp_status status = show_classes(out, l, err);
	ctp_ppt_layout_free(l);
	return status;
}

enum ctp_status ctp_ppt_show_buffer(struct ctp_output *out, pid_t pid, char *name, const struct ctp_notice *notice,
                                    struct ctp_err *err)
{
	struct ctp_ppt_memory m;
	struct ctp_ppt_buffers all;
	char *names[] = {name, NULL};
	if (find(&m, &all, pid, notice, err))
		return CTP_FAILED;
	enum ctp_status status = ctp_ppt_chosen_check(names, &all, pid, err);
	for (size_t i = 0; i < all.n && !status; i++)
		if (ctp_ppt_chosen(names, &all.buffer[i]))
			status = show_one(out, &m, &all.buffer[i], err);
	ctp_ppt_symbols_free(&all);
	ctp_ppt_memory_close(&m);
	return status;
}
