/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mapped-file.c - reading the files that this process has mapped: local ones are read directly, and a child reads the same from
 * them.
 */
#include <string.h>
#include <unistd.h>

#include "collect/mapped-file.h"
#include "tap.h"

/* True if an open file has the build-id that was read by its path. */
static bool opens(const struct ctp_mapped_file *file, bool at_once)
{
	uint8_t id[CTP_BUILD_ID_MAX];
	bool later;
	int fd = ctp_mapped_open(file, at_once, &later);
	bool same = fd < 0 ? later : ctp_buildid_file(fd, id) == file->len && !memcmp(id, file->id, file->len);
	if (fd >= 0)
		close(fd);
	return same;
}

int main(void)
{
	struct ctp_proc_maps maps;
	struct ctp_mapping map;
	struct ctp_mapped_file file = {.pid = getpid(), .root = ctp_mapped_root(getpid())}, again;
	unsigned n = 0, put_off = 0, ids = 0, wrong = 0, unopened = 0;
	bool later;
	if (!ctp_proc_maps_open(&maps, getpid()))
		skip_all("there is no /proc");
	while (ctp_proc_maps_next(&maps, &map)) {
		if (!map.exec || map.path[0] != '/')
			continue;
		n++;
		file.map = map;
		put_off += !ctp_mapped_file(&file) && map.file.major;
		again = file;
		again.len = 0;
		wrong += !ctp_mapped_files(&again, 1) || again.len != file.len || memcmp(again.id, file.id, file.len);
		ids += file.len > 0;
		unopened += !opens(&file, true) || !opens(&file, false);
	}
	ctp_proc_maps_close(&maps);
	ok(file.root >= 0 && n, "%u files are mapped", n);
	ok(!put_off, "no file on a local disk is left to the child (%u are)", put_off);
	ok(ids, "some have a build-id (%u)", ids);
	ok(!wrong, "a child reads the same (%u differ)", wrong);
	ok(!unopened, "each can be opened (%u cannot)", unopened);
	file.map.path = "/nowhere/at/all (deleted)";
	ok(ctp_mapped_file(&file) && !file.len, "a deleted file is not read");
	file.map.path = "/dev/null";
	ok((ctp_mapped_file(&file) || ctp_mapped_files(&file, 1)) && !file.len, "a file that is not the mapped one is not read");
	file.map.start = file.map.stop = 0;
	file.map.file.ino++; /* in a static program the last one was the program, which is found without its path */
	ok(ctp_mapped_open(&file, true, &later) < 0, "a file that is not the mapped one is not opened");
	close(file.root);
	return done_testing();
}
