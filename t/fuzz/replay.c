/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * replay.c - the main of a fuzz target in `make check`: each file of its corpus once, each a test.
 *
 * The program's own name gives the target: NAME runs on t/fuzz/corpus-NAME. Files and folders given as arguments
 * are run instead, which is how a find of `make fuzz` is debugged.
 */
#include <dirent.h>
#include <libgen.h>
#include <sys/stat.h>

#include "tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exact size for each, so that ASan sees a read past the end. */
static void replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;
	if (f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET))
		data = malloc((size_t)size);
	bool got = size >= 0 && (data || !size) && fread(data, 1, (size_t)size, f) == (size_t)size;
	if (got) {
		note("%s", path); /* the last line there is, if it crashes */
		LLVMFuzzerTestOneInput(data, (size_t)size);
	}
	ok(got, "%s is survived", path);
	free(data);
	if (f)
		fclose(f);
}

static bool replay_folder(const char *folder)
{
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char path[600];
		snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			replay(path);
		free(names[i]);
	}
	free(n < 0 ? NULL : names);
	return n > 2;
}

int main(int argc, char **argv)
{
	char folder[256];
	struct stat st;
	snprintf(folder, sizeof folder, "t/fuzz/corpus-%s", basename(argv[0]));
	for (int i = 1; i < argc; i++)
		if (!stat(argv[i], &st) && S_ISDIR(st.st_mode))
			replay_folder(argv[i]);
		else
			replay(argv[i]);
	if (argc == 1)
		ok(replay_folder(folder), "%s has files", folder);
	return done_testing();
}
