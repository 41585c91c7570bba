/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* machine-caches.c - what the kernel says of the caches of its first processor. */
#include "memory/machine-caches.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

enum { INDEXES = 16, WORD_MAX = 32 };

/* The first word of a file in the folder of a cache; false: there is none. Without stdio, which needs memory that may be missing. */
static bool word(char to[WORD_MAX], const char *folder, unsigned index, const char *name)
{
	char path[512];
	if (snprintf(path, sizeof path, "%s/index%u/%s", folder, index, name) >= (int)sizeof path)
		return false;
	ctp_fd_read_file(AT_FDCWD, path, to, WORD_MAX);
	to[strcspn(to, " \t\n")] = '\0';
	return *to;
}

/* The level of a cache that holds data; 0: it is no such cache, or there is none. */
static unsigned level_of(const char *folder, unsigned index)
{
	char type[WORD_MAX], level[WORD_MAX];
	if (!word(type, folder, index, "type") || !strcmp(type, "Instruction") || !word(level, folder, index, "level"))
		return 0;
	return level[0] >= '1' && level[0] < '1' + CTP_CACHE_LEVELS && !level[1] ? (unsigned)(level[0] - '0') : 0;
}

static bool shape_of(struct ctp_cache_shape *shape, const char *folder, unsigned index)
{
	char size[WORD_MAX], ways[WORD_MAX], line[WORD_MAX], text[3 * WORD_MAX];
	struct ctp_err err;
	if (!word(size, folder, index, "size") || !word(ways, folder, index, "ways_of_associativity") ||
	    !word(line, folder, index, "coherency_line_size"))
		return false;
	snprintf(text, sizeof text, "%s,%s,%s", size, ways, line);
	return !ctp_cache_shape_parse(shape, text, &err);
}

/* No level has shorter lines than the one before. */
static bool grow_outwards(const struct ctp_cache_shape *shapes, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		if (shapes[i].line < shapes[i - 1].line)
			return false;
	return true;
}

unsigned ctp_machine_caches(struct ctp_cache_shape shapes[CTP_CACHE_LEVELS], const char *folder)
{
	unsigned n = 0;
	bool there[CTP_CACHE_LEVELS] = {false};
	for (unsigned i = 0; i < INDEXES; i++) {
		unsigned level = level_of(folder, i);
		if (level && !shape_of(&shapes[level - 1], folder, i))
			return 0;
		if (level)
			there[level - 1] = true;
	}
	while (n < CTP_CACHE_LEVELS && there[n])
		n++;
	return grow_outwards(shapes, n) ? n : 0;
}

unsigned ctp_libc_caches(struct ctp_cache_shape shapes[CTP_CACHE_LEVELS])
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
	static const int names[CTP_CACHE_LEVELS][3] = {
		{_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE},
		{_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE},
		{_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC, _SC_LEVEL3_CACHE_LINESIZE},
	};
	char text[3 * WORD_MAX];
	struct ctp_err err;
	unsigned n = 0;
	for (; n < CTP_CACHE_LEVELS && sysconf(names[n][0]) > 0; n++) {
		snprintf(text, sizeof text, "%ld,%ld,%ld", sysconf(names[n][0]), sysconf(names[n][1]), sysconf(names[n][2]));
		if (ctp_cache_shape_parse(&shapes[n], text, &err))
			return 0;
	}
	return grow_outwards(shapes, n) ? n : 0;
#else
	(void)shapes;
	return 0;
#endif
}

unsigned ctp_usual_caches(struct ctp_cache_shape shapes[CTP_CACHE_LEVELS])
{
	shapes[0] = (struct ctp_cache_shape){.size = 32 << 10, .ways = 8, .line = 64};
	shapes[1] = (struct ctp_cache_shape){.size = 1 << 20, .ways = 16, .line = 64};
	shapes[2] = (struct ctp_cache_shape){.size = 32 << 20, .ways = 16, .line = 64};
	return 3;
}
