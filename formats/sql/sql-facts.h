/*
 * sql-facts.h - what coroutines wait for when a section ends, and which of them hold it: rows that no record of the stream has.
 *
 * Who holds a lock depends on the order of records of several classes, on what was lost between them, and on whether another object
 * has the address by now. That is for objects.h, which ctp-report asks too; SQL sees each table for itself. So the sink follows the
 * coroutines while it writes, and puts what is known at the end into tables, of classes that are declared here:
 *
 *	objects_at_end   one row for each object that is there
 *	holders_at_end   for each coroutine that holds one, if all holders are known
 *	reasons_at_end   for each known reason of each wait that goes on
 *
 * Their rows have no null: the views objects, holders and reasons show what is not known as that.
 */
#ifndef CTP_SQL_FACTS_H
#define CTP_SQL_FACTS_H

#include "sql/sql.h"

enum ctp_sql_fact { CTP_SQL_OBJECTS, CTP_SQL_HOLDERS, CTP_SQL_REASONS, CTP_SQL_FACTS };

/* The order of values in a row. */
enum { CTP_SQL_OBJECT_PID, CTP_SQL_OBJECT_AT, CTP_SQL_OBJECT_KIND, CTP_SQL_OBJECT_NAME, CTP_SQL_OBJECT_SITE, CTP_SQL_OBJECT_KNOWN,
       CTP_SQL_OBJECT_AVAILABLE, CTP_SQL_OBJECT_ROOM_KNOWN, CTP_SQL_OBJECT_ROOM, CTP_SQL_OBJECT_TOTAL, CTP_SQL_OBJECT_CLOSED,
       CTP_SQL_OBJECT_OWNED, CTP_SQL_OBJECT_HOLDERS_KNOWN, CTP_SQL_OBJECT_HOLDERS, CTP_SQL_OBJECT_HELD, CTP_SQL_OBJECT_WAITERS,
       CTP_SQL_OBJECT_LONGEST, CTP_SQL_OBJECT_FIELDS };
enum { CTP_SQL_HOLDER_PID, CTP_SQL_HOLDER_AT, CTP_SQL_HOLDER_NAME, CTP_SQL_HOLDER_CORO, CTP_SQL_HOLDER_PROBE, CTP_SQL_HOLDER_COUNT,
       CTP_SQL_HOLDER_ALIVE, CTP_SQL_HOLDER_FIELDS };
enum { CTP_SQL_REASON_CORO, CTP_SQL_REASON_PROBE, CTP_SQL_REASON_SINCE, CTP_SQL_REASON_PID, CTP_SQL_REASON_WHAT,
       CTP_SQL_REASON_DEADLINE, CTP_SQL_REASON_FD, CTP_SQL_REASON_AT, CTP_SQL_REASON_NAME, CTP_SQL_REASON_COUNT, CTP_SQL_REASON_SHARED,
       CTP_SQL_REASON_TIMED, CTP_SQL_REASON_CANCELLABLE, CTP_SQL_REASON_RESTS, CTP_SQL_REASON_MORE, CTP_SQL_REASON_CERTAIN,
       CTP_SQL_REASON_FIELDS };

/* Of objects_at_end.kind, as ctp-report calls it. */
enum { CTP_SQL_KIND_LOCK = 1, CTP_SQL_KIND_PERMITS, CTP_SQL_KIND_QUEUE, CTP_SQL_KIND_EVENT, CTP_SQL_KIND_BARRIER, CTP_SQL_KIND_OBJECT };

/* The class of such rows, the caller's to free. Null: out of memory. */
struct ctp_class *ctp_sql_fact_class(enum ctp_sql_fact fact);

struct ctp_sql_facts;

/* What the sink is given. db must outlive it. Null: err. */
struct ctp_sql_facts *ctp_sql_facts_new(struct ctp_sql *db, struct ctp_err *err);
void ctp_sql_facts_free(struct ctp_sql_facts *f); /* null: nothing */
void ctp_sql_facts_section(struct ctp_sql_facts *f, const struct ctp_section *sec);
void ctp_sql_facts_records(struct ctp_sql_facts *f, const struct ctp_batch *batch);

/* Puts the rows of the section, whose number this is, into their tables. */
enum ctp_status ctp_sql_facts_end(struct ctp_sql_facts *f, int64_t section, const struct ctp_section_end *end, struct ctp_err *err);

#endif
