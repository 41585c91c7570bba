/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Any bytes as a part of a trace of ctp-toctf's: by the first, the rest is the metadata, or a stream, or two streams beside the
 * metadata of a class with every type. Reading that to its end, or to where it fails, must not crash.
 * Covers: formats/ctf/ctf-own.c formats/ctf/ctf-values.c
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf/ctf-own.h"
#include "io/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AS_METADATA, AS_STREAM, AS_STREAMS };

static char folder[] = "/dev/shm/ctp-fuzz-XXXXXX", paths[3][sizeof folder + 16];
static struct ctp_err err;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", what, err.text);
	abort();
}

static void remove_folder(void)
{
	for (unsigned i = 0; i < 3; i++)
		unlink(paths[i]);
	rmdir(folder);
}

static void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file cannot be written");
	close(fd);
}

/* Its uuid is all zeros, so that bytes which are found once stay good. */
static void write_metadata(void)
{
	static const struct ctp_label labels[] = {{1, "one"}};
	static const uint8_t uuid[16];
	char names[CTP_TYPE_COUNT][8];
	struct ctp_field fields[CTP_TYPE_COUNT] = {{.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME}};
	for (unsigned type = 1; type < CTP_TYPE_COUNT; type++) {
		snprintf(names[type], sizeof names[type], "f%u", type);
		fields[type] = (struct ctp_field){.name = names[type], .type = (uint8_t)type};
		if (type == CTP_ENUM)
			fields[type].labels = labels, fields[type].nlabels = 1;
		if (type == CTP_STRING)
			fields[type].role = CTP_ROLE_NAME;
	}
	struct ctp_output out;
	struct ctp_section *sec = calloc(1, sizeof *sec);
	struct ctp_ctf_class c = {.cls = ctp_class_new("all", CTP_KIND_OTHER, fields, CTP_TYPE_COUNT, &err),
	                          .used = 0x5f}; /* a wide event is spelled anyway: no variant has both bits */
	const struct ctp_ctf_class *classes[] = {&c};
	must(sec && c.cls && !ctp_output_create(&out, paths[0], true, true, &err), "no metadata");
	for (unsigned variant = 0; variant < CTP_CTF_VARIANTS; variant++)
		must((c.layout[variant] = ctp_ctf_layout_new(c.cls, variant)) != NULL, "no layout");
	ctp_ctf_metadata_begin(&out, sec, uuid);
	ctp_ctf_metadata_end(&out, classes, 1, true);
	must(!ctp_output_close(&out, &err), "no metadata");
	for (unsigned variant = 0; variant < CTP_CTF_VARIANTS; variant++)
		free(c.layout[variant]);
	ctp_class_free((struct ctp_class *)(uintptr_t)c.cls);
	free(sec);
}

static void make_folder(void)
{
	must(mkdtemp(folder) != NULL, folder);
	snprintf(paths[0], sizeof paths[0], "%s/metadata", folder);
	snprintf(paths[1], sizeof paths[1], "%s/stream_0", folder);
	snprintf(paths[2], sizeof paths[2], "%s/stream_1", folder);
	atexit(remove_folder);
}

/* Looks at every byte of every text. */
static volatile unsigned sum;
static void look(const struct ctp_class *cls, const uint64_t *val)
{
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_str *s = ctp_type_is_text(cls->fields[i].type) ? ctp_str_val(val[i]) : NULL;
		for (uint32_t j = 0; s && j <= s->len; j++)
			sum += (unsigned char)s->data[j];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool has_metadata;
	static struct ctp_ctf_values values;
	struct ctp_ctf_own *own;
	const struct ctp_class *cls;
	uint64_t now_ns;
	unsigned as = size ? data[0] % (AS_STREAMS + 1) : AS_STREAM;
	size_t first = as == AS_STREAMS ? size / 2 : size;
	values.texts.len = values.sum = 0; /* what failed may have left some */
	if (!*paths[0])
		make_folder();
	unlink(paths[2]);
	if (as == AS_METADATA)
		write_file(paths[0], data + 1, size - 1);
	else if (!has_metadata)
		write_metadata();
	has_metadata = as != AS_METADATA;
	if (as != AS_METADATA && size)
		write_file(paths[1], data + 1, first - (first > 0));
	if (as == AS_STREAMS)
		write_file(paths[2], data + first, size - first);
	enum ctp_status status = ctp_ctf_own_open(&own, folder, &err);
	must(status != CTP_EOF || as == AS_METADATA, "the metadata is not reproduced");
	while (!status && !(status = ctp_ctf_own_next(own, &values, &cls, &now_ns, &err)))
		look(cls, values.val);
	ctp_ctf_own_free(own);
	return 0;
}
