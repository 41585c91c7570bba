/* ppt-spool.c - packets by their headers, then frames by their classes. */
#include "ppt/ppt-spool.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/varint.h"
#include "stream/packet.h"
#include "stream/reader.h"

static const char what[] = "a temporary file, whose folder TMPDIR can name";

static size_t whole_bytes(const uint8_t *data, size_t len)
{
	size_t at = 0;
	while (len - at >= CTP_PACKET_HEADER && !memcmp(data + at, CTP_PACKET_MAGIC, sizeof CTP_PACKET_MAGIC - 1)) {
		size_t packet = CTP_PACKET_HEADER + (size_t)ctp_load_u32(data + at + CTP_PACKET_PAYLOAD);
		if (packet > len - at)
			break;
		at += packet;
	}
	return at;
}

static uint64_t frames_in(const struct ctp_batch *batch)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < batch->n; i++)
		n += ctp_class_field(batch->rec[i].cls, "ppt_place") >= 0;
	return n;
}

/* Of each section. Closes the input. */
static enum ctp_status count(struct ctp_input *in, uint64_t *frames, size_t n, struct ctp_err *err)
{
	struct ctp_item item;
	enum ctp_status status = CTP_OK;
	size_t sections = 0;
	struct ctp_reader *r = ctp_reader_new(in, NULL, err);
	while (r && !(status = ctp_reader_next(r, &item, err))) {
		sections += item.kind == CTP_ITEM_SECTION;
		if (item.kind == CTP_ITEM_RECORDS && sections && sections <= n)
			frames[sections - 1] += frames_in(&item.batch);
	}
	ctp_reader_free(r);
	ctp_input_close(in);
	return r && status == CTP_EOF ? CTP_OK : CTP_FAILED;
}

void ctp_ppt_spool_count(const char *path, uint64_t *frames, size_t n)
{
	struct stat st;
	struct ctp_input in;
	struct ctp_err ignored;
	memset(frames, 0, n * sizeof *frames);
	if (!stat(path, &st) && S_ISREG(st.st_mode) && !ctp_input_open(&in, path, &ignored))
		count(&in, frames, n, &ignored);
}

enum ctp_status ctp_ppt_spool_cut(int fd, uint64_t *frames, struct ctp_err *err)
{
	struct stat st;
	*frames = 0;
	if (fstat(fd, &st))
		return ctp_err_sys(err, "%s", what);
	if (!st.st_size)
		return CTP_OK;
	size_t bytes = (size_t)st.st_size;
	uint8_t *data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return ctp_err_sys(err, "%s", what);
	struct ctp_input in;
	size_t whole = whole_bytes(data, bytes);
	ctp_input_mem(&in, data, whole);
	enum ctp_status status = whole ? count(&in, frames, 1, err) : CTP_OK;
	munmap(data, bytes);
	if (!status && ftruncate(fd, (off_t)whole))
		status = ctp_err_sys(err, "%s", what);
	return status;
}
