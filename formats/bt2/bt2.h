/*
 * bt2.h - between the files of the babeltrace2 plugin, the component class source.ctp.fs.
 *
 *	bt2-plugin.c    the component: finds the sections of its inputs, and has an output port for each
 *	bt2-iterator.c  what goes through a port: a section's records as messages
 *	bt2-event.c     a class of records as an event class, a record as an event
 *
 * The library ends the program where it is called against its rules, so what comes from a stream is checked or changed before
 * it gets there: names are unique C identifiers, texts are UTF-8 without a NUL, times never go back and have 63 bits.
 */
#ifndef CTP_BT2_H
#define CTP_BT2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>

#include "stream/record.h"

/* --- the component ------------------------------------------------------------------------------------------------------- */

/* Where a section is: the skip-th (from 0) that begins in the file, decompressed, from `from` on. The user data of its port. */
struct ctp_bt2_place {
	struct ctp_bt2_source *source;
	const char *path;
	uint64_t from;
	unsigned skip;
	size_t number; /* from 1, in the component */
};

/* The component's data. */
struct ctp_bt2_source {
	bt_clock_class *clock;  /* of every section without an offset to wall time: babeltrace2 orders no clocks that differ */
	bool has_wall;          /* a section has such an offset */
	const bt_value *inputs; /* the paths */
	size_t nplaces;
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

/* A text, changed where it must be: a byte that is NUL or not of UTF-8 becomes \x and two digits. Null: no memory. */
char *ctp_bt2_text(const char *text, size_t len);

/* What a class of records is to the library. Made once for a stream class and a declaration; found again by that. */
struct ctp_bt2_event {
	struct ctp_bt2_event *next;
	bt_event_class *event_class[2]; /* made on demand; the second has the record's time as a field: it is not the event's */
	size_t decl_bytes;
	uint8_t *decl;
	uint8_t form[]; /* of each field: how its value is set */
};

/* The one in *list for cls, added if it is new. Null: no memory. */
struct ctp_bt2_event *ctp_bt2_event_get(struct ctp_bt2_event **list, const struct ctp_class *cls);
void ctp_bt2_event_free(struct ctp_bt2_event *list);

/* Its event class, made if it is the first time. Null: no memory. */
bt_event_class *ctp_bt2_event_class(struct ctp_bt2_event *event, const struct ctp_class *cls, bool timed,
                                    bt_stream_class *stream_class);

/* Sets the payload of an event of that class. False: no memory. */
bool ctp_bt2_event_fill(const struct ctp_bt2_event *event, const struct ctp_record *rec, bool timed, bt_field *payload);

#endif
