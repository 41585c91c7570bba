/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * bt2.h - between the files of the babeltrace2 plugin, the component class source.ctp.fs.
 *
 *	bt2-plugin.c    the component: finds the sections of its inputs, and has an output port for each
 *	bt2-iterator.c  the messages of a port: a section's records
 *	bt2-event.c     a class of records as an event class, a record as an event
 *
 * The library aborts the program if it is called against its rules, so names, texts and times of a stream are checked or changed
 * first: names are unique C identifiers, texts are UTF-8 without a NUL, times never go back and have 63 bits.
 */
#ifndef CTP_BT2_H
#define CTP_BT2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>

#include "stream/record.h"

/* --- the component ------------------------------------------------------------------------------------------------------- */

/* The place of a section, and its port's user data: the skip-th section (from 0) after byte `from` of the decompressed file. */
struct ctp_bt2_place {
	struct ctp_bt2_source *source;
	const char *path;
	uint64_t from;
	unsigned skip;
	size_t number; /* from 1, in the component */
};

/* The component's data. */
struct ctp_bt2_source {
	bt_clock_class *clock;   /* of all sections without wall time: babeltrace2 does not order events of different clocks */
	bt_clock_class *ordinal; /* of all ordinal sections */
	bool has_wall;           /* a section has such an offset */
	bool has_ordinal, has_clock; /* a section needs the one, the other */
	const bt_value *inputs; /* the paths */
	size_t nplaces, places_room;
	struct ctp_bt2_place **places;
};

/* --- its message iterators ----------------------------------------------------------------------------------------------- */

bt_message_iterator_class_initialize_method_status ctp_bt2_iterator_init(bt_self_message_iterator *self,
                                                                          bt_self_message_iterator_configuration *config,
                                                                          bt_self_component_port_output *port);
void ctp_bt2_iterator_fini(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status ctp_bt2_iterator_next(bt_self_message_iterator *self, bt_message_array_const msgs,
                                                                   uint64_t capacity, uint64_t *count);
bt_message_iterator_class_seek_beginning_method_status ctp_bt2_iterator_seek_beginning(bt_self_message_iterator *self);

/* --- events -------------------------------------------------------------------------------------------------------------- */

/* The text, with \x and two digits for each byte that is NUL or no valid UTF-8; for free(). Null: no memory. */
char *ctp_bt2_text(const char *text, size_t len);

/* A name as visible.h has it, since babeltrace2 prints names as they are; for free(). Null: no memory. */
char *ctp_bt2_name(const char *name);

/* A class of records as an event class: one for each declaration, by which it is found again. */
struct ctp_bt2_event {
	struct ctp_bt2_event *next;
	bt_event_class *event_class[2]; /* made on demand; in the second the record's time is a field: the event has another */
	size_t decl_bytes;
	uint8_t *decl;
	uint8_t form[]; /* how the value of each field is set */
};

/* The entry of *list for cls, which is added if it is new. Null: no memory. */
struct ctp_bt2_event *ctp_bt2_event_get(struct ctp_bt2_event **list, const struct ctp_class *cls);
void ctp_bt2_event_free(struct ctp_bt2_event *list);

/* The event class, which the first call makes. Null: no memory. */
bt_event_class *ctp_bt2_event_class(struct ctp_bt2_event *event, const struct ctp_class *cls, bool timed,
                                    bt_stream_class *stream_class);

/* Sets the payload of an event of that class. False: no memory. */
bool ctp_bt2_event_fill(const struct ctp_bt2_event *event, const struct ctp_record *rec, bool timed, bt_field *payload);

#endif
