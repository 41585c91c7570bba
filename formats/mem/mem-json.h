/* mem-json.h - memory's counts for programs: one JSON object on one line, described in ctp-mem(1). */
#ifndef CTP_MEM_JSON_H
#define CTP_MEM_JSON_H

#include "mem/mem-print.h"
#include "memory/mem-layout.h"

void ctp_mem_json(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l, const struct ctp_mem_style *style);

#endif
