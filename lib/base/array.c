/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 16, MOVED_BYTES = 1 << 11, MOVED_BYTES_MAX = 1 << 17 };

/*
 * See CTP_ARRAY_MOVES. AddressSanitizer's realloc always takes new memory. A call may copy MOVED_BYTES, and what earlier ones did not:
 * if a larger array moved at each call, to fill it would take the square of its size.
 */
static void move(void *array, size_t bytes)
{
	static _Thread_local size_t may;
	may += MOVED_BYTES;
	if (bytes && bytes <= may) {
		void *items;
		memcpy(&items, array, sizeof items);
		items = realloc(items, bytes);
		if (items)
			memcpy(array, &items, sizeof items);
		may -= bytes;
	}
	if (may > MOVED_BYTES_MAX)
		may = MOVED_BYTES_MAX;
}

bool ctp_array_grow(void *array, size_t *room, size_t want, size_t max, size_t item_bytes)
{
	assert(item_bytes > 0);
	if (want <= *room) {
		assert(CTP_ARRAY_MOVES);
		move(array, *room * item_bytes);
		return true;
	}
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
