/* sql-facts.c - see sql-facts.h. */
#include "sql/sql-facts.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/follow.h"
#include "analyse/judge-object.h"
#include "analyse/roles.h"
#include "stream/events.h"

struct ctp_sql_facts {
	struct ctp_follow follow;
	struct ctp_sql *db;
	bool ordinal; /* the section has no clock */

	/* While rows are written; else err is null. */
	int64_t section;
	struct ctp_class *cls;
	struct ctp_sql_rows *rows;
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
	if (f->status)
		return;
	f->cls = ctp_sql_fact_class(fact);
	if (!f->cls) {
		fail(f);
		return;
	}
	int64_t id = ctp_sql_class(f->db, f->cls, f->err);
	if (id < 0 || !(f->rows = f->db->ops->rows(f->db, f->cls, id, f->err)))
		f->status = CTP_FAILED;
}

static void add_row(struct ctp_sql_facts *f, const uint64_t *val)
{
	if (!f->status)
		f->status = f->db->ops->add(f->db, f->rows, f->section, val, f->err);
}

static void end_rows(struct ctp_sql_facts *f)
{
	if (!f->status)
		f->status = f->db->ops->end(f->db, f->rows, f->err);
	f->db->ops->drop(f->rows);
	ctp_class_free(f->cls);
	f->rows = NULL;
	f->cls = NULL;
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
	static const uint8_t kinds[CTP_WAITS_COUNT] = {
		[CTP_WAITS_LOCK] = CTP_SQL_KIND_LOCK, [CTP_WAITS_PERMITS] = CTP_SQL_KIND_PERMITS, [CTP_WAITS_ITEM] = CTP_SQL_KIND_QUEUE,
		[CTP_WAITS_ROOM] = CTP_SQL_KIND_QUEUE, [CTP_WAITS_EVENT] = CTP_SQL_KIND_EVENT, [CTP_WAITS_BARRIER] = CTP_SQL_KIND_BARRIER,
	};
	return ob->what < CTP_WAITS_COUNT && kinds[ob->what] ? kinds[ob->what] : CTP_SQL_KIND_OBJECT;
}

