/* ppt-kept.c - see ppt-kept.h. */
#include "ppt/ppt-kept.h"

#include <string.h>
#include <sys/stat.h>

#include "stream/reader.h"

static uint64_t frames_in(const struct ctp_batch *batch)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < batch->n; i++)
		n += batch->rec[i].cls->kind == CTP_KIND_OTHER && ctp_class_field(batch->rec[i].cls, "ppt_seqno") >= 0 &&
		     strcmp(batch->rec[i].cls->name, "ppt_late");
	return n;
}

uint64_t ctp_ppt_kept(const char *path)
{
	struct stat st;
	struct ctp_input in;
	struct ctp_item item;
	struct ctp_err ignored;
	uint64_t frames = 0;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || ctp_input_open(&in, path, &ignored))
		return 0;
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &ignored);
	while (r && !ctp_reader_next(r, &item, &ignored))
		if (item.kind == CTP_ITEM_RECORDS)
			frames += frames_in(&item.batch);
	ctp_reader_free(r);
	ctp_input_close(&in);
	return frames;
}
