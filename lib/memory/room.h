/* room.h - arrays that grow up to a limit. */
#ifndef CTP_ROOM_H
#define CTP_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CTP_ROOM_MIN = 64 };

/*
 * Room for more items than n, of so many bytes each, if n is below max. array is the address of a pointer. False: no more, or out
 * of memory; nothing has changed.
 */
static inline bool ctp_room_more(void *array, uint32_t *room, uint32_t n, uint32_t max, size_t bytes)
{
	void *was;
	if (n >= max)
		return false;
	if (n < *room)
		return true;
	uint32_t more = *room ? 2 * *room : CTP_ROOM_MIN;
	memcpy(&was, array, sizeof was);
	void *to = realloc(was, more * bytes);
	if (!to)
		return false;
	memcpy(array, &to, sizeof to);
	*room = more;
	return true;
}

#endif
