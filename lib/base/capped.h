/* capped.h - sums of numbers from outside, which may be anything. */
#ifndef CTP_CAPPED_H
#define CTP_CAPPED_H

#include <stdint.h>

/* a + b, or the largest number. */
static inline uint64_t ctp_add_capped(uint64_t a, uint64_t b) { return b > UINT64_MAX - a ? UINT64_MAX : a + b; }

#endif
