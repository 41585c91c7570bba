/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * real-field.h - the writers of the SDKs in the field, as t/helper/rawprobe.h has them, for the worlds: real-field.c is compiled for
 * the machine. Their plain payload stores are taken as relaxed ones.
 */
#ifndef CTP_REAL_FIELD_H
#define CTP_REAL_FIELD_H

#include <stdbool.h>
#include <stdint.h>

struct ctp_shm_header;
struct ctp_shm_station;
struct ctp_v1_station;

enum real_field { REAL_FIELD, REAL_ORDERED, REAL_PLAIN, REAL_BARE }; /* as in rawprobe.h */
void real_field_birth(enum real_field kind, void *station, uint64_t probe_id, uint64_t birth_ns);
void real_field_write(enum real_field kind, void *station, uint64_t index);
uint32_t real_field_take(struct ctp_shm_header *header); /* the index of a new station */
void real_field_die(enum real_field kind, void *station);
void real_field_half(enum real_field kind, void *station, uint64_t index); /* it dies half-way */
void real_field_tell(struct ctp_shm_header *header); /* after an event: wakes the collector */
uint64_t real_field_word(uint64_t index, unsigned which);

/* ctp_v1_station_quiet */
bool real_station_quiet(const struct ctp_v1_station *st, const struct ctp_shm_station *shm);

#endif
