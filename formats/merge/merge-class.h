/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge-class.h - the classes of the merged section. Each is a class of an input, with one more field: the origin. Equal classes
 * of several inputs become one.
 */
#ifndef CTP_MERGE_CLASS_H
#define CTP_MERGE_CLASS_H

#include "stream/record.h"

/* What becomes of a field. */
enum ctp_merge_op { CTP_MERGE_COPY, CTP_MERGE_ID, CTP_MERGE_TIME, CTP_MERGE_STRIDE };

struct ctp_merge_class {
	struct ctp_class *cls; /* of the merged section */
	bool adds_origin;      /* its last field, which the input has not */
	bool plain;            /* all fields are copied */
	uint8_t op[CTP_FIELDS_MAX];
};

struct ctp_merge_classes {
	uint32_t n;
	struct ctp_merge_class *list[CTP_CLASSES_MAX];
};

/*
 * The class for a class of an input. same: records are copied as they are, but for the class. Null: there are too many, or no
 * memory, and err says which.
 */
const struct ctp_merge_class *ctp_merge_class(struct ctp_merge_classes *all, const struct ctp_class *cls, bool same,
                                              struct ctp_err *err);
void ctp_merge_classes_fini(struct ctp_merge_classes *all);

#endif
