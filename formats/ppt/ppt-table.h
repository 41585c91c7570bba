/*
 * ppt-table.h - rows of texts for a terminal, whose columns are as wide as what they hold.
 */
#ifndef CTP_PPT_TABLE_H
#define CTP_PPT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "io/output.h"

enum { CTP_PPT_TABLE_COLUMNS = 4 };

struct ctp_ppt_table {
	char *(*row)[CTP_PPT_TABLE_COLUMNS];
	size_t n, room;
	bool failed; /* out of memory */
};

/* Begins as zeros. The texts are copied, and made safe to show. */
void ctp_ppt_table_add(struct ctp_ppt_table *t, const char *const cells[CTP_PPT_TABLE_COLUMNS]);

/* All rows; with numeric, the first column is aligned to the right. A cell beyond 48 bytes moves its own row and no other. */
enum ctp_status ctp_ppt_table_put(const struct ctp_ppt_table *t, bool numeric, struct ctp_output *out, struct ctp_err *err);
void ctp_ppt_table_fini(struct ctp_ppt_table *t);

#endif
