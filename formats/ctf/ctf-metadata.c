/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-metadata.c - the metadata of a CTF trace, in TSDL.
 *
 * Readers differ in what they take; the metadata has only what all of them do: ASCII, with other bytes as octal escapes; texts as
 * JSON spells them, so that each is valid UTF-8; no number of 2^63 or more; no label and no value of an enumeration twice; the
 * event header just as LTTng has it, for which Trace Compass has a quick path.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "common/json.h"
#include "common/meta.h"
#include "ctf/ctf-about.h"
#include "ctf/ctf-folder.h"
#include "ctf/ctf.h"
#include "io/output.h"

static void put(struct ctp_output *out, const char *text) { ctp_output_put(out, text, strlen(text)); }

/* For short texts. */
static __attribute__((format(printf, 2, 3))) void putf(struct ctp_output *out, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	put(out, text);
}

static void out_of_memory(struct ctp_output *out)
{
	if (!out->failed)
		ctp_err_as(&out->err, CTP_ERR_MEMORY, "%s: out of memory", out->name);
	out->failed = true;
}

/* A literal: the text in quotes. */
static void put_literal(struct ctp_output *out, const char *text, size_t len)
{
	put(out, "\"");
	for (const char *end = text + len; text < end; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			putf(out, "\\%c", c);
		else if (c < ' ' || c > '~')
			putf(out, "\\%03o", c);
		else
			ctp_output_put(out, text, 1);
	}
	put(out, "\"");
}

/* A literal of any bytes, as JSON spells them. */
static void put_text(struct ctp_output *out, const char *text)
{
	size_t len = strlen(text);
	char *json = malloc(CTP_JSON_GROWTH * len + 2);
	if (!json) {
		out_of_memory(out);
		return;
	}
	char *end = ctp_json_quote(json, text, len);
	put_literal(out, json + 1, (size_t)(end - json) - 2);
	free(json);
}

