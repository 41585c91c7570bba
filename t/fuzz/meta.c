/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Any bytes as the JSON of a section's attributes and of a class: that must not crash, nor write past the scratch memory that it is
 * given. What was understood is written and read once more, and then must be the same.
 * Covers: formats/common/meta.c formats/common/json.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "common/meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of exactly the size that is promised to be enough. */
static void *exact(size_t size)
{
	void *p = malloc(size ? size : 1);
	must(p, "no memory");
	return p;
}

static void try_attrs(const char *p, size_t len)
{
	struct ctp_err why;
	struct ctp_section *sec = exact(sizeof *sec), *again = exact(sizeof *again);
	char *scratch = exact(len);
	ctp_section_init(sec);
	ctp_section_init(again);
	if (!ctp_meta_read_attrs(p, p + len, scratch, sec, &why)) {
		size_t n;
		char *text = ctp_meta_attrs(sec, &n), *more = exact(n);
		must(text && !ctp_meta_read_attrs(text, text + n, more, again, &why), "attributes that were written cannot be read");
		must(sec->nattrs == again->nattrs, "there are more or fewer attributes");
		for (uint32_t i = 0; i < sec->nattrs; i++)
			must(!strcmp(sec->attrs[i].name, again->attrs[i].name) && !strcmp(sec->attrs[i].value, again->attrs[i].value),
			     "an attribute has changed");
		free(text);
		free(more);
	}
	ctp_section_fini(sec);
	ctp_section_fini(again);
	free(sec);
	free(again);
	free(scratch);
}

static void try_class(const char *p, size_t len)
{
	struct ctp_err why;
	char *scratch = exact(len);
	struct ctp_class *cls = ctp_meta_read_class(p, p + len, scratch, &why);
	if (cls) {
		size_t n;
		char *text = ctp_meta_class(cls, &n), *more = exact(n);
		struct ctp_class *again = text ? ctp_meta_read_class(text, text + n, more, &why) : NULL;
		must(again, "a class that was written cannot be read");
		must(cls->decl_bytes == again->decl_bytes && !memcmp(cls->decl, again->decl, cls->decl_bytes), "a class has changed");
		ctp_class_free(again);
		free(text);
		free(more);
	}
	ctp_class_free(cls);
	free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exact size, so that a read past its end is seen. */
	char *p = exact(size);
	if (size)
		memcpy(p, data, size);
	try_attrs(p, size);
	try_class(p, size);
	free(p);
	return 0;
}
