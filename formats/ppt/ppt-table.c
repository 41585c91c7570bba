/* ppt-table.c - see ppt-table.h. */
#include "ppt/ppt-table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/visible.h"

enum { CELL_BYTES = 4096, WIDE = 48 };

static bool grow(struct ctp_ppt_table *t)
{
	size_t room = t->room ? 2 * t->room : 16;
	void *row = realloc(t->row, room * sizeof *t->row);
	if (!row)
		return false;
	t->row = row;
	t->room = room;
	return true;
}

void ctp_ppt_table_add(struct ctp_ppt_table *t, const char *const cells[CTP_PPT_TABLE_COLUMNS])
{
	char text[CELL_BYTES];
	if (t->n == t->room && !grow(t)) {
		t->failed = true;
		return;
	}
	for (size_t k = 0; k < CTP_PPT_TABLE_COLUMNS; k++) {
		ctp_visible(text, sizeof text, cells[k]);
		t->row[t->n][k] = strdup(text);
		t->failed |= !t->row[t->n][k];
	}
	t->n++;
}

static int width_of(const struct ctp_ppt_table *t, size_t column)
{
	size_t most = 0;
	for (size_t i = 0; i < t->n; i++) {
		size_t len = strlen(t->row[i][column]);
		most = len > most && len <= WIDE ? len : most;
	}
	return (int)most;
}

enum ctp_status ctp_ppt_table_put(const struct ctp_ppt_table *t, bool numeric, struct ctp_output *out, struct ctp_err *err)
{
	int width[CTP_PPT_TABLE_COLUMNS];
	if (t->failed)
		return ctp_err_set(err, "out of memory");
	for (size_t k = 0; k < CTP_PPT_TABLE_COLUMNS; k++)
		width[k] = k + 1 < CTP_PPT_TABLE_COLUMNS ? width_of(t, k) : 0;
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < CTP_PPT_TABLE_COLUMNS; k++) {
			char cell[CELL_BYTES + WIDE];
			int len = snprintf(cell, sizeof cell, numeric && !k ? "%*s" : "%-*s", width[k], t->row[i][k]);
			cell[len++] = k + 1 < CTP_PPT_TABLE_COLUMNS ? ' ' : '\n';
			ctp_output_put(out, cell, (size_t)len);
		}
	return CTP_OK;
}

void ctp_ppt_table_fini(struct ctp_ppt_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < CTP_PPT_TABLE_COLUMNS; k++)
			free(t->row[i][k]);
	free(t->row);
	*t = (struct ctp_ppt_table){0};
}
