/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* array.c - an array grows as asked, never beyond its limit, and keeps what it has when it cannot. */
#include "base/array.h"
#include "must.h"
#include "tap.h"

#include <stdlib.h>

int main(void)
{
	uint32_t *items = NULL;
	size_t room = 0, grown = 0, count = 0, before = 0;
	while (CTP_ARRAY_RESERVE(items, room, count + 1, 1000)) {
		grown += room != before;
		before = room;
		items[count] = (uint32_t)count;
		count++;
	}
	ok(count == 1000 && room == 1000, "an array holds as many items as its limit says");
	ok(grown < 10, "its room at least doubles");
	uint32_t wrong = 0;
	for (size_t i = 0; i < count; i++)
		wrong += items[i] != i;
	ok(!wrong, "every item is still there");
	ok(CTP_ARRAY_RESERVE(items, room, 1000, 1000) && !CTP_ARRAY_RESERVE(items, room, 1001, 1000) && room == 1000,
		"a request within the limit succeeds, a larger one fails and changes nothing");
	ok(!CTP_ARRAY_RESERVE(items, room, SIZE_MAX / sizeof *items + 1, SIZE_MAX) && items[999] == 999,
		"a request for more bytes than a size_t can hold fails");
	free(items);

	items = NULL;
	room = 0;
	ok(CTP_ARRAY_RESERVE(items, room, 1, 3) && room == 3, "the first allocation is no larger than the limit");
	ok(!CTP_ARRAY_RESERVE(items, room, 4, 3), "a request beyond the limit fails");
	free(items);
	items = NULL;
	room = 0;
	ok(CTP_ARRAY_RESERVE(items, room, 5000, SIZE_MAX) && room >= 5000, "room for many items can be reserved at once");
	free(items);

	items = NULL;
	room = 0;
	ok(CTP_ARRAY_RESERVE(items, room, 2, 100), "a small array");
	items[1] = 7;
	uintptr_t was = (uintptr_t)items;
	bool moved = CTP_ARRAY_RESERVE(items, room, 2, 100) && (uintptr_t)items != was;
	ok(moved == CTP_ARRAY_MOVES && items[1] == 7, "moves at each request with AddressSanitizer, and else only to grow");
	free(items);

	items = NULL;
	room = 0;
	ok(CTP_ARRAY_RESERVE(items, room, 25000, 25000), "a larger array");
	uint32_t moves = 0;
	for (int i = 0; i < 200; i++) {
		was = (uintptr_t)items;
		must(CTP_ARRAY_RESERVE(items, room, 25000, 25000), "there is room");
		moves += (uintptr_t)items != was;
	}
	ok(CTP_ARRAY_MOVES ? moves > 1 && moves < 10 : !moves, "moves now and then, so that filling it takes no square of its size: %u", moves);
	free(items);
	return done_testing();
}
