/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* objects-own.h - what objects-reasons.c uses of objects.c. */
#ifndef CTP_OBJECTS_OWN_H
#define CTP_OBJECTS_OWN_H

#include "analyse/objects.h"

/*
 * To be called before an object changes, so that ctp_objects_undo() can bring it back; ob may be null. Returns ob. Without memory
 * the object is not brought back.
 */
struct ctp_object *ctp_objects_save(struct ctp_objects *o, struct ctp_object *ob);

#endif
