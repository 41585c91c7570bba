/*
 * mapped-file.c - the files that this very process has mapped: those that are near are read at once, and by a child they are the
 * same.
 */
#include <string.h>
#include <unistd.h>

#include "collect/mapped-file.h"
#include "tap.h"

/* Whether an open file has the build-id that was read by its path. */
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
	ok(file.root >= 0 && n > 1, "%u files are mapped", n);
	ok(!put_off, "none that is on a disk is put off (%u are)", put_off);
	ok(ids, "some have a build-id (%u)", ids);
	ok(!wrong, "a child has read the same (%u are not)", wrong);
	ok(!unopened, "each can be opened (%u cannot)", unopened);
	file.map.path = "/nowhere/at/all (deleted)";
	ok(ctp_mapped_file(&file) && !file.len, "what is deleted is not looked for");
	file.map.path = "/dev/null";
	ok((ctp_mapped_file(&file) || ctp_mapped_files(&file, 1)) && !file.len, "another file than was mapped is not read");
	file.map.start = file.map.stop = 0;
	ok(ctp_mapped_open(&file, true, &later) < 0, "nor opened");
	close(file.root);
	return done_testing();
}
