/* jsonl-meta.h - the lines of the full form that are not records: what they say. The line's type is known. */
#ifndef CTP_JSONL_META_H
#define CTP_JSONL_META_H

#include "record.h"

/* Each takes scratch, with room for every text of the line. */

/* Adds the attributes to sec. */
enum ctp_status ctp_jsonl_read_section(const char *p, const char *end, char *scratch, struct ctp_section *sec,
                                       struct ctp_err *why);

/* The class, for the caller to free; null: why. */
struct ctp_class *ctp_jsonl_read_schema(const char *p, const char *end, char *scratch, struct ctp_err *why);

enum ctp_status ctp_jsonl_read_end(const char *p, const char *end, char *scratch, bool *complete, struct ctp_err *why);

#endif
