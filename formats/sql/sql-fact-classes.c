/* sql-fact-classes.c - the classes of the rows that sql-facts.h tells of. They never travel in a stream, so no field is predicted. */
#include "sql/sql-facts.h"
#include "stream/events.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define U64(n, r) {.name = (n), .type = CTP_U64, .role = CTP_ROLE_##r}
#define ADDRESS(n) {.name = (n), .type = CTP_U64, .role = CTP_ROLE_ADDRESS, .flags = CTP_FIELD_HEX}
#define NS(n) {.name = (n), .type = CTP_U64, .unit = "ns"} /* without the role, or the first of them would be the row's own time */
#define BOOL(n) {.name = (n), .type = CTP_BOOL}
#define TEXT(n) {.name = (n), .type = CTP_STRING}
#define ENUM(n, l) {.name = (n), .type = CTP_ENUM, .labels = (l), .nlabels = COUNT(l)}

static const struct ctp_label kinds[] = {
	{CTP_SQL_KIND_LOCK, "lock"}, {CTP_SQL_KIND_PERMITS, "permits"}, {CTP_SQL_KIND_QUEUE, "queue"}, {CTP_SQL_KIND_EVENT, "event"},
	{CTP_SQL_KIND_BARRIER, "barrier"}, {CTP_SQL_KIND_OBJECT, "object"},
};

/* As in a record of a reason. */
static const struct ctp_label waits_for[] = {
	{CTP_WAITS_TIMER, "timer"}, {CTP_WAITS_DESCRIPTOR, "descriptor"}, {CTP_WAITS_LOCK, "lock"}, {CTP_WAITS_PERMITS, "permits"},
	{CTP_WAITS_ITEM, "item"}, {CTP_WAITS_ROOM, "room"}, {CTP_WAITS_EVENT, "event"}, {CTP_WAITS_BARRIER, "barrier"},
	{CTP_WAITS_OTHER, "other"},
};
_Static_assert(COUNT(waits_for) == CTP_WAITS_COUNT - 1, "what a coroutine waits for has no label");

static const struct ctp_field objects[] = {
	[CTP_SQL_OBJECT_PID] = U64("pid", PROCESS),
	[CTP_SQL_OBJECT_AT] = ADDRESS("object"),
	[CTP_SQL_OBJECT_KIND] = ENUM("kind", kinds),
	[CTP_SQL_OBJECT_NAME] = TEXT("name"),
	[CTP_SQL_OBJECT_SITE] = TEXT("made_site"),
	[CTP_SQL_OBJECT_KNOWN] = BOOL("available_known"),
	[CTP_SQL_OBJECT_AVAILABLE] = U64("available", COUNT),
	[CTP_SQL_OBJECT_ROOM_KNOWN] = BOOL("room_known"),
	[CTP_SQL_OBJECT_ROOM] = U64("room", COUNT),
	[CTP_SQL_OBJECT_TOTAL] = U64("total", COUNT),
	[CTP_SQL_OBJECT_CLOSED] = BOOL("closed"),
	[CTP_SQL_OBJECT_OWNED] = BOOL("owned"),
	[CTP_SQL_OBJECT_HOLDERS_KNOWN] = BOOL("holders_known"),
	[CTP_SQL_OBJECT_HOLDERS] = U64("holders", COUNT),
	[CTP_SQL_OBJECT_HELD] = U64("held", COUNT),
	[CTP_SQL_OBJECT_WAITERS] = U64("waiters", COUNT),
	[CTP_SQL_OBJECT_LONGEST] = NS("longest_ns"),
};

static const struct ctp_field holders[] = {
	[CTP_SQL_HOLDER_PID] = U64("pid", PROCESS),
	[CTP_SQL_HOLDER_AT] = ADDRESS("object"),
	[CTP_SQL_HOLDER_NAME] = TEXT("object_name"),
	[CTP_SQL_HOLDER_CORO] = U64("coro", COROUTINE),
	[CTP_SQL_HOLDER_PROBE] = U64("probe_id", PROBE),
	[CTP_SQL_HOLDER_COUNT] = U64("count", COUNT),
	[CTP_SQL_HOLDER_ALIVE] = BOOL("alive"),
};

static const struct ctp_field reasons[] = {
	[CTP_SQL_REASON_CORO] = U64("coro", COROUTINE),
	[CTP_SQL_REASON_PROBE] = U64("probe_id", PROBE),
	[CTP_SQL_REASON_SINCE] = NS("since_ns"),
	[CTP_SQL_REASON_PID] = U64("pid", PROCESS),
	[CTP_SQL_REASON_WHAT] = ENUM("what", waits_for),
	[CTP_SQL_REASON_DEADLINE] = NS("deadline_ns"),
	[CTP_SQL_REASON_FD] = {.name = "fd", .type = CTP_I32},
	[CTP_SQL_REASON_AT] = ADDRESS("object"),
	[CTP_SQL_REASON_NAME] = TEXT("object_name"),
	[CTP_SQL_REASON_COUNT] = U64("count", COUNT),
	[CTP_SQL_REASON_SHARED] = BOOL("shared"),
	[CTP_SQL_REASON_TIMED] = BOOL("timed"),
	[CTP_SQL_REASON_CANCELLABLE] = BOOL("cancellable"),
	[CTP_SQL_REASON_RESTS] = BOOL("rests"),
	[CTP_SQL_REASON_MORE] = BOOL("more"),
	[CTP_SQL_REASON_CERTAIN] = BOOL("certain"),
};

_Static_assert(COUNT(objects) == CTP_SQL_OBJECT_FIELDS && COUNT(holders) == CTP_SQL_HOLDER_FIELDS && COUNT(reasons) == CTP_SQL_REASON_FIELDS,
               "a field has no column");

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
	};
	struct ctp_err ignored;
	return ctp_class_new(classes[fact].name, CTP_KIND_OTHER, classes[fact].fields, classes[fact].nfields, &ignored);
}
