/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * real-field.c - see real-field.h.
 */
#include "real-field.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "collect/v1-station.h"
#include "rawprobe.h"

_Static_assert((int)REAL_FIELD == FIELD && (int)REAL_ORDERED == ORDERED && (int)REAL_PLAIN == PLAIN && (int)REAL_BARE == BARE,
               "the kinds have the same numbers");

void real_field_birth(enum real_field kind, void *station, uint64_t probe_id, uint64_t birth_ns)
{
	write_birth((enum writer)kind, station, probe_id, birth_ns);
}

void real_field_write(enum real_field kind, void *station, uint64_t index) { write_event((enum writer)kind, station, index); }
uint32_t real_field_take(struct ctp_shm_header *header) { return __atomic_fetch_add(&header->allocated_count, 1, __ATOMIC_RELAXED); }

/* The one that is ordered is ctp.h without an annex, whose store has release; in the field it is plain. */
void real_field_die(enum real_field kind, void *station)
{
	struct ctp_shm_station *st = station;
	__atomic_store_n(&st->is_dead, 1, kind == REAL_ORDERED ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
}

void real_field_half(enum real_field kind, void *station, uint64_t index) { write_half((enum writer)kind, station, index); }
void real_field_tell(struct ctp_shm_header *header)
{
	if (__atomic_load_n(&header->tracer_sleeping, __ATOMIC_RELAXED) == 1 &&
	    __atomic_exchange_n(&header->tracer_sleeping, 0, __ATOMIC_ACQ_REL) == 1)
		syscall(SYS_sendto, 5, "1", 1, 0, NULL, 0);
}

uint64_t real_field_word(uint64_t index, unsigned which) { return word(index, which); }

bool real_station_quiet(const struct ctp_v1_station *st, const struct ctp_shm_station *shm) { return ctp_v1_station_quiet(st, shm); }
