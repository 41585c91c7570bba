/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sites.c - the texts of sites: recorded, recorded again, with missing parts, beyond the limits, and of unusual classes. */
#include "symbols/sites.h"

#include "symbols/symbols.h"
#include "tap.h"

/* A string of the record; room for the longest that is tried. */
struct text {
	uint32_t len;
	char data[CTP_SITE_TEXT_MAX + 2];
};

static uint64_t text(struct text *t, const char *s)
{
	t->len = (uint32_t)strlen(s);
	strcpy(t->data, s);
	return ctp_val_str((const struct ctp_str *)t);
}

static char *as_it_is(char *to, const char *s, size_t len) { return (char *)memcpy(to, s, len) + len; }

static struct ctp_class *make_class(enum ctp_kind kind, const struct ctp_field *fields, uint32_t n)
{
	struct ctp_err err;
	struct ctp_class *cls = ctp_class_new("x", kind, fields, n, &err);
	if (!cls)
		abort();
	return cls;
}

static const struct ctp_field site_fields[] = {
	{.name = "site", .type = CTP_U64, .role = CTP_ROLE_SITE}, {.name = "file", .type = CTP_STRING},
	{.name = "line", .type = CTP_U64}, {.name = "function", .type = CTP_STRING, .role = CTP_ROLE_NAME},
};

static void tell(struct ctp_sites *sites, uint64_t id, const char *file, uint64_t line, const char *function)
{
	static struct ctp_class *cls;
	static struct text a, b;
	if (!cls)
		cls = make_class(CTP_KIND_SITE, site_fields, 4);
	uint64_t val[] = {id, text(&a, file), line, text(&b, function)};
	ctp_sites_learn(sites, &(struct ctp_record){.cls = cls, .val = val});
}

static const char *found(struct ctp_sites *sites, uint64_t id)
{
	static struct text t;
	const struct ctp_sites_text *s = ctp_sites_find(sites, id);
	if (!s)
		return NULL;
	memcpy(t.data, s->data, s->len);
	t.data[s->len] = '\0';
	return t.data;
}

static void test_texts(struct ctp_sites *sites)
{
	is(found(sites, 1), NULL, "an unknown site has no text");
	tell(sites, 12, "server.cpp", 212, "handle");
	is(found(sites, 12), "server.cpp:212:handle", "a place");
	tell(sites, 1, "a.c", 0, "f");
	is(found(sites, 1), "a.c:f", "a site without a line has a text");
	tell(sites, 2, "a.c", 7, "");
	is(found(sites, 2), "a.c:7", "a site without a function has a text");
	tell(sites, 3, "", 0, "f");
	is(found(sites, 3), ":f", "a site without a file has a text");
	tell(sites, UINT64_MAX, "a.c", UINT64_MAX, "g");
	is(found(sites, UINT64_MAX), "a.c:18446744073709551615:g", "large numbers are kept");
	tell(sites, 4, "", 0, "");
	is(found(sites, 4), NULL, "a site without file, line and function has no text");
	tell(sites, 0, "a.c", 1, "f");
	is(found(sites, 0), NULL, "0 is no site");
	tell(sites, 12, "other.cpp", 5, "longer_than_before");
	is(found(sites, 12), "other.cpp:5:longer_than_before", "a site that is recorded again gets the new text");
	tell(sites, 12, "", 0, "");
	is(found(sites, 12), NULL, "a site that is recorded again without parts has no text");
	ctp_sites_forget(sites);
	is(found(sites, 1), NULL, "a new section begins without sites");
}

/* The line is to come from debug information, which is missing. */
static void test_code(void)
{
	static const struct ctp_field code = {.name = "code", .type = CTP_U64};
	struct ctp_field fields[] = {site_fields[0], site_fields[1], site_fields[2], site_fields[3], code};
	struct ctp_class *cls = make_class(CTP_KIND_SITE, fields, 5);
	struct ctp_sites *sites = ctp_sites_new(as_it_is);
	struct ctp_err err;
	struct ctp_symbols *symbols = ctp_symbols_new(NULL, 0, &err);
	static struct text a, b;
	if (!sites || !symbols)
		abort();
	ctp_sites_use(sites, symbols);
	ctp_sites_learn(sites, &(struct ctp_record){.cls = cls, .ts_ns = 0, .val = (uint64_t[]){1, text(&a, "a.c"), 0, text(&b, "f"), 0x1000}});
	is(found(sites, 1), "a.c:f", "code that is in no file has no line");
	is(found(sites, 1), "a.c:f", "a second lookup gives the same");
	ctp_sites_learn(sites, &(struct ctp_record){.cls = cls, .ts_ns = 0, .val = (uint64_t[]){2, text(&a, "a.c"), 0, text(&b, ""), 0x1000}});
	is(found(sites, 2), "a.c", "code without a function has its file");
	ctp_sites_learn(sites, &(struct ctp_record){.cls = cls, .ts_ns = 0, .val = (uint64_t[]){3, text(&a, ""), 0, text(&b, "f"), 0x1000}});
	is(found(sites, 3), ":f", "code without a file has its function");
	ctp_sites_learn(sites, &(struct ctp_record){.cls = cls, .ts_ns = 0, .val = (uint64_t[]){1, text(&a, "a.c"), 7, text(&b, "f"), 0x1000}});
	is(found(sites, 1), "a.c:7:f", "a recorded line is kept");
	ctp_sites_free(sites);
	ctp_symbols_free(symbols);
	ctp_class_free(cls);
}