static void make_identifier(char *name)
{
	while (*(name += strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")))
		*name = '_';
}

/* --- the environment ------------------------------------------------------------------------------------------------------ */

static void put_env_text(struct ctp_output *out, const char *name, const char *text)
{
	putf(out, "\t%s = ", name);
	put_text(out, text);
	put(out, ";\n");
}

/* An entry with a text of meta.h, which is freed. */
static void put_env_meta(struct ctp_output *out, const char *name, char *text, size_t len)
{
	if (!text) {
		out_of_memory(out);
		return;
	}
	putf(out, "\t%s = ", name);
	put_literal(out, text, len);
	put(out, ";\n");
	free(text);
}

static void put_env_argv(struct ctp_output *out, const struct ctp_section *sec)
{
	char *line = ctp_ctf_argv(sec);
	if (!line)
		out_of_memory(out);
	else if (*line)
		put_env_text(out, "argv", line);
	free(line);
}

static void begin_env(struct ctp_output *out, const struct ctp_section *sec)
{
	int major = 0, minor = 0, patch = 0;
	uint64_t pid;
	const char *host = ctp_section_get(sec, "host"), *pid_text = ctp_section_get(sec, "pid");
	sscanf(CTP_VERSION, "%d.%d.%d", &major, &minor, &patch);
	putf(out, "env {\n\ttracer_name = \"ctptools\";\n\ttracer_major = %d;\n\ttracer_minor = %d;\n\ttracer_patch = %d;\n",
	     major, minor, patch);
	if (host)
		put_env_text(out, "hostname", host);
	if (pid_text && ctp_parse_u64(pid_text, pid_text + strlen(pid_text), &pid) && pid <= INT64_MAX)
		putf(out, "\tpid = %" PRIu64 ";\n", pid);
	put_env_argv(out, sec);
	if (ctp_section_get(sec, "filtered"))
		put_env_text(out, "filtered", ctp_section_get(sec, "filtered"));
	size_t len;
	char *attrs = ctp_meta_attrs(sec, &len);
	put_env_meta(out, "ctp_section", attrs, len);
}

/* --- the frame ------------------------------------------------------------------------------------------------------------ */

/* The section's clock. Its name begins with clock_, so that it is no keyword. */
static void put_clock(struct ctp_output *out, const struct ctp_section *sec, char *name, size_t name_size)
{
	const char *clock = ctp_section_get(sec, "clock");
	uint64_t offset = ctp_ctf_clock_offset(sec);
	const char *about = sec->ordinal ? CTP_CTF_ORDINAL :
	                    offset ? "the section's clock" : "the section's clock, whose offset to wall time is not known";
	snprintf(name, name_size, "clock_%s", clock ? clock : "unknown");
	make_identifier(name);
	putf(out, "clock {\n\tname = \"%s\";\n\tdescription = \"%s\";\n\tfreq = 1000000000;\n"
	          "\toffset_s = %" PRIu64 ";\n\toffset = %" PRIu64 ";\n\tabsolute = TRUE;\n};\n\n",
	     name, about, offset / 1000000000, offset % 1000000000);
}

void ctp_ctf_metadata_begin(struct ctp_output *out, const struct ctp_section *sec, const uint8_t uuid[16])
{
	char clock[64];
	put(out, CTP_CTF_MARK CTP_VERSION " */\n\n");
	for (unsigned bits = 8; bits <= 64; bits *= 2)
		putf(out, "typealias integer { size = %u; align = 8; signed = false; } := uint%u_t;\n", bits, bits);
	put(out, "typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n\n"
	         "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	for (unsigned i = 0; i < 16; i++)
		putf(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
	put(out, "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
	         "\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n\n");
	put_clock(out, sec, clock, sizeof clock);
	putf(out, "typealias integer { size = 27; align = 1; signed = false; map = clock.%s.value; } := uint27_time_t;\n"
	          "typealias integer { size = 64; align = 8; signed = false; map = clock.%s.value; } := uint64_time_t;\n\n",
	     clock, clock);
	put(out, "struct packet_context {\n\tuint64_time_t timestamp_begin;\n\tuint64_time_t timestamp_end;\n"
	         "\tuint64_t content_size;\n\tuint64_t packet_size;\n\tuint64_t events_discarded;\n};\n\n"
	         "struct event_header_compact {\n\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
	         "\tvariant <id> {\n\t\tstruct {\n\t\t\tuint27_time_t timestamp;\n\t\t} compact;\n"
	         "\t\tstruct {\n\t\t\tuint32_t id;\n\t\t\tuint64_time_t timestamp;\n\t\t} extended;\n\t} v;\n} align(8);\n\n"
	         "stream {\n\tid = 0;\n\tevent.header := struct event_header_compact;\n"
	         "\tpacket.context := struct packet_context;\n};\n\n");
	begin_env(out, sec);
}

/* --- events --------------------------------------------------------------------------------------------------------------- */

/*
 * Identifiers of a class's fields, in their order, of the count and of the spelling that a text may have. Each begins with an
 * underscore, which readers strip; babeltrace2 refuses an identifier that is equal to a stripped one before it in the event.
 */
struct names {
	uint32_t n;
	char *name[3 * CTP_FIELDS_MAX];
};

/* count: the identifier stands before its text, and so perhaps before fields that have theirs already. */
static bool is_taken(const struct names *names, const char *name, bool count)
{
	/* The only keywords that begin with an underscore. */
	bool taken = !strcmp(name, "_Bool") || !strcmp(name, "_Complex") || !strcmp(name, "_Imaginary");
	for (uint32_t i = 0; i < names->n && !taken; i++) {
		const char *other = names->name[i];
		taken = other && (!strcmp(other, name) || !strcmp(other + 1, name) || (count && !strcmp(other, name + 1)));
	}
	return taken;
}

/* The name is null: out of memory. */
static void add_name(struct names *names, const char *before, const char *name, const char *suffix)
{
	/* Each name before may be in the way of three. */
	char *id = malloc(strlen(before) + strlen(name) + strlen(suffix) + 3 * names->n + sizeof "_Bool"), *end = id;
	if (id) {
		end += sprintf(id, "%s%s%s", before, name, suffix);
		make_identifier(id);
		for (; is_taken(names, id, *suffix); *end = '\0')
			*end++ = '_';
	}
	names->name[names->n++] = id;
}

static bool name_fields(struct names *names, const struct ctp_class *cls)
{
	bool ok = true;
	names->n = 0;
	for (uint32_t i = 0; i < cls->nfields; i++)
		add_name(names, "_", cls->fields[i].name, "");
	for (uint32_t i = 0; i < cls->nfields; i++)
		add_name(names, "__", cls->fields[i].name, "_length");
	for (uint32_t i = 0; i < cls->nfields; i++)
		add_name(names, "__", cls->fields[i].name, "_ascii");
	for (uint32_t i = 0; i < names->n; i++)
		ok = ok && names->name[i];
	return ok;
}

/* A single bit is the top one of the word before it. */
static void put_integer(struct ctp_output *out, unsigned bits, const struct ctp_field *f)
{
	bool hex = f->role == CTP_ROLE_ADDRESS || f->flags & CTP_FIELD_HEX || ctp_type_is_text(f->type);
	putf(out, "integer { size = %u; align = %u; signed = %s; base = %u; }", bits, bits == 1 ? 1 : 8,
	     ctp_type_is_signed(f->type) ? "true" : "false", hex ? 16 : 10);
}

/* Whether label j can be declared: its value fits, and no label before has this value or name. */
static bool label_ok(const struct ctp_field *f, uint32_t j, uint64_t max)
{
	bool ok = f->labels[j].value <= max;
	for (uint32_t i = 0; i < j && ok; i++)
		ok = f->labels[i].value != f->labels[j].value && strcmp(f->labels[i].name, f->labels[j].name);
	return ok;
}

static void put_enum(struct ctp_output *out, const struct ctp_field *f, unsigned bits)
{
	static const struct ctp_label states[] = {{0, "suspended"}, {1, "running"}}, bools[] = {{0, "false"}, {1, "true"}};
	struct ctp_field g = *f;
	const char *before = " { ";
	if (f->type == CTP_BOOL) {
		g.labels = f->role == CTP_ROLE_STATE ? states : bools;
		g.nlabels = 2;
	}
	for (uint32_t j = 0; j < g.nlabels; j++) {
		if (!label_ok(&g, j, bits <= 8 ? UINT8_MAX >> (8 - bits) : INT64_MAX))
			continue;
		if (before[0] == ' ') {
			put(out, "enum : ");
			put_integer(out, bits, f);
		}
		put(out, before);
		put_text(out, g.labels[j].name);
		putf(out, " = %" PRIu64, g.labels[j].value);
		before = ", ";
	}
	if (before[0] == ' ')
		put_integer(out, bits, f); /* no label can be declared */
	else
		put(out, " }");
}

static void put_number(struct ctp_output *out, const struct ctp_field *f, unsigned bits, const char *name)
{
	put(out, "\t\t");
	if (f->type == CTP_F32)
		put(out, "floating_point { exp_dig = 8; mant_dig = 24; align = 8; }");
	else if (f->type == CTP_F64)
		put(out, "floating_point { exp_dig = 11; mant_dig = 53; align = 8; }");
	else if (f->type == CTP_BOOL || f->type == CTP_ENUM)
		put_enum(out, f, bits);
	else
		put_integer(out, bits, f);
	putf(out, " %s;\n", name);
}

static void put_op(struct ctp_output *out, const struct ctp_class *cls, const struct ctp_ctf_op *op, char *const *names)
{
	const struct ctp_field *f = &cls->fields[op->index];
	const char *name = names[op->index], *length = names[cls->nfields + op->index], *spelling = names[2 * cls->nfields + op->index];
	if (op->form == CTP_CTF_FORM_STRING || op->form == CTP_CTF_FORM_NAME) {
		putf(out, "\t\tstring %s;\n", name);
	} else if (op->form == CTP_CTF_FORM_SPELLING) {
		putf(out, "\t\tstring %s;\n", spelling);
	} else if (op->form == CTP_CTF_FORM_SEQUENCE) {
		putf(out, "\t\tuint32_t %s;\n\t\t", length);
		put_integer(out, 8, f);
		putf(out, " %s[%s];\n", name, length);
	} else {
		put_number(out, f, 8u * op->bytes - ctp_ctf_has_top(op), name);
		if (ctp_ctf_has_top(op))
			put_number(out, &cls->fields[op->top], 1, names[op->top]);
	}
}

static void put_class(struct ctp_output *out, const struct ctp_ctf_class *c)
{
	const struct ctp_class *cls = c->cls;
	struct names names;
	if (!name_fields(&names, cls))
		out_of_memory(out);
	for (unsigned variant = 0; variant < CTP_CTF_VARIANTS && !out->failed; variant++) {
		if (!(c->used >> variant & 1))
			continue;
		put(out, "event {\n\tname = ");
		put_text(out, cls->name);
		putf(out, ";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", ctp_ctf_id(c->number, variant));
		const struct ctp_ctf_layout *layout = c->layout[variant];
		for (const struct ctp_ctf_op *op = layout->ops; op < layout->ops + layout->nops; op++)
			put_op(out, cls, op, names.name);
		put(out, "\t};\n};\n\n");
	}
	for (uint32_t i = 0; i < names.n; i++)
		free(names.name[i]);
}

void ctp_ctf_metadata_end(struct ctp_output *out, const struct ctp_ctf_class *const *classes, size_t nclasses, bool complete)
{
	for (size_t i = 0; i < nclasses; i++) {
		char name[32];
		size_t len;
		char *text = ctp_meta_class(classes[i]->cls, &len);
		snprintf(name, sizeof name, "ctp_class_%u", classes[i]->number);
		put_env_meta(out, name, text, len);
	}
	putf(out, "\tctp_complete = %d;\n};\n\n", complete);
	for (size_t i = 0; i < nclasses; i++)
		put_class(out, classes[i]);
}
