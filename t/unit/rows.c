/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* rows.c - rows that wait: they are written in the order of time, with marks that are true, and without those that are spoilt. */
#include "collect/rows.h"

#include "packets.h"
#include "stream/reader.h"
#include "tap.h"

enum { ROWS = 3000, SPOILT = 100, PROMISE = 1500, NOW = 5000 };

struct reading {
	uint64_t conflicts, backwards, spoilt, marks, mark_ns;
	char names[64];
};

static struct reading read_rows(const struct mem *m)
{
	struct reading r = {0};
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err err;
	uint64_t last_ns = 0;
	ctp_input_mem(&in, m->data, m->len);
	struct ctp_reader *reader = ctp_reader_new(&in, NULL, &err);
	while (!ctp_reader_next(reader, &item, &err)) {
		if (item.kind == CTP_ITEM_MARK) {
			r.marks++;
			r.mark_ns = item.mark_ns;
		}
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++) {
			const struct ctp_record *rec = &item.batch.rec[i];
			r.backwards += rec->ts_ns < last_ns;
			last_ns = rec->ts_ns;
			if (!strcmp(rec->cls->name, "name")) {
				strcat(strcat(r.names, " "), ctp_str_val(rec->val[CTP_NAME_TEXT])->data);
				continue;
			}
			r.conflicts++;
			r.spoilt += rec->val[CTP_CONFLICT_CORO] == SPOILT;
		}
	}
	ctp_reader_free(reader);
	return r;
}

static void put_name(struct ctp_rows *rows, const char *name)
{
	ctp_rows_reserve(rows, (uint32_t)strlen(name));
	uint64_t text = ctp_rows_string(rows, name, (uint32_t)strlen(name));
	CTP_ROWS_PUT(rows, CTP_NAME, ROWS + 1, [CTP_NAME_PROBE] = 0, [CTP_NAME_CORO] = 0, [CTP_NAME_TEXT] = text);
}

int main(void)
{
	struct ctp_rows rows;
	struct ctp_err err;
	struct mem m = {0};
	if (ctp_rows_init(&rows, &err))
		exit(1);
	rows.writer = begin(&m, "a");
	ctp_rows_look(&rows, NOW);
	rows.promise_ns = PROMISE;
	for (uint64_t ts = ROWS; ts; ts--) {
		ctp_rows_conflict(&rows, 1, ts, ts);
		if (ts == SPOILT)
			rows.sort.event[rows.sort.count - 1] = CTP_ROWS_SPOILT;
	}
	put_name(&rows, "first");
	put_name(&rows, "second");
	ctp_rows_settle(&rows);
	is_u64(ctp_rows_unsettled(&rows), 0, "nothing waits after a settle");
	ctp_writer_flush(rows.writer);
	struct reading r = read_rows(&m);
	ok(r.conflicts == ROWS - 1 && !r.spoilt, "all rows are written but the one that is spoilt");
	is_u64(r.backwards, 0, "in the order of time");
	is(r.names, " first second", "each with its own text");
	ok(r.marks > 1 && r.mark_ns == PROMISE, "there are marks between them, up to what is promised");

	rows.promise_ns = NOW;
	ctp_rows_settle(&rows);
	rows.promise_ns = NOW + 1;
	ctp_rows_settle(&rows);
	ctp_writer_end(rows.writer, true);
	struct reading later = read_rows(&m);
	ok(later.marks == r.marks + 1 && later.mark_ns == NOW, "after the last row comes one mark, and no other");
	ctp_writer_free(rows.writer);
	ctp_rows_fini(&rows);
	free(m.data);
	return done_testing();
}
