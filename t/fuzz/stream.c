/*
 * stream.c - whatever bytes come, the reader of the raw stream survives them.
 *
 * The first byte says how the rest is taken: as a stream, or as payloads that are given headers with the right checksums, since
 * no fuzzer would get past those. Everything that is delivered is touched, and written again through the writer.
 * Covers: lib/stream
 */
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "stream/codec.h"
#include "stream/packet.h"
#include "stream/order.h"
#include "stream/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool put(void *arg, const void *packet, size_t len) { (void)packet; *(size_t *)arg += len; return true; }

static unsigned touch(const struct ctp_record *rec)
{
	unsigned sum = 0;
	for (uint32_t i = 0; i < rec->cls->nfields; i++)
		if (ctp_type_is_text(rec->cls->fields[i].type)) {
			const struct ctp_str *s = ctp_str_val(rec->val[i]);
			for (uint32_t j = 0; j <= s->len; j++)
				sum += (unsigned char)s->data[j];
		} else {
			sum += (unsigned)rec->val[i];
		}
	return sum;
}

static void read_stream(const uint8_t *data, size_t size)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	size_t written = 0;
	unsigned sum = 0;
	ctp_input_mem(&in, data, size);
	struct ctp_reader *r = ctp_reader_new(&in, 0, &err);
	struct ctp_order *o = ctp_order_new(r, 1 << 20, &err);
	struct ctp_writer *w = ctp_writer_new(put, &written, &err);
	if (!r || !o || !w)
		abort();
	while (!ctp_order_next(o, &item, &err)) {
		if (item.kind == CTP_ITEM_RECORDS) {
			for (uint32_t i = 0; i < item.batch.n; i++)
				sum += touch(&item.batch.rec[i]);
			ctp_writer_records(w, &item.batch);
		} else if (item.kind == CTP_ITEM_SECTION) {
			ctp_writer_begin(w, item.section);
		} else if (item.kind == CTP_ITEM_END) {
			ctp_writer_end(w, true);
		}
	}
	__asm__ volatile("" : : "r"(sum)); /* so that touching is not left out */
	ctp_writer_free(w);
	ctp_order_free(o);
	ctp_reader_free(r);
	ctp_input_close(&in);
}

/*
 * Payloads of at most 255 x 16 bytes, each after a byte for its length, one for its count of records and two for each of its first
 * lanes, become packets.
 */
static size_t wrap(const uint8_t *data, size_t size, uint8_t *out)
{
	size_t n = 0;
	for (uint64_t number = 0; size >= 6; number++) {
		size_t len = (size_t)data[0] * 16, records = data[1];
		len = len < size - 6 ? len : size - 6;
		size_t heads = data[2] | (size_t)data[3] << 8, keys = data[4] | (size_t)data[5] << 8;
		heads = heads < len ? heads : len;
		keys = keys < len - heads ? keys : len - heads;
		data += 6, size -= 6;
		uint8_t *h = out + n;
		memset(h, 0, CTP_PACKET_HEADER);
		memcpy(h, CTP_PACKET_MAGIC, 8);
		memcpy(h + CTP_PACKET_HEADER, data, len);
		ctp_store_u32(h + CTP_PACKET_PAYLOAD_CRC, ctp_crc32c(0, data, len));
		ctp_store_u32(h + CTP_PACKET_PAYLOAD, (uint32_t)len);
		ctp_store_u32(h + CTP_PACKET_RECORDS, (uint32_t)records);
		ctp_store_u24(h + CTP_PACKET_HEADS, (uint32_t)heads);
		ctp_store_u24(h + CTP_PACKET_KEYS, (uint32_t)keys);
		ctp_store_u64(h + CTP_PACKET_NUMBER, number);
		h[CTP_PACKET_VERSION] = CTP_STREAM_VERSION;
		ctp_store_u32(h + CTP_PACKET_HEADER_CRC,
		              ctp_crc32c(0, h + CTP_PACKET_PAYLOAD_CRC, CTP_PACKET_HEADER - CTP_PACKET_PAYLOAD_CRC));
		n += CTP_PACKET_HEADER + len;
		data += len, size -= len;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1) {
		read_stream(data + 1, size - 1);
		return 0;
	}
	uint8_t *out = malloc(size + (size / 2 + 1) * CTP_PACKET_HEADER);
	if (!out)
		return 0;
	size_t n = wrap(data + 1, size - 1, out);
	read_stream(out, n);
	free(out);
	return 0;
}