static void test_limits(struct ctp_sites *sites)
{
	static char longest[CTP_SITE_TEXT_MAX + 2];
	memset(longest, 'x', CTP_SITE_TEXT_MAX);
	tell(sites, 1, longest, 0, "");
	is(found(sites, 1), longest, "the longest text is kept");
	longest[CTP_SITE_TEXT_MAX] = 'x';
	tell(sites, 1, longest, 0, "");
	is(found(sites, 1), NULL, "a longer text is dropped");

	longest[CTP_SITE_TEXT_MAX - 1] = '\0';
	for (uint64_t id = 1; id <= CTP_SITES_BYTES / (CTP_SITE_TEXT_MAX - 1); id++)
		tell(sites, id, longest, 0, "");
	tell(sites, 70000, longest, 0, "");
	is(found(sites, 70000), NULL, "texts beyond the limit of bytes are dropped");
	is(found(sites, 16000), longest, "earlier texts are kept");
	tell(sites, 1, longest + 1, 0, "y");
	is(found(sites, 1), NULL, "a site whose new text is dropped loses its old one");
	ctp_sites_forget(sites);

	for (uint64_t id = 1; id <= CTP_SITES_MAX + 1; id++)
		tell(sites, id << 40, "a", 0, "");
	is(found(sites, (uint64_t)CTP_SITES_MAX << 40), "a", "sites up to the limit are kept");
	is(found(sites, (uint64_t)(CTP_SITES_MAX + 1) << 40), NULL, "a site beyond the limit is dropped");
	tell(sites, UINT64_C(1) << 40, "b", 0, "");
	is(found(sites, UINT64_C(1) << 40), "b", "known sites can still change");
	ctp_sites_forget(sites);
}

/* Fields with the names and roles, but of other types. */
static void test_odd(struct ctp_sites *sites)
{
	static const struct ctp_field odd[] = {
		{.name = "site", .type = CTP_U8, .role = CTP_ROLE_SITE}, {.name = "file", .type = CTP_U64},
		{.name = "line", .type = CTP_STRING}, {.name = "function", .type = CTP_BYTES, .role = CTP_ROLE_NAME},
	};
	static const struct ctp_field none = {.name = "site", .type = CTP_STRING, .role = CTP_ROLE_SITE};
	static struct text t;
	struct ctp_class *cls = make_class(CTP_KIND_SITE, odd, 4);
	ctp_sites_learn(sites, &(struct ctp_record){.cls = cls, .ts_ns = 0, .val = (uint64_t[]){5, 6, text(&t, "7"), text(&t, "f")}});
	is(found(sites, 5), NULL, "fields of other types are ignored");
	ctp_class_free(cls);
	cls = make_class(CTP_KIND_SITE, &none, 1);
	ctp_sites_learn(sites, &(struct ctp_record){.cls = cls, .ts_ns = 0, .val = (uint64_t[]){text(&t, "5")}});
	is(found(sites, 5), NULL, "a site that is no number is ignored");
	ctp_class_free(cls);
}

static void test_shown(void)
{
	static const struct ctp_field fields[] = {
		{.name = "site", .type = CTP_U64, .role = CTP_ROLE_SITE}, {.name = "own", .type = CTP_U8, .role = CTP_ROLE_SITE},
		{.name = "own_text", .type = CTP_STRING}, {.name = "plain", .type = CTP_U64},
		{.name = "word", .type = CTP_STRING, .role = CTP_ROLE_SITE},
	};
	struct ctp_class *cls = make_class(CTP_KIND_OTHER, fields, 5), *site = make_class(CTP_KIND_SITE, site_fields, 4);
	ok(ctp_site_shown(cls, 0) && ctp_site_is_text(cls, "site_text"), "a field that refers to a site has a text");
	ok(!ctp_site_shown(cls, 1) && !ctp_site_is_text(cls, "own_text"), "it has none if another field has that name");
	ok(!ctp_site_shown(cls, 3) && !ctp_site_is_text(cls, "plain_text"), "a field that does not refer to a site has no text");
	ok(!ctp_site_shown(cls, 4) && !ctp_site_is_text(cls, "word_text"), "a field that is no number has no text");
	ok(!ctp_site_shown(site, 0) && !ctp_site_is_text(site, "site_text"), "the site's own record has no such text");
	ctp_class_free(cls);
	ctp_class_free(site);
}

int main(void)
{
	struct ctp_sites *sites = ctp_sites_new(as_it_is);
	if (!sites)
		abort();
	test_texts(sites);
	test_code();
	test_limits(sites);
	test_odd(sites);
	test_shown();
	ctp_sites_free(sites);
	return done_testing();
}
