/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * array.h - arrays that grow.
 *
 *	struct list {
 *		struct item *items;
 *		size_t count, room;
 *	};
 *
 *	if (!CTP_ARRAY_RESERVE(list->items, list->room, list->count + 1, ITEMS_MAX))
 *		return false;
 *	list->items[list->count++] = item;
 */
#ifndef CTP_ARRAY_H
#define CTP_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes room for want items; the room at least doubles, and never exceeds max. False if want exceeds max or memory is out: then
 * nothing has changed. The new items are not initialised. room is a size_t.
 */
#define CTP_ARRAY_RESERVE(items, room, want, max) \
	(((size_t)(want) <= (room) && !CTP_ARRAY_MOVES) || \
	 ctp_array_grow(&(items), &(room), (want), (max), sizeof *(items)))

/*
 * With AddressSanitizer a small array moves at each call, even if there is room, and a larger one now and then: a test then
 * finds an old pointer to an item that is used after the call, although the array of that test never grows.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CTP_ARRAY_MOVES 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define CTP_ARRAY_MOVES 1
#endif
#ifndef CTP_ARRAY_MOVES
#define CTP_ARRAY_MOVES 0
#endif

/*
 * Sets i to the first index below n for which the condition holds, which holds for all later ones too; to n if there is none. The
 * condition is an expression of i. i is an unsigned variable.
 *
 *	CTP_ARRAY_FIRST(i, list->count, list->items[i].start > addr);
 */
#define CTP_ARRAY_FIRST(i, n, condition) \
	do { \
		size_t from_ = 0, upto_ = (n); \
		while (from_ < upto_) { \
			(i) = from_ + (upto_ - from_) / 2; \
			if (condition) \
				upto_ = (i); \
			else \
				from_ = (i) + 1; \
		} \
		(i) = from_; \
	} while (0)

/*
 * Whether an array of fixed size, of which n are used, has the item; it is added, if it is new and there is room.
 */
#define CTP_ARRAY_NOTE(items, n, item) \
	({ \
		uint32_t at_ = 0; \
		while (at_ < (n) && (items)[at_] != (item)) \
			at_++; \
		if (at_ == (n) && at_ < sizeof(items) / sizeof *(items)) \
			(items)[(n)++] = (item); \
		at_ < (n); \
	})

/* array is the address of a pointer to items of item_bytes each. */
bool ctp_array_grow(void *array, size_t *room, size_t want, size_t max, size_t item_bytes);

#endif
