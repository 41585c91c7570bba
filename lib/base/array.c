/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 16 };

bool ctp_array_grow(void *array, size_t *room, size_t want, size_t max, size_t item_bytes)
{
	assert(want > *room && item_bytes > 0);
	if (max > SIZE_MAX / item_bytes)
		max = SIZE_MAX / item_bytes;
	if (want > max)
		return false;
	size_t more = *room < max / 2 ? 2 * *room : max;
	if (more < want)
		more = want;
	if (more < ROOM_MIN)
		more = max < ROOM_MIN ? max : ROOM_MIN;
	void *items;
	memcpy(&items, array, sizeof items);
	items = realloc(items, more * item_bytes);
	if (!items)
		return false;
	memcpy(array, &items, sizeof items);
	*room = more;
	assert(*room >= want && *room <= max);
	return true;
}
