/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* analysis-objects.h - the objects of a section, for its report. */
#ifndef CTP_ANALYSIS_OBJECTS_H
#define CTP_ANALYSIS_OBJECTS_H

#include "analyse/analysis.h"

/* Fills the objects of a section that has been judged. */
void ctp_analysis_objects(struct ctp_analysis *a, struct ctp_report_section *s);

#endif
