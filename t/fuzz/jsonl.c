/*
 * Any bytes as JSONL, to a stream and to the full form: that must not crash, and from then on nothing may change any more. What
 * the full form says comes back byte for byte, and none of its rows is rejected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../formats/jsonl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	uint8_t *data;
	size_t len, cap;
};

static bool append(void *arg, const void *data, size_t len)
{
	struct bytes *b = arg;
	if (len > b->cap - b->len) {
		b->cap = 2 * b->cap + len;
		b->data = realloc(b->data, b->cap);
		if (!b->data)
			abort();
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
	return true;
}

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static struct ctp_source_stats from_jsonl(const void *data, size_t size, struct bytes *stream)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_writer *w = ctp_writer_new(append, stream, &err);
	struct ctp_source *source = ctp_jsonl_source("fuzz", &err);
	must(w && source, "no memory");
	stream->len = 0;
	ctp_input_mem(&in, data, size);
	in.name = "x";
	must(source->ops->read(source, &in, w, NULL, &err) == CTP_OK, err.text);
	struct ctp_source_stats stats = source->stats;
	source->ops->free(source);
	ctp_writer_free(w);
	return stats;
}

static void to_jsonl(const struct bytes *stream, struct bytes *text)
{
	static int fd = -1;
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_output out;
	struct ctp_convert_stats stats = {0};
	if (fd < 0)
		fd = memfd_create("out", 0);
	must(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET) && !ctp_output_fd(&out, fd, "out", &err), "no output");
	ctp_input_mem(&in, stream->data, stream->len);
	struct ctp_sink *sink = ctp_jsonl_sink(&out, true, &err);
	must(!ctp_convert(&in, sink, NULL, NULL, &stats, &err) && !sink->ops->finish(sink, &err), err.text);
	sink->ops->free(sink);
	must(!stats.reader.damaged_packets && !stats.reader.missing_packets, "the stream is damaged");
	text->len = 0;
	char part[4096];
	lseek(fd, 0, SEEK_SET);
	for (ssize_t n; (n = read(fd, part, sizeof part)) > 0;)
		append(text, part, (size_t)n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bytes stream, first, second;
	from_jsonl(data, size, &stream);
	to_jsonl(&stream, &first);
	struct ctp_source_stats stats = from_jsonl(first.data, first.len, &stream);
	must(!stats.rejected, "a row of the full form is rejected");
	to_jsonl(&stream, &second);
	must(first.len == second.len && !memcmp(first.data, second.data, first.len), "the full form did not come back");
	return 0;
}
