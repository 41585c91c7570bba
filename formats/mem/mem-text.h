/* mem-text.h - memory's counts for a person at a terminal. */
#ifndef CTP_MEM_TEXT_H
#define CTP_MEM_TEXT_H

#include "mem/mem-print.h"
#include "memory/mem-layout.h"

void ctp_mem_text(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l, const struct ctp_mem_style *style);

#endif
