/* mem-names.h - the names of members, from debug information. */
#ifndef CTP_MEM_NAMES_H
#define CTP_MEM_NAMES_H

#include "memory/mem.h"
#include "symbols/members.h"

/* How debug information lays out the types that it knows. */
struct ctp_mem_layouts {
	struct ctp_member *member; /* `want` is the type; by type and offset */
	uint32_t n, room;
	bool full; /* there are more */
};

/* All zeros is empty. */
void ctp_mem_layouts_fini(struct ctp_mem_layouts *l);

/* After ctp_mem_end: finds the layouts of the types in the file, divides accesses by them, and names the members. */
enum ctp_status ctp_mem_name(struct ctp_mem *m, struct ctp_mem_layouts *l, const char *path, struct ctp_err *err);

/* The members of a type; *n is 0 where the type is not known. */
const struct ctp_member *ctp_mem_layout(const struct ctp_mem_layouts *l, uint32_t type, uint32_t *n);

#endif
