/* ppt-plain.c - which files have no ppt buffers, by a hash of 64 bits. */
#include "ppt/ppt-plain.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024, ROOM_MAX = 1 << 20 };

struct ctp_ppt_plain {
	uint64_t *files; /* 0: none; at the first place from the hash on that is free */
	size_t n, room;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t hash_of(const struct ctp_map *map)
{
	uint64_t hash = mix(mix(mix(1, map->file.major), map->file.minor), map->file.ino);
	for (const char *p = map->path; *p; p++)
		hash = mix(hash, (unsigned char)*p);
	return hash ? hash : 1;
}

static size_t place_of(const struct ctp_ppt_plain *p, uint64_t hash)
{
	size_t i = hash & (p->room - 1);
	while (p->files[i] && p->files[i] != hash)
		i = (i + 1) & (p->room - 1);
	return i;
}

static bool resize(struct ctp_ppt_plain *p, size_t room)
{
	struct ctp_ppt_plain larger = {.files = calloc(room, sizeof *p->files), .n = p->n, .room = room};
	if (!larger.files)
		return false;
	for (size_t i = 0; i < p->room; i++)
		if (p->files[i])
			larger.files[place_of(&larger, p->files[i])] = p->files[i];
	free(p->files);
	*p = larger;
	return true;
}

struct ctp_ppt_plain *ctp_ppt_plain_new(void)
{
	struct ctp_ppt_plain *p = calloc(1, sizeof *p);
	if (p && resize(p, FIRST_ROOM))
		return p;
	free(p);
	return NULL;
}

void ctp_ppt_plain_free(struct ctp_ppt_plain *p)
{
	if (p)
		free(p->files);
	free(p);
}

bool ctp_ppt_plain_has(const struct ctp_ppt_plain *p, const struct ctp_map *map)
{
	return p && p->files[place_of(p, hash_of(map))];
}

void ctp_ppt_plain_add(struct ctp_ppt_plain *p, const struct ctp_map *map)
{
	if (!p || (2 * p->n >= p->room && (p->room == ROOM_MAX || !resize(p, 2 * p->room))))
		return;
	uint64_t hash = hash_of(map), *place = &p->files[place_of(p, hash)];
	p->n += !*place;
	*place = hash;
}
