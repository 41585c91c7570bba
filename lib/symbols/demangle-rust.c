/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * demangle-rust.c - names of Rust's functions: the old form, which looks like a C++ name with a hash at its end, and v0 (RFC 2603).
 *
 * Of v0 a path is shown without generic arguments and lifetimes. What the name refers back to is gone through again, so a
 * short name could say very much: the steps are counted, and a name that takes too many is not understood.
 */
#include "symbols/demangle.h"

#include <stdint.h>
#include <string.h>

/* --- the old form -------------------------------------------------------------------------------------------------------- */

static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

static bool is_hash(const char *p, size_t len)
{
	if (len != 17 || *p != 'h')
		return false;
	for (size_t i = 1; i < len; i++)
		if (!is_hex(p[i]))
			return false;
	return true;
}

/* $u20$: a character by its number, as UTF-8. */
static bool put_character(struct ctp_demangle *d, const char *p, size_t len)
{
	uint32_t c = 0;
	if (len < 2 || len > 7 || *p != 'u')
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!is_hex(p[i]))
			return false;
		c = c << 4 | (uint32_t)(p[i] <= '9' ? p[i] - '0' : p[i] - 'a' + 10);
	}
	if (c < ' ' || c == 0x7f || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return false;
	char utf8[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = n; i-- > 1; c >>= 6)
		utf8[i] = (char)(0x80 | (c & 0x3f));
	utf8[0] = (char)(leads[n] | c);
	ctp_demangle_put(d, utf8, n);
	return true;
}

