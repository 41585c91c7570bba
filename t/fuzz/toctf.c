/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * toctf.c - whatever records come, in whatever classes, the trace of each section is read again with equal values, without
 * libbabeltrace2. The folder that appears whole is a process and signals, and has a test of its own (ctf-folder.t): here it is a plain
 * one.
 * Covers: formats/ctf/ctf-write.c formats/ctf/ctf-event.c formats/ctf/ctf-metadata.c formats/ctf/ctf-own.c formats/ctf/ctf-stream.c
 */
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/ctf-folder.h"
#include "ctf/ctf-own.h"
#include "io/folder.h"
#include "steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/dev/shm/ctp-fuzz-XXXXXX";

static struct {
	uint64_t records, sum;
} wrote[STEPS_SECTIONS];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void empty_folder(void) { nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

enum ctp_status ctp_ctf_folder_begin(struct ctp_ctf_folder *f, const char *path, bool force, struct ctp_err *err)
{
	snprintf(f->path, sizeof f->path, "%s", path);
	snprintf(f->temp, sizeof f->temp, "%s", path);
	f->force = force;
	f->fd = ctp_folder_open(path, true, err);
	return f->fd < 0 ? CTP_FAILED : CTP_OK;
}

enum ctp_status ctp_ctf_folder_publish(struct ctp_ctf_folder *f, const char *what, struct ctp_err *err)
{
	(void)f, (void)what, (void)err;
	return CTP_OK;
}

void ctp_ctf_folder_end(struct ctp_ctf_folder *f) { close(f->fd); }

static void ended(struct steps *s)
{
	wrote[s->sections - 1].records = s->records;
	wrote[s->sections - 1].sum = s->sum;
}

static void check(uint32_t section)
{
	static struct ctp_ctf_values values;
	char path[sizeof folder + 16];
	struct ctp_err err = {.text = "the metadata is not reproduced"};
	struct ctp_ctf_own *own;
	const struct ctp_class *cls;
	uint64_t now_ns, last_ns = 0, records = 0, sum = 0;
	enum ctp_status status;
	snprintf(path, sizeof path, "%s/%04u", folder, section + 1);
	must(!ctp_ctf_own_open(&own, path, &err), err.text);
	for (; !(status = ctp_ctf_own_next(own, &values, &cls, &now_ns, &err)); records++, last_ns = now_ns) {
		must(now_ns >= last_ns, "not in order");
		sum += steps_record_hash(cls, values.val);
	}
	must(status == CTP_EOF, err.text);
	must(records == wrote[section].records, "more or fewer records");
	must(sum == wrote[section].sum, "a value has changed");
	ctp_ctf_own_free(own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	struct steps s;
	if (!made)
		must(mkdtemp(folder) && !atexit(empty_folder), "no folder");
	made = true;
	empty_folder();
	steps_start(&s, data, size);
	s.ended = ended;
	struct ctp_sink *sink = ctp_ctf_sink(folder, false, &s.err);
	must(sink, "no sink");
	steps_run(&s, sink);
	must(steps_finish(&s), s.err.text);
	for (uint32_t i = 0; i < s.sections; i++)
		check(i);
	steps_fini(&s);
	return 0;
}
