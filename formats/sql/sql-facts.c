/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-facts.c - see sql-facts.h. */
#include "sql/sql-facts.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/follow.h"
#include "analyse/judge-object.h"
#include "analyse/roles.h"
#include "base/compare.h"
#include "sql/sql-holds.h"
#include "sql/sql-origins.h"
#include "sql/sql-waits.h"
#include "stream/events.h"

/* --- columns ------------------------------------------------------------------------------------------------------------- */

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define U64(n, r) {.name = (n), .type = CTP_U64, .role = CTP_ROLE_##r}
#define ADDRESS(n) {.name = (n), .type = CTP_U64, .role = CTP_ROLE_ADDRESS, .flags = CTP_FIELD_HEX}
#define NS(n) {.name = (n), .type = CTP_U64, .unit = "ns"} /* without the role, or the first of them would be the row's own time */
#define TIME(n) {.name = (n), .type = CTP_U64, .role = CTP_ROLE_TIME, .unit = "ns"}
#define I32(n) {.name = (n), .type = CTP_I32}
#define BOOL(n) {.name = (n), .type = CTP_BOOL}
#define TEXT(n) {.name = (n), .type = CTP_STRING}
#define ENUM(n, l) {.name = (n), .type = CTP_ENUM, .labels = (l), .nlabels = COUNT(l)}

/* A table is a list of columns, each with the value that a row has there. */
#define FIELD(field, value) field,
#define VALUE(field, value) value,

/* Of objects_at_end.kind, as ctp-report calls it. */
enum { KIND_LOCK = 1, KIND_PERMITS, KIND_QUEUE, KIND_EVENT, KIND_BARRIER, KIND_OBJECT };
static const struct ctp_label kinds[] = {
	{KIND_LOCK, "lock"}, {KIND_PERMITS, "permits"}, {KIND_QUEUE, "queue"}, {KIND_EVENT, "event"},
	{KIND_BARRIER, "barrier"}, {KIND_OBJECT, "object"},
};

/* As in a record of a reason. */
static const struct ctp_label waits_for[] = {
	{CTP_WAITS_TIMER, "timer"}, {CTP_WAITS_DESCRIPTOR, "descriptor"}, {CTP_WAITS_LOCK, "lock"}, {CTP_WAITS_PERMITS, "permits"},
	{CTP_WAITS_ITEM, "item"}, {CTP_WAITS_ROOM, "room"}, {CTP_WAITS_EVENT, "event"}, {CTP_WAITS_BARRIER, "barrier"},
	{CTP_WAITS_OTHER, "other"},
};
_Static_assert(COUNT(waits_for) == CTP_WAITS_COUNT - 1, "what a coroutine waits for has no label");

struct ctp_sql_facts {
	struct ctp_follow follow;
	struct ctp_sql_origins origins;
	struct ctp_sql_waits waits;
	struct ctp_sql_holds holds;
	struct ctp_sql *db;
	bool ordinal; /* the section has no clock */
	bool ends;    /* the section, after its last record */

	/* While rows are written: */
	int64_t section;
	struct ctp_sql_fact_rows {
		struct ctp_class *cls;
		struct ctp_sql_rows *rows; /* null: there are none yet */
	} to[CTP_SQL_FACTS];
	uint64_t judged_ns; /* when waits were counted: at the end of the section */
	enum ctp_status status;
	struct ctp_err *err;
};

/* --- rows ---------------------------------------------------------------------------------------------------------------- */

static void fail(struct ctp_sql_facts *f)
{
	f->status = ctp_sql_no_memory(f->db, f->err);
}

static void begin_rows(struct ctp_sql_facts *f, enum ctp_sql_fact fact)
{
	struct ctp_sql_fact_rows *to = &f->to[fact];
	if (f->status || to->rows)
		return;
	to->cls = ctp_sql_fact_class(fact);
	if (!to->cls) {
		fail(f);
		return;
	}
	int64_t id = ctp_sql_class(f->db, to->cls, f->err);
	if (id < 0 || !(to->rows = f->db->ops->rows(f->db, to->cls, id, f->err)))
		f->status = CTP_FAILED;
}

static void add_row(struct ctp_sql_facts *f, enum ctp_sql_fact fact, const uint64_t *val)
{
	begin_rows(f, fact);
	if (!f->status)
		f->status = f->db->ops->add(f->db, f->to[fact].rows, f->section, val, f->err);
}

enum ctp_status ctp_sql_facts_so_far(struct ctp_sql_facts *f, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	for (int fact = 0; fact < CTP_SQL_FACTS && !status; fact++)
		if (f->to[fact].rows)
			status = f->db->ops->end(f->db, f->to[fact].rows, err);
	return status;
}

static void drop_rows(struct ctp_sql_facts *f)
{
	for (int fact = 0; fact < CTP_SQL_FACTS; fact++) {
		f->db->ops->drop(f->to[fact].rows);
		ctp_class_free(f->to[fact].cls);
		f->to[fact] = (struct ctp_sql_fact_rows){.rows = NULL};
	}
}

/* A text as the value of a field. */
struct text {
	uint32_t len;
	char data[CTP_SITE_TEXT_MAX + 1];
};
_Static_assert((int)CTP_SITE_TEXT_MAX >= (int)CTP_OBJECT_NAME_MAX && offsetof(struct text, data) == offsetof(struct ctp_str, data),
               "a text is no ctp_str that has room for a name");

static uint64_t text_value(struct text *to, const char *text)
{
	to->len = text ? (uint32_t)strnlen(text, CTP_SITE_TEXT_MAX) : 0;
	memcpy(to->data, text ? text : "", to->len);
	to->data[to->len] = '\0';
	return (uint64_t)(uintptr_t)to;
}

/* --- what is known ------------------------------------------------------------------------------------------------------- */

/* How much of it all its holders have. */
static uint64_t held(const struct ctp_object *ob)
{
	uint64_t sum = ob->others;
	for (uint32_t i = 0; i < ob->nholders; i++)
		sum += (uint64_t)ob->holders[i].count;
	return sum;
}

static uint64_t kind_of(const struct ctp_object *ob)
{
	static const uint8_t kind[CTP_WAITS_COUNT] = {
		[CTP_WAITS_LOCK] = KIND_LOCK, [CTP_WAITS_PERMITS] = KIND_PERMITS, [CTP_WAITS_ITEM] = KIND_QUEUE,
		[CTP_WAITS_ROOM] = KIND_QUEUE, [CTP_WAITS_EVENT] = KIND_EVENT, [CTP_WAITS_BARRIER] = KIND_BARRIER,
	};
	return ob->what < CTP_WAITS_COUNT && kind[ob->what] ? kind[ob->what] : KIND_OBJECT;
}

/* The longest wait ends with the process, which may be earlier than the section. */
static uint64_t longest_of(const struct ctp_sql_facts *f, const struct ctp_object *ob)
{
	const struct ctp_sql_origin *o = ctp_sql_origins_of(&f->origins, ob->pid);
	uint64_t end_ns, late_ns = o && ctp_sql_end_ns(&o->end, &end_ns) ? ctp_span_ns(end_ns, f->judged_ns) : 0;
	return ctp_span_ns(late_ns, ob->longest_ns);
}

#define OBJECT(F) \
	F(U64("pid", PROCESS), ob->pid) \
	F(ADDRESS("object"), ob->at) \
	F(ENUM("kind", kinds), kind_of(ob)) \
	F(TEXT("name"), text_value(&name, ob->name)) \
	F(TEXT("made_site"), text_value(&site, ob->site ? ctp_follow_text(&f->follow, ob->site) : NULL)) \
	F(BOOL("available_known"), ob->stock.known) \
	F(U64("available", COUNT), ob->stock.known ? ob->stock.available : 0) \
	F(BOOL("room_known"), ob->room.known) \
	F(U64("room", COUNT), ob->room.known ? ob->room.available : 0) \
	F(U64("total", COUNT), ob->total) \
	F(BOOL("closed"), ob->closed_ns > 0) \
	F(BOOL("owned"), ob->owned) \
	F(BOOL("holders_known"), ob->holders_known) \
	F(U64("holders", COUNT), ob->nholders) \
	F(U64("held", COUNT), held(ob)) \
	F(U64("waiters", COUNT), ob->waiters) \
	F(NS("longest_ns"), longest_of(f, ob))
static const struct ctp_field objects[] = {OBJECT(FIELD)};

static void put_object(struct ctp_sql_facts *f, const struct ctp_object *ob)
{
	struct text name, site;
	add_row(f, CTP_SQL_OBJECTS, (uint64_t[]){OBJECT(VALUE)});
}

/* Calls put for each object that there is. */
static void each_object(struct ctp_sql_facts *f, void (*put)(struct ctp_sql_facts *f, const struct ctp_object *ob))
{
	const struct ctp_objects *o = f->follow.objects;
	for (uint32_t i = 1; i <= o->count && !f->status; i++) {
		const struct ctp_object *ob = o->list[i].is_there ? ctp_objects_find(o, o->list[i].pid, o->list[i].at) : NULL;
		if (ob)
			put(f, ob);
	}
}

#define HOLDER(F) \
	F(U64("pid", PROCESS), ob->pid) \
	F(ADDRESS("object"), ob->at) \
	F(TEXT("object_name"), text_value(&name, ob->name)) \
	F(U64("coro", COROUTINE), h->coro) \
	F(U64("probe_id", PROBE), co ? co->probe : 0) \
	F(U64("count", COUNT), (uint64_t)h->count) \
	F(TEXT("taken_site"), text_value(&site, h->site ? ctp_follow_text(&f->follow, h->site) : NULL)) \
	F(BOOL("alive"), co && co->state != CTP_DEAD)
static const struct ctp_field holders[] = {HOLDER(FIELD)};

static void put_holders(struct ctp_sql_facts *f, const struct ctp_object *ob)
{
	for (uint32_t i = 0; i < ob->nholders && !f->status; i++) {
		const struct ctp_holder *h = &ob->holders[i];
		const struct ctp_coroutine *co = ctp_follow_find(&f->follow, h->coro);
		struct text name, site;
		add_row(f, CTP_SQL_HOLDERS, (uint64_t[]){HOLDER(VALUE)});
	}
}

/* A reason is not certain if another one, or the wake, may be among records that are missing since the coroutine ran. */
#define REASON(F) \
	F(U64("coro", COROUTINE), co->id) \
	F(U64("probe_id", PROBE), co->probe) \
	F(NS("since_ns"), ctp_coroutine_waits_since(co)) \
	F(U64("pid", PROCESS), r->pid) \
	F(ENUM("what", waits_for), reason->what) \
	F(NS("deadline_ns"), timer ? reason->value : 0) \
	F(I32("fd"), (uint64_t)(fd ? (int64_t)(int32_t)reason->value : -1)) \
	F(ADDRESS("object"), timer || fd ? 0 : reason->value) \
	F(TEXT("object_name"), text_value(&name, ob ? ob->name : NULL)) \
	F(U64("count", COUNT), reason->count) \
	F(BOOL("shared"), reason->marks & CTP_REASON_SHARED ? 1 : 0) \
	F(BOOL("timed"), reason->marks & CTP_REASON_TIMED ? 1 : 0) \
	F(BOOL("cancellable"), reason->marks & CTP_REASON_CANCELLABLE ? 1 : 0) \
	F(BOOL("rests"), reason->marks & CTP_REASON_RESTS ? 1 : 0) \
	F(BOOL("more"), r->more) \
	F(BOOL("certain"), !(co->flags & CTP_CO_CONFLICT) && (!f->follow.missed_ns || f->follow.missed_ns < co->resumed_ns))
static const struct ctp_field reasons[] = {REASON(FIELD)};

static void put_reason(struct ctp_sql_facts *f, const struct ctp_coroutine *co, const struct ctp_reasons *r, const struct ctp_reason_of *reason)
{
	bool timer = reason->what == CTP_WAITS_TIMER, fd = reason->what == CTP_WAITS_DESCRIPTOR;
	const struct ctp_object *ob = timer || fd ? NULL : ctp_objects_find(f->follow.objects, r->pid, reason->value);
	struct text name;
	add_row(f, CTP_SQL_REASONS, (uint64_t[]){REASON(VALUE)});
}

/* Whether a coroutine in a gap still waits is not known. */
static void put_reasons(struct ctp_sql_facts *f)
{
	const struct ctp_coroutine *co;
	for (uint32_t at = 0; !f->status && (co = ctp_follow_each(&f->follow, &at));) {
		bool waits = co->state == CTP_SUSPENDED && !(co->flags & CTP_CO_TAIL) && co->next;
		const struct ctp_reasons *r = waits ? ctp_objects_reasons(f->follow.objects, co->id, co->next - 1) : NULL;
		for (uint32_t i = 0; r && i < r->n; i++)
			put_reason(f, co, r, &r->list[i]);
	}
}

/*
 * A wait for an object, of a suspension with that index; nth: of its reasons that are objects. ended: by a
 * transition or the death, resumed: by a transition. stopped: stop_ns is known. sure: no event is missing,
 * unless the coroutine had a conflict later.
 */
#define WAIT(F) \
	F(TIME("ts"), w->start_ns) \
	F(U64("coro", COROUTINE), co->id) \
	F(U64("probe_id", PROBE), co->probe) \
	F(U64("index", SEQUENCE), w->index) \
	F(U64("nth", NONE), nth) \
	F(U64("pid", PROCESS), r->pid) \
	F(ENUM("what", waits_for), r->list[i].what) \
	F(ADDRESS("object"), r->list[i].value) \
	F(TEXT("object_name"), text_value(&name, ob ? ob->name : NULL)) \
	F(U64("count", COUNT), r->list[i].count) \
	F(U64("reasons", COUNT), r->n) \
	F(BOOL("shared"), r->list[i].marks & CTP_REASON_SHARED ? 1 : 0) \
	F(BOOL("timed"), r->list[i].marks & CTP_REASON_TIMED ? 1 : 0) \
	F(BOOL("cancellable"), r->list[i].marks & CTP_REASON_CANCELLABLE ? 1 : 0) \
	F(BOOL("rests"), r->list[i].marks & CTP_REASON_RESTS ? 1 : 0) \
	F(BOOL("more"), r->more) \
	F(U64("site", SITE), w->where > INT64_MAX ? ~w->where : 0) \
	F(ADDRESS("addr"), w->where > INT64_MAX ? 0 : w->where) \
	F(NS("stop_ns"), stopped ? stop_ns : 0) \
	F(BOOL("stopped"), stopped) \
	F(BOOL("ended"), ch != NULL) \
	F(BOOL("resumed"), ch && ch->kind != CTP_CHANGE_DIED) \
	F(BOOL("open"), !ch && known) \
	F(BOOL("sure"), known && (!ch || ch->whole))
static const struct ctp_field waits[] = {WAIT(FIELD)};

/* Whether a reason was recorded twice. */
static bool is_again(const struct ctp_reasons *r, uint32_t i)
{
	uint32_t j = 0;
	while (j < i && (r->list[j].what != r->list[i].what || r->list[j].value != r->list[i].value))
		j++;
	return j < i;
}

/* A wait for objects, which the change has ended; null: it goes on when the section ends. */
static void put_wait(struct ctp_sql_facts *f, const struct ctp_coroutine *co, const struct ctp_sql_wait *w,
                     const struct ctp_change *ch)
{
	const struct ctp_reasons *r = &w->reasons;
	bool known = !w->lost && !(co->flags & CTP_CO_CONFLICT), stopped = known && ch;
	uint64_t stop_ns = w->start_ns, nth = 0;
	if (ch)
		stop_ns = ctp_most(stop_ns, ch->kind == CTP_CHANGE_DIED ? ch->gap_ns : ch->ts_ns);
	for (uint32_t i = 0; i < r->n && !f->status; i++) {
		const struct ctp_object *ob = ctp_objects_waited(f->follow.objects, r, i, w->start_ns);
		struct text name;
		if (!ctp_reason_is_object(&r->list[i]) || is_again(r, i))
			continue;
		add_row(f, CTP_SQL_WAITS, (uint64_t[]){WAIT(VALUE)});
		nth++;
	}
}

static void changed(void *arg, const struct ctp_change *ch)
{
	struct ctp_sql_facts *f = arg;
	struct ctp_coroutine *co = ch->co;
	struct ctp_sql_wait *w = ctp_sql_waits_of(&f->waits, co);
	bool suspended = ch->kind == CTP_CHANGE_SUSPEND;
	/* When the section ends, events of unknown coroutines are lost: the view says so. */
	if (w && ch->kind == CTP_CHANGE_LOST && !f->ends)
		w->lost = true;
	if (w && (suspended || ch->kind == CTP_CHANGE_RESUME || ch->kind == CTP_CHANGE_DIED)) {
		put_wait(f, co, w, ch);
		ctp_sql_waits_end(&f->waits, co);
	}
	if (suspended && !f->status && !ctp_sql_waits_begin(&f->waits, &f->follow, co))
		fail(f);
}

static void put_open_waits(struct ctp_sql_facts *f)
{
	const struct ctp_coroutine *co;
	for (uint32_t at = 0; !f->status && (co = ctp_follow_each(&f->follow, &at));)
		if (ctp_sql_waits_of(&f->waits, co))
			put_wait(f, co, ctp_sql_waits_of(&f->waits, co), NULL);
}

/* A row whose coro is 0 says that no hold which began by then is certain. */
#define HOLD(F) \
	F(TIME("ts"), hold->start_ns) \
	F(U64("coro", COROUTINE), hold->coro) \
	F(U64("probe_id", PROBE), hold->probe) \
	F(U64("pid", PROCESS), hold->pid) \
	F(ADDRESS("object"), hold->at) \
	F(TEXT("object_name"), text_value(&name, hold->name)) \
	F(U64("count", COUNT), (uint64_t)hold->most) \
	F(U64("site", SITE), hold->site) \
	F(NS("stop_ns"), hold->stopped ? hold->stop_ns : 0) \
	F(BOOL("stopped"), hold->stopped) \
	F(BOOL("open"), hold->open) \
	F(BOOL("sure"), hold->sure)
static const struct ctp_field holds[] = {HOLD(FIELD)};

static void put_hold(void *arg, const struct ctp_sql_hold *hold)
{
	struct text name;
	add_row(arg, CTP_SQL_HOLDS, (uint64_t[]){HOLD(VALUE)});
}

/* stride: the number of a coroutine, thread or process, divided by that, leaves the origin. */
#define ORIGIN(F) \
	F(U64("origin", ORIGIN), o->number) \
	F(U64("stride", NONE), o->stride) \
	F(NS("end_ns"), end_ns) \
	F(BOOL("complete"), complete)
static const struct ctp_field origins[] = {ORIGIN(FIELD)};

static void put_origins(struct ctp_sql_facts *f, const struct ctp_section_end *end)
{
	if (f->origins.failed)
		fail(f);
	for (uint32_t i = 0; i < f->origins.n && !f->status; i++) {
		const struct ctp_sql_origin *o = &f->origins.list[i];
		bool complete = o->state == CTP_ORIGIN_COMPLETE && !end->missing;
		uint64_t end_ns;
		if (o->stride && ctp_sql_end_ns(&o->end, &end_ns))
			add_row(f, CTP_SQL_ORIGINS, (uint64_t[]){ORIGIN(VALUE)});
	}
}

/*
 * The state before a program destroyed its coroutines in order to end, as in a report. Of a section with the rows of several runs the
 * last one counts.
 */
static void ended(void *arg, const struct ctp_follow_end *end)
{
	struct ctp_sql_facts *f = arg;
	if (!f->ends)
		return;
	if (f->follow.objects->failed || f->holds.failed)
		fail(f);
	put_open_waits(f);
	ctp_sql_holds_finish(&f->holds, end);
	if (!ctp_objects_any(f->follow.objects) || f->status)
		return;
	f->judged_ns = end->judged_ns;
	ctp_follow_revive(&f->follow, true);
	if (!f->ordinal && !ctp_judge_count_waiters(&f->follow, end->judged_ns))
		fail(f);
	each_object(f, put_object);
	each_object(f, put_holders);
	put_reasons(f);
	ctp_follow_revive(&f->follow, false);
}

/* They never travel in a stream, so no field is predicted. */
struct ctp_class *ctp_sql_fact_class(enum ctp_sql_fact fact)
{
	static const struct {
		const char *name;
		const struct ctp_field *fields;
		uint32_t nfields;
	} classes[CTP_SQL_FACTS] = {
		[CTP_SQL_OBJECTS] = {"objects_at_end", objects, COUNT(objects)},
		[CTP_SQL_HOLDERS] = {"holders_at_end", holders, COUNT(holders)},
		[CTP_SQL_REASONS] = {"reasons_at_end", reasons, COUNT(reasons)},
		[CTP_SQL_WAITS] = {"object_wait", waits, COUNT(waits)},
		[CTP_SQL_HOLDS] = {"hold_interval", holds, COUNT(holds)},
		[CTP_SQL_ORIGINS] = {"origins_at_end", origins, COUNT(origins)},
	};
	struct ctp_err ignored;
	return ctp_class_new(classes[fact].name, CTP_KIND_OTHER, classes[fact].fields, classes[fact].nfields, &ignored);
}

/* --- for the sink -------------------------------------------------------------------------------------------------------- */

struct ctp_sql_facts *ctp_sql_facts_new(struct ctp_sql *db, struct ctp_err *err)
{
	static const struct ctp_follow_ops ops = {.change = changed, .end = ended};
	struct ctp_sql_facts *f = calloc(1, sizeof *f);
	if (!f || ctp_follow_init(&f->follow, &ops, f, err)) {
		free(f);
		ctp_sql_no_memory(db, err);
		return NULL;
	}
	f->db = db;
	f->holds = (struct ctp_sql_holds){.put = put_hold, .arg = f, .follow = &f->follow};
	if (ctp_sql_holds_init(&f->holds))
		return f;
	ctp_sql_facts_free(f);
	ctp_sql_no_memory(db, err);
	return NULL;
}

void ctp_sql_facts_free(struct ctp_sql_facts *f)
{
	if (!f)
		return;
	drop_rows(f);
	ctp_sql_waits_fini(&f->waits);
	ctp_sql_holds_fini(&f->holds);
	ctp_follow_fini(&f->follow);
	ctp_sql_origins_fini(&f->origins);
	free(f);
}

void ctp_sql_facts_section(struct ctp_sql_facts *f, const struct ctp_section *sec)
{
	f->ordinal = sec->ordinal;
	ctp_follow_section(&f->follow, sec);
	ctp_sql_origins_begin(&f->origins, sec);
	ctp_sql_waits_clear(&f->waits);
	ctp_sql_holds_clear(&f->holds);
	f->status = CTP_OK;
}

/* The records from one to another, of which the last may be of an object. */
static void follow(struct ctp_sql_facts *f, const struct ctp_batch *batch, uint32_t from, uint32_t to)
{
	struct ctp_batch part = {.rec = batch->rec + from, .n = to - from, .late = batch->late};
	if (to > from)
		ctp_follow_records(&f->follow, &part);
}

enum ctp_status ctp_sql_facts_records(struct ctp_sql_facts *f, int64_t section, const struct ctp_batch *batch,
                                      struct ctp_err *err)
{
	uint32_t from = 0;
	f->section = section;
	f->err = err;
	for (uint32_t i = 0; i < batch->n && !f->status; i++) {
		const struct ctp_record *rec = &batch->rec[i];
		if (!ctp_sql_holds_wants(rec->cls))
			continue;
		follow(f, batch, from, i);
		ctp_sql_holds_before(&f->holds, rec);
		follow(f, batch, i, i + 1);
		ctp_sql_holds_after(&f->holds, rec);
		from = i + 1;
	}
	follow(f, batch, from, batch->n);
	ctp_sql_origins_records(&f->origins, batch);
	return f->status;
}

enum ctp_status ctp_sql_facts_end(struct ctp_sql_facts *f, int64_t section, const struct ctp_section_end *end, struct ctp_err *err)
{
	f->section = section;
	f->err = err;
	f->ends = true;
	ctp_follow_finish(&f->follow, end);
	put_origins(f, end);
	f->ends = false;
	if (!f->status)
		f->status = ctp_sql_facts_so_far(f, err);
	drop_rows(f);
	return f->status;
}