static void put_object(struct ctp_sql_facts *f, const struct ctp_object *ob)
{
	struct text name, site;
	add_row(f, (uint64_t[CTP_SQL_OBJECT_FIELDS]){
		[CTP_SQL_OBJECT_PID] = ob->pid,
		[CTP_SQL_OBJECT_AT] = ob->at,
		[CTP_SQL_OBJECT_KIND] = kind_of(ob),
		[CTP_SQL_OBJECT_NAME] = text_value(&name, ob->name),
		[CTP_SQL_OBJECT_SITE] = text_value(&site, ob->site ? ctp_follow_text(&f->follow, ob->site) : NULL),
		[CTP_SQL_OBJECT_KNOWN] = ob->stock.known,
		[CTP_SQL_OBJECT_AVAILABLE] = ob->stock.known ? ob->stock.available : 0,
		[CTP_SQL_OBJECT_ROOM_KNOWN] = ob->room.known,
		[CTP_SQL_OBJECT_ROOM] = ob->room.known ? ob->room.available : 0,
		[CTP_SQL_OBJECT_TOTAL] = ob->total,
		[CTP_SQL_OBJECT_CLOSED] = ob->closed_ns > 0,
		[CTP_SQL_OBJECT_OWNED] = ob->owned,
		[CTP_SQL_OBJECT_HOLDERS_KNOWN] = ob->holders_known,
		[CTP_SQL_OBJECT_HOLDERS] = ob->nholders,
		[CTP_SQL_OBJECT_HELD] = held(ob),
		[CTP_SQL_OBJECT_WAITERS] = ob->waiters,
		[CTP_SQL_OBJECT_LONGEST] = ob->longest_ns,
	});
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

static void put_holders(struct ctp_sql_facts *f, const struct ctp_object *ob)
{
	for (uint32_t i = 0; i < ob->nholders && !f->status; i++) {
		const struct ctp_holder *h = &ob->holders[i];
		const struct ctp_coroutine *co = ctp_follow_find(&f->follow, h->coro);
		struct text name;
		add_row(f, (uint64_t[CTP_SQL_HOLDER_FIELDS]){
			[CTP_SQL_HOLDER_PID] = ob->pid,
			[CTP_SQL_HOLDER_AT] = ob->at,
			[CTP_SQL_HOLDER_NAME] = text_value(&name, ob->name),
			[CTP_SQL_HOLDER_CORO] = h->coro,
			[CTP_SQL_HOLDER_PROBE] = co ? co->probe : 0,
			[CTP_SQL_HOLDER_COUNT] = (uint64_t)h->count,
			[CTP_SQL_HOLDER_ALIVE] = co && co->state != CTP_DEAD,
		});
	}
}

static void put_reason(struct ctp_sql_facts *f, const struct ctp_coroutine *co, const struct ctp_reasons *r, const struct ctp_reason_of *reason)
{
	bool timer = reason->what == CTP_WAITS_TIMER, fd = reason->what == CTP_WAITS_DESCRIPTOR;
	const struct ctp_object *ob = timer || fd ? NULL : ctp_objects_find(f->follow.objects, r->pid, reason->value);
	struct text name;
	add_row(f, (uint64_t[CTP_SQL_REASON_FIELDS]){
		[CTP_SQL_REASON_CORO] = co->id,
		[CTP_SQL_REASON_PROBE] = co->probe,
		[CTP_SQL_REASON_SINCE] = ctp_coroutine_waits_since(co),
		[CTP_SQL_REASON_PID] = r->pid,
		[CTP_SQL_REASON_WHAT] = reason->what,
		[CTP_SQL_REASON_DEADLINE] = timer ? reason->value : 0,
		[CTP_SQL_REASON_FD] = (uint64_t)(fd ? (int64_t)(int32_t)reason->value : -1),
		[CTP_SQL_REASON_AT] = timer || fd ? 0 : reason->value,
		[CTP_SQL_REASON_NAME] = text_value(&name, ob ? ob->name : NULL),
		[CTP_SQL_REASON_COUNT] = reason->count,
		[CTP_SQL_REASON_SHARED] = reason->marks & CTP_REASON_SHARED ? 1 : 0,
		[CTP_SQL_REASON_TIMED] = reason->marks & CTP_REASON_TIMED ? 1 : 0,
		[CTP_SQL_REASON_CANCELLABLE] = reason->marks & CTP_REASON_CANCELLABLE ? 1 : 0,
		[CTP_SQL_REASON_RESTS] = reason->marks & CTP_REASON_RESTS ? 1 : 0,
		[CTP_SQL_REASON_MORE] = r->more,
		/* A reason of it, or its wake, may be among records that are missing since it ran. */
		[CTP_SQL_REASON_CERTAIN] = !(co->flags & CTP_CO_CONFLICT) && (!f->follow.missed_ns || f->follow.missed_ns < co->resumed_ns),
	});
}

/* Whether a coroutine in a gap still waits is not known. */
static void put_reasons(struct ctp_sql_facts *f)
{
	const struct ctp_coroutine *co;
	begin_rows(f, CTP_SQL_REASONS);
	for (uint32_t at = 0; !f->status && (co = ctp_follow_each(&f->follow, &at));) {
		bool waits = co->state == CTP_SUSPENDED && !(co->flags & CTP_CO_TAIL) && co->next;
		const struct ctp_reasons *r = waits ? ctp_objects_reasons(f->follow.objects, co->id, co->next - 1) : NULL;
		for (uint32_t i = 0; r && i < r->n; i++)
			put_reason(f, co, r, &r->list[i]);
	}
	end_rows(f);
}

/*
 * The state before a program destroyed its coroutines in order to end, as in a report. Of a section with the rows of several runs the
 * last one counts: there err is null before that.
 */
static void ended(void *arg, const struct ctp_follow_end *end)
{
	struct ctp_sql_facts *f = arg;
	if (!f->err)
		return;
	if (f->follow.objects->failed)
		fail(f);
	if (!ctp_objects_any(f->follow.objects) || f->status)
		return;
	ctp_follow_revive(&f->follow, true);
	if (!f->ordinal && !ctp_judge_count_waiters(&f->follow, end->judged_ns))
		fail(f);
	begin_rows(f, CTP_SQL_OBJECTS);
	each_object(f, put_object);
	end_rows(f);
	begin_rows(f, CTP_SQL_HOLDERS);
	each_object(f, put_holders);
	end_rows(f);
	put_reasons(f);
	ctp_follow_revive(&f->follow, false);
}

/* --- for the sink -------------------------------------------------------------------------------------------------------- */

struct ctp_sql_facts *ctp_sql_facts_new(struct ctp_sql *db, struct ctp_err *err)
{
	static const struct ctp_follow_ops ops = {.end = ended};
	struct ctp_sql_facts *f = calloc(1, sizeof *f);
	if (!f || ctp_follow_init(&f->follow, &ops, f, err)) {
		free(f);
		ctp_sql_no_memory(db, err);
		return NULL;
	}
	f->db = db;
	return f;
}

void ctp_sql_facts_free(struct ctp_sql_facts *f)
{
	if (!f)
		return;
	ctp_follow_fini(&f->follow);
	free(f);
}

void ctp_sql_facts_section(struct ctp_sql_facts *f, const struct ctp_section *sec)
{
	f->ordinal = sec->ordinal;
	ctp_follow_section(&f->follow, sec);
}

void ctp_sql_facts_records(struct ctp_sql_facts *f, const struct ctp_batch *batch) { ctp_follow_records(&f->follow, batch); }

enum ctp_status ctp_sql_facts_end(struct ctp_sql_facts *f, int64_t section, const struct ctp_section_end *end, struct ctp_err *err)
{
	f->section = section;
	f->status = CTP_OK;
	f->err = err;
	ctp_follow_finish(&f->follow, end);
	f->err = NULL;
	return f->status;
}