static bool put_escape(struct ctp_demangle *d, const char *p, size_t len)
{
	static const struct {
		const char *code, *text;
	} escapes[] = {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"}, {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};
	for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
		if (len == strlen(escapes[i].code) && !memcmp(p, escapes[i].code, len)) {
			ctp_demangle_puts(d, escapes[i].text);
			return true;
		}
	return put_character(d, p, len);
}

static void put_legacy(struct ctp_demangle *d, const char *p, const char *end)
{
	p += end - p > 1 && p[0] == '_' && p[1] == '$'; /* a name must not begin with an escape */
	while (p < end) {
		const char *stop = *p == '$' ? memchr(p + 1, '$', (size_t)(end - p - 1)) : NULL;
		if (stop && put_escape(d, p + 1, (size_t)(stop - p - 1))) {
			p = stop + 1;
		} else if (end - p > 1 && p[0] == '.' && p[1] == '.') {
			ctp_demangle_puts(d, "::");
			p += 2;
		} else {
			ctp_demangle_put(d, p++, 1);
		}
	}
}

bool ctp_demangle_rust_legacy(struct ctp_demangle *d)
{
	if (!ctp_demangle_take(d, "_ZN"))
		return false;
	while (!d->failed && ctp_demangle_peek(d) != 'E') {
		size_t len;
		if (!ctp_demangle_number(d, &len) || !len || len > (size_t)(d->end - d->p))
			return false;
		const char *from = d->p;
		d->p += len;
		if (ctp_demangle_peek(d) == 'E')
			return is_hash(from, len);
		ctp_demangle_join(d);
		put_legacy(d, from, d->p);
	}
	return false;
}

/* --- v0: numbers and identifiers ----------------------------------------------------------------------------------------- */

/* Base 62, up to a '_'; nothing before that is 0. */
static bool take_62(struct ctp_demangle *d, uint64_t *n)
{
	*n = 0;
	if (ctp_demangle_take(d, "_"))
		return true;
	while (!ctp_demangle_take(d, "_")) {
		char c = ctp_demangle_peek(d);
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') :
		                 c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10 :
		                 c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36 : 62;
		if (digit == 62 || *n > (UINT64_MAX - digit) / 62 - 1)
			return ctp_demangle_fail(d);
		*n = *n * 62 + digit;
		d->p++;
	}
	++*n;
	return true;
}

/* Which of several of the same name; 0 where it does not say. */
static uint64_t take_disambiguator(struct ctp_demangle *d)
{
	uint64_t n;
	return ctp_demangle_take(d, "s") && take_62(d, &n) ? n + 1 : 0;
}

struct identifier {
	const char *p;
	size_t len;
	uint64_t which;
	bool punycode;
};

static bool take_identifier(struct ctp_demangle *d, struct identifier *id)
{
	id->which = take_disambiguator(d);
	id->punycode = ctp_demangle_take(d, "u");
	if (!ctp_demangle_number(d, &id->len))
		return false;
	ctp_demangle_take(d, "_"); /* before a name that begins with a digit or another one */
	if (id->len > (size_t)(d->end - d->p))
		return ctp_demangle_fail(d);
	id->p = d->p;
	d->p += id->len;
	return true;
}

static void put_identifier(struct ctp_demangle *d, const struct identifier *id)
{
	ctp_demangle_puts(d, id->punycode ? "punycode{" : "");
	ctp_demangle_put(d, id->p, id->len);
	ctp_demangle_puts(d, id->punycode ? "}" : "");
}

/* --- v0: paths and types ------------------------------------------------------------------------------------------------- */

static bool take_path(struct ctp_demangle *d);
static bool take_type(struct ctp_demangle *d);

/* What stands at an earlier place: gone through again only if it is shown. */
static bool take_back(struct ctp_demangle *d, bool (*take)(struct ctp_demangle *))
{
	uint64_t at, here = (uint64_t)(d->p - d->begin) - strlen("_R" "B"); /* where the 'B' is, counted from after "_R" */
	if (!take_62(d, &at) || at >= here)
		return ctp_demangle_fail(d);
	if (d->quiet)
		return true;
	const char *next = d->p;
	d->p = d->begin + strlen("_R") + at;
	bool ok = ctp_demangle_part(d, take);
	d->p = next;
	return ok;
}

/* A value of a constant: hexadecimal digits up to a '_'. */
static bool take_const(struct ctp_demangle *d)
{
	if (ctp_demangle_take(d, "p")) {
		ctp_demangle_puts(d, "_");
		return true;
	}
	if (ctp_demangle_take(d, "B"))
		return take_back(d, take_const);
	if (!strchr("hmtyjoaslxnibc", ctp_demangle_peek(d)) || !ctp_demangle_peek(d))
		return ctp_demangle_fail(d);
	d->p++;
	ctp_demangle_puts(d, ctp_demangle_take(d, "n") ? "-0x" : "0x");
	const char *from = d->p;
	while (is_hex(ctp_demangle_peek(d)))
		d->p++;
	ctp_demangle_put(d, from, (size_t)(d->p - from));
	return ctp_demangle_take(d, "_") || ctp_demangle_fail(d);
}

static bool take_lifetime(struct ctp_demangle *d)
{
	uint64_t n;
	return ctp_demangle_take(d, "L") && take_62(d, &n);
}

static bool take_argument(struct ctp_demangle *d)
{
	if (ctp_demangle_peek(d) == 'L')
		return take_lifetime(d);
	return ctp_demangle_take(d, "K") ? take_const(d) : take_type(d);
}

/* Parts up to an 'E', with `between` shown between them. */
static bool take_list(struct ctp_demangle *d, bool (*take)(struct ctp_demangle *), const char *between)
{
	for (bool first = true; !ctp_demangle_take(d, "E"); first = false) {
		ctp_demangle_puts(d, first ? "" : between);
		if (d->failed || !take(d))
			return ctp_demangle_fail(d);
	}
	return true;
}

static bool take_arguments(struct ctp_demangle *d) { return take_list(d, take_argument, ", "); }

static bool take_binder(struct ctp_demangle *d)
{
	uint64_t n;
	return !ctp_demangle_take(d, "G") || take_62(d, &n);
}

static bool take_signature(struct ctp_demangle *d)
{
	struct identifier abi;
	if (!take_binder(d))
		return false;
	ctp_demangle_take(d, "U");
	if (ctp_demangle_take(d, "K") && !ctp_demangle_take(d, "C") && !take_identifier(d, &abi))
		return false;
	ctp_demangle_puts(d, "fn(");
	if (!take_list(d, take_type, ", "))
		return false;
	ctp_demangle_puts(d, ")");
	if (ctp_demangle_take(d, "u"))
		return true;
	ctp_demangle_puts(d, " -> ");
	return take_type(d);
}

static bool take_trait(struct ctp_demangle *d)
{
	struct identifier name;
	if (!take_path(d))
		return false;
	while (ctp_demangle_take(d, "p"))
		if (!take_identifier(d, &name) || !ctp_demangle_quietly(d, take_type))
			return false;
	return true;
}

static bool take_dyn(struct ctp_demangle *d)
{
	ctp_demangle_puts(d, "dyn ");
	return take_binder(d) && take_list(d, take_trait, " + ") && take_lifetime(d);
}

static const char *basic_type(char c)
{
	static const char *const types[26] = {
		['a' - 'a'] = "i8", ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64", ['e' - 'a'] = "str",
		['f' - 'a'] = "f32", ['h' - 'a'] = "u8", ['i' - 'a'] = "isize", ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",
		['m' - 'a'] = "u32", ['n' - 'a'] = "i128", ['o' - 'a'] = "u128", ['p' - 'a'] = "_", ['s' - 'a'] = "i16",
		['t' - 'a'] = "u16", ['u' - 'a'] = "()", ['v' - 'a'] = "...", ['x' - 'a'] = "i64", ['y' - 'a'] = "u64",
		['z' - 'a'] = "!",
	};
	return c >= 'a' && c <= 'z' ? types[c - 'a'] : NULL;
}

static bool take_array(struct ctp_demangle *d, bool sized)
{
	ctp_demangle_puts(d, "[");
	bool ok = take_type(d);
	if (ok && sized) {
		ctp_demangle_puts(d, "; ");
		ok = take_const(d);
	}
	ctp_demangle_puts(d, "]");
	return ok;
}

static bool take_tuple(struct ctp_demangle *d)
{
	ctp_demangle_puts(d, "(");
	bool ok = take_list(d, take_type, ", ");
	ctp_demangle_puts(d, ")");
	return ok;
}

static bool take_pointer(struct ctp_demangle *d, char kind)
{
	if (ctp_demangle_peek(d) == 'L' && !take_lifetime(d))
		return false;
	ctp_demangle_puts(d, kind == 'R' ? "&" : kind == 'Q' ? "&mut " : kind == 'P' ? "*const " : "*mut ");
	return take_type(d);
}

static bool take_some_type(struct ctp_demangle *d)
{
	char c = ctp_demangle_peek(d);
	const char *basic = basic_type(c);
	if (basic || (c && strchr("ASTRQPOFDB", c)))
		d->p++;
	if (basic) {
		ctp_demangle_puts(d, basic);
		return true;
	}
	switch (c) {
	case 'A':
	case 'S':
		return take_array(d, c == 'A');
	case 'T':
		return take_tuple(d);
	case 'R':
	case 'Q':
	case 'P':
	case 'O':
		return take_pointer(d, c);
	case 'F':
		return take_signature(d);
	case 'D':
		return take_dyn(d);
	case 'B':
		return take_back(d, take_type);
	default:
		return take_path(d);
	}
}

static bool take_type(struct ctp_demangle *d) { return ctp_demangle_part(d, take_some_type); }

/* <T>, <T as Trait>; the path of the impl itself says nothing more. */
static bool take_impl(struct ctp_demangle *d, char kind)
{
	if (kind != 'Y') {
		take_disambiguator(d);
		if (!ctp_demangle_quietly(d, take_path))
			return false;
	}
	ctp_demangle_puts(d, "<");
	bool ok = take_type(d);
	if (ok && kind != 'M') {
		ctp_demangle_puts(d, " as ");
		ok = take_path(d);
	}
	ctp_demangle_puts(d, ">");
	return ok;
}

/* A name within a path: of the source, or of something that has none there. */
static bool take_nested(struct ctp_demangle *d)
{
	struct identifier id;
	char space = ctp_demangle_peek(d);
	bool made = space >= 'A' && space <= 'Z';
	if (!made && !(space >= 'a' && space <= 'z'))
		return ctp_demangle_fail(d);
	d->p++;
	if (!take_path(d) || !take_identifier(d, &id))
		return false;
	if (!made) {
		ctp_demangle_puts(d, id.len ? "::" : "");
		put_identifier(d, &id);
		return true;
	}
	ctp_demangle_puts(d, "::{");
	if (space == 'C' || space == 'S')
		ctp_demangle_puts(d, space == 'C' ? "closure" : "shim");
	else
		ctp_demangle_put(d, &space, 1);
	ctp_demangle_puts(d, id.len ? ":" : "");
	put_identifier(d, &id);
	ctp_demangle_puts(d, "#");
	ctp_demangle_put_number(d, id.which);
	ctp_demangle_puts(d, "}");
	return true;
}

static bool take_some_path(struct ctp_demangle *d)
{
	struct identifier id;
	char c = ctp_demangle_peek(d);
	if (!c || !strchr("CMXYNIB", c))
		return ctp_demangle_fail(d);
	d->p++;
	switch (c) {
	case 'C':
		if (!take_identifier(d, &id))
			return false;
		put_identifier(d, &id);
		return true;
	case 'N':
		return take_nested(d);
	case 'I':
		return take_path(d) && ctp_demangle_quietly(d, take_arguments);
	case 'B':
		return take_back(d, take_path);
	default:
		return take_impl(d, c);
	}
}

static bool take_path(struct ctp_demangle *d) { return ctp_demangle_part(d, take_some_path); }

bool ctp_demangle_rust(struct ctp_demangle *d) { return ctp_demangle_take(d, "_R") && take_path(d); }
