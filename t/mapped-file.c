/*
 * mapped-file.c - the files that this very process has mapped: those that are near are read at once, and by a child they are the
 * same.
 */
#include <string.h>
#include <unistd.h>

#include "collect/mapped-file.h"
#include "tap.h"

int main(void)
{
	struct ctp_proc_maps maps;
	struct ctp_map map;
	struct ctp_mapped_file file = {.pid = getpid(), .root = ctp_mapped_root(getpid())}, again;
	unsigned n = 0, put_off = 0, ids = 0, wrong = 0;
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
	}
	ctp_proc_maps_close(&maps);
	ok(file.root >= 0 && n > 1, "%u files are mapped", n);
	ok(!put_off, "none that is on a disk is put off (%u are)", put_off);
	ok(ids, "some have a build-id (%u)", ids);
	ok(!wrong, "a child has read the same (%u are not)", wrong);
	file.map.path = "/nowhere/at/all (deleted)";
	ok(ctp_mapped_file(&file) && !file.len, "what is deleted is not looked for");
	file.map.path = "/dev/null";
	ok((ctp_mapped_file(&file) || ctp_mapped_files(&file, 1)) && !file.len, "another file than was mapped is not read");
	close(file.root);
	return done_testing();
}
