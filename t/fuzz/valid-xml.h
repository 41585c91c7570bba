/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * valid-xml.h - a strict judge of XML as a report writes it: elements that close, attributes in double quotes, the predefined
 * entities, and only characters that XML 1.0 allows.
 */
#ifndef CTP_T_VALID_XML_H
#define CTP_T_VALID_XML_H

#include "valid.h"

enum { VALID_XML_DEPTH = 8, VALID_XML_NAME = 32 };

static inline bool xml_is_name(char c) { return (c >= 'a' && c <= 'z') || c == '-'; }

/* A name, which is copied. */
static inline bool xml_name(struct valid *v, char name[VALID_XML_NAME])
{
	size_t n = 0;
	while (v->p < v->end && xml_is_name(*v->p) && n < VALID_XML_NAME - 1)
		name[n++] = *v->p++;
	name[n] = '\0';
	return n > 0;
}

static inline bool xml_entity(struct valid *v)
{
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
	for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
		if (json_word(v, entities[i]))
			return true;
	return false;
}

/* Text up to the character `stop`, which stays. */
static inline bool xml_text(struct valid *v, char stop)
{
	while (v->p < v->end && *v->p != stop) {
		if (*v->p == '&') {
			if (!xml_entity(v))
				return false;
			continue;
		}
		if (*v->p == '<' || *v->p == '>')
			return false;
		int32_t c = valid_char(v);
		if ((c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff)
			return false;
	}
	return true;
}

/* The attributes and the end of a tag. *closed: it is an element without contents. */
static inline bool xml_attributes(struct valid *v, bool *closed)
{
	char name[VALID_XML_NAME];
	while (json_take(v, ' '))
		if (!xml_name(v, name) || !json_take(v, '=') || !json_take(v, '"') || !xml_text(v, '"') || !json_take(v, '"'))
			return false;
	*closed = json_take(v, '/');
	return json_take(v, '>');
}

/* A document with its declaration. */
static inline bool valid_xml(const char *text, size_t len)
{
	char open[VALID_XML_DEPTH][VALID_XML_NAME], name[VALID_XML_NAME];
	unsigned depth = 0;
	bool closed;
	struct valid v = {text, text + len};
	if (!json_word(&v, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
		return false;
	do {
		if (!json_take(&v, '<'))
			return false;
		if (json_take(&v, '/')) {
			if (!depth || !xml_name(&v, name) || strcmp(open[--depth], name) || !json_take(&v, '>'))
				return false;
		} else {
			if (depth == VALID_XML_DEPTH || !xml_name(&v, open[depth]) || !xml_attributes(&v, &closed))
				return false;
			depth += !closed;
		}
	} while (depth && xml_text(&v, '<'));
	return !depth && json_take(&v, '\n') && v.p == v.end;
}

#endif
