/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* member-index.c - the place of an element in an array; see members.h. */
#include "symbols/members.h"

#include <stdio.h>

const char *ctp_member_index(char to[CTP_MEMBER_INDEX_MAX], const struct ctp_member *array, uint32_t element)
{
	uint32_t index[CTP_MEMBER_DIMS], n = 1;
	while (n < CTP_MEMBER_DIMS && array->dim[n])
		n++;
	for (uint32_t i = n - 1; i; i--) {
		index[i] = element % array->dim[i];
		element /= array->dim[i];
	}
	index[0] = element;
	char *at = to;
	for (uint32_t i = 0; i < n; i++)
		at += sprintf(at, "[%u]", index[i]);
	return to;
}
