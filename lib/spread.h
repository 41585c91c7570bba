/*
 * spread.h - where a number from outside goes in a hash table. Whoever makes a stream chooses the numbers in it, and must not
 * be able to choose them so that they all meet: the tables of each process are laid out in another way.
 */
#ifndef CTP_SPREAD_H
#define CTP_SPREAD_H

#include <stdint.h>

uint64_t ctp_spread_salt(void); /* odd, and the same whenever this process asks */

/* A place in a table of n, a power of two. The upper bits of the product decide, to which all bits of the number give. */
static inline uint32_t ctp_spread(uint64_t number, uint64_t salt, uint32_t n)
{
	return (uint32_t)(((number ^ number >> 32) * salt >> 32) * n >> 32);
}

#endif
