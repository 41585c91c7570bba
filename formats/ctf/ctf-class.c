/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-class.c - event classes of CTF to classes, and the plans by which their events become records; ctf-read.h has the rule.
 *
 * In a trace of ctp-toctf the id of an event class gives a class of the environment and a variant, as ctf.h says. Its fields are
 * compared with the class's declaration; if they differ, because somebody changed the trace, it is read like any other trace.
 */
#include "ctf/ctf-read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctf/ctf.h"

enum {
	NONE = CTP_FIELDS_MAX,
	RANGE_MAX = 16, /* values of a label's range that get a name each; the labels are declared in every packet */
};

static bool is(const bt_field_class *fc, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_class_get_type(fc), type);
}

static bool is_byte_array(const bt_field_class *fc)
{
	const bt_field_class *element = bt_field_class_array_borrow_element_field_class_const(fc);
	return is(element, BT_FIELD_CLASS_TYPE_INTEGER) && !is(element, BT_FIELD_CLASS_TYPE_ENUMERATION) &&
	       bt_field_class_integer_get_field_value_range(element) == 8;
}

enum ctp_ctf_take ctp_ctf_take_of(const bt_field_class *fc)
{
	static const struct {
		bt_field_class_type type;
		enum ctp_ctf_take step;
	} steps[] = {
		{BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER, CTP_TAKE_UNSIGNED},
		{BT_FIELD_CLASS_TYPE_SIGNED_INTEGER, CTP_TAKE_SIGNED},
		{BT_FIELD_CLASS_TYPE_STRING, CTP_TAKE_STRING},
		{BT_FIELD_CLASS_TYPE_BOOL, CTP_TAKE_BOOL},
		{BT_FIELD_CLASS_TYPE_BIT_ARRAY, CTP_TAKE_BITS},
		{BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL, CTP_TAKE_F32},
		{BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL, CTP_TAKE_F64},
	};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (is(fc, steps[i].type))
			return steps[i].step;
	if (is(fc, BT_FIELD_CLASS_TYPE_ARRAY))
		return is_byte_array(fc) ? CTP_TAKE_BYTES : CTP_TAKE_JSON;
	return CTP_TAKE_SKIP;
}

/* --- lengths of arrays --------------------------------------------------------------------------------------------------- */

/* The part of an event that is being flattened. */
struct scope {
	bt_field_path_scope scope;
	const bt_field_class *root;
};

static const bt_field_class *member_class(const bt_field_class *fc, uint64_t i)
{
	return bt_field_class_structure_member_borrow_field_class_const(
		bt_field_class_structure_borrow_member_by_index_const(fc, i));
}

/* The structure that holds the target of a path, which begins at the root of its scope. Null: the path has more than structures. */
static const bt_field_class *path_parent(const bt_field_path *path, const bt_field_class *root)
{
	uint64_t steps = bt_field_path_get_item_count(path);
	for (uint64_t i = 0; root && i + 1 < steps; i++) {
		const bt_field_path_item *item = bt_field_path_borrow_item_by_index_const(path, i);
		if (!is(root, BT_FIELD_CLASS_TYPE_STRUCTURE) ||
		    bt_field_path_item_get_type(item) != BT_FIELD_PATH_ITEM_TYPE_INDEX)
			return NULL;
		root = member_class(root, bt_field_path_item_index_get_index(item));
	}
	return steps ? root : NULL;
}

/* True if member i of a structure is only the length of the array after it. */
static bool is_length(const struct scope *scope, const bt_field_class *fc, uint64_t i)
{
	if (i + 1 >= bt_field_class_structure_get_member_count(fc))
		return false;
	const bt_field_class *next = member_class(fc, i + 1);
	if (!is(next, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD))
		return false;
	const bt_field_path *path = bt_field_class_array_dynamic_with_length_field_borrow_length_field_path_const(next);
	if (bt_field_path_get_root_scope(path) != scope->scope || path_parent(path, scope->root) != fc)
		return false;
	const bt_field_path_item *last = bt_field_path_borrow_item_by_index_const(path, bt_field_path_get_item_count(path) - 1);
	return bt_field_path_item_get_type(last) == BT_FIELD_PATH_ITEM_TYPE_INDEX &&
	       bt_field_path_item_index_get_index(last) == i;
}

/* --- a class that is being made ------------------------------------------------------------------------------------------ */

struct draft {
	uint32_t n, left_out;
	bool sparse;
	struct scope scope;
	struct ctp_field fields[CTP_FIELDS_MAX];
	struct scrap { /* names and labels, until the class has copies */
		struct scrap *next;
		char mem[];
	} *scraps;
};

/* Null: out of memory. */
static void *scrap(struct draft *d, size_t bytes)
{
	struct scrap *s = malloc(sizeof *s + bytes);
	if (!s)
		return NULL;
	s->next = d->scraps;
	d->scraps = s;
	return s->mem;
}

static bool is_taken(const struct draft *d, const char *name)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (!strcmp(d->fields[i].name, name))
			return true;
	return false;
}

/* The roles of well-known names, in any part of an event. */
static enum ctp_role role_of(const char *name)
{
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
	if (!strcmp(last, "tid") || !strcmp(last, "vtid"))
		return CTP_ROLE_THREAD;
	if (!strcmp(last, "pid") || !strcmp(last, "vpid"))
		return CTP_ROLE_PROCESS;
	return CTP_ROLE_NONE;
}

/* Adds a field; its number, or NONE: there is no room. A name that is taken or too long is changed. */
static uint32_t add_field(struct draft *d, const char *name, unsigned type)
{
	char *own = d->n < CTP_FIELDS_MAX ? scrap(d, CTP_NAME_MAX + 1) : NULL;
	if (!own) {
		d->left_out++;
		return NONE;
	}
	snprintf(own, CTP_NAME_MAX + 1, "%s", name);
	for (unsigned again = 2; is_taken(d, own); again++)
		snprintf(own, CTP_NAME_MAX + 1, "%.*s_%u", CTP_NAME_MAX - 11, name, again);
	d->fields[d->n] = (struct ctp_field){
		.name = own, .type = (uint8_t)type, .pred = d->n < CTP_MASKED_MAX ? CTP_PRED_PREV : CTP_PRED_NONE,
	};
	return d->n++;
}

/* --- enumerations -------------------------------------------------------------------------------------------------------- */

static struct ctp_label *labels_of(struct draft *d, struct ctp_field *f)
{
	f->labels = scrap(d, CTP_LABELS_MAX * sizeof *f->labels);
	return (struct ctp_label *)(uintptr_t)f->labels;
}

/* Adds labels for the values from first to last, with a name each if there are several; for too many values, none. */
static void add_labels(struct draft *d, struct ctp_field *f, struct ctp_label *labels, const char *name, uint64_t first,
                       uint64_t last, bool is_signed)
{
	if (!*name || last - first >= RANGE_MAX || last - first >= CTP_LABELS_MAX - f->nlabels)
		return;
	for (uint64_t value = first; f->nlabels < CTP_LABELS_MAX; value++) {
		char *own = scrap(d, CTP_NAME_MAX + 1);
		if (!own)
			return;
		if (first == last)
			snprintf(own, CTP_NAME_MAX + 1, "%s", name);
		else if (is_signed)
			snprintf(own, CTP_NAME_MAX + 1, "%.*s (%" PRId64 ")", CTP_NAME_MAX - 23, name, (int64_t)value);
		else
			snprintf(own, CTP_NAME_MAX + 1, "%.*s (%" PRIu64 ")", CTP_NAME_MAX - 23, name, value);
		labels[f->nlabels++] = (struct ctp_label){value, own};
		if (value == last)
			return;
	}
}

/* The library has the same functions twice, for enumerations of signed and of unsigned numbers. */
#define DEFINE_ADD_LABELS(sign, is_signed) \
static void add_##sign##_labels(struct draft *d, struct ctp_field *f, const bt_field_class *fc) \
{ \
	struct ctp_label *labels = labels_of(d, f); \
	uint64_t n = labels ? bt_field_class_enumeration_get_mapping_count(fc) : 0; \
	for (uint64_t i = 0; i < n; i++) { \
		const bt_field_class_enumeration_##sign##_mapping *m = \
			bt_field_class_enumeration_##sign##_borrow_mapping_by_index_const(fc, i); \
		const char *name = bt_field_class_enumeration_mapping_get_label( \
			bt_field_class_enumeration_##sign##_mapping_as_mapping_const(m)); \
		const bt_integer_range_set_##sign *set = bt_field_class_enumeration_##sign##_mapping_borrow_ranges_const(m); \
		uint64_t nranges = bt_integer_range_set_get_range_count(bt_integer_range_set_##sign##_as_range_set_const(set)); \
		for (uint64_t r = 0; r < nranges; r++) { \
			const bt_integer_range_##sign *range = bt_integer_range_set_##sign##_borrow_range_by_index_const(set, r); \
			add_labels(d, f, labels, name, (uint64_t)bt_integer_range_##sign##_get_lower(range), \
			           (uint64_t)bt_integer_range_##sign##_get_upper(range), is_signed); \
		} \
	} \
}
DEFINE_ADD_LABELS(unsigned, false)
DEFINE_ADD_LABELS(signed, true)

/* --- flattening ---------------------------------------------------------------------------------------------------------- */

static void flatten_integer(struct draft *d, struct ctp_ctf_node *node, const char *name, const bt_field_class *fc)
{
	bool is_enum = is(fc, BT_FIELD_CLASS_TYPE_ENUMERATION);
	uint64_t bits = bt_field_class_integer_get_field_value_range(fc);
	unsigned width = (bits > 8) + (bits > 16) + (bits > 32);
	node->field = add_field(d, name, is_enum ? CTP_ENUM : width + (node->step == CTP_TAKE_SIGNED ? CTP_I8 : CTP_U8));
	if (node->field == NONE)
		return;
	struct ctp_field *f = &d->fields[node->field];
	if (is_enum)
		(node->step == CTP_TAKE_SIGNED ? add_signed_labels : add_unsigned_labels)(d, f, fc);
	else
		f->role = (uint8_t)role_of(name);
	if (!is_enum && bt_field_class_integer_get_preferred_display_base(fc) ==
	                        BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL)
		f->flags |= CTP_FIELD_HEX;
}

static void flatten(struct draft *d, struct ctp_ctf_node *node, const char *name, const bt_field_class *fc);

static struct ctp_ctf_node *nodes_new(struct ctp_ctf_node *node, uint64_t n)
{
	node->nodes = calloc(n + 1, sizeof *node->nodes);
	return node->nodes;
}

static void flatten_structure(struct draft *d, struct ctp_ctf_node *node, const char *prefix, const bt_field_class *fc)
{
	uint64_t n = bt_field_class_structure_get_member_count(fc);
	struct ctp_ctf_node *next = nodes_new(node, n);
	for (uint64_t i = 0; next && i < n; i++) {
		const char *own = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(fc, i));
		char name[CTP_NAME_MAX + 1];
		if (is_length(&d->scope, fc, i))
			continue;
		snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", own);
		next->member = (uint32_t)i;
		flatten(d, next, name, member_class(fc, i));
		if (next->step != CTP_TAKE_SKIP)
			next++;
	}
	node->nnodes = next ? (uint32_t)(next - node->nodes) : 0;
}

static void flatten_variant(struct draft *d, struct ctp_ctf_node *node, const char *prefix, const bt_field_class *fc)
{
	uint64_t n = bt_field_class_variant_get_option_count(fc);
	struct ctp_ctf_node *nodes = nodes_new(node, n);
	node->field = add_field(d, prefix, CTP_ENUM);
	struct ctp_field *which = node->field == NONE ? NULL : &d->fields[node->field];
	struct ctp_label *labels = which ? labels_of(d, which) : NULL;
	for (uint64_t i = 0; nodes && i < n; i++) {
		const bt_field_class_variant_option *option = bt_field_class_variant_borrow_option_by_index_const(fc, i);
		const char *option_name = bt_field_class_variant_option_get_name(option);
		char name[CTP_NAME_MAX + 1];
		snprintf(name, sizeof name, "%s.%s", prefix, option_name ? option_name : "");
		if (labels && option_name)
			add_labels(d, which, labels, option_name, i, i, false);
		flatten(d, &nodes[i], name, bt_field_class_variant_option_borrow_field_class_const(option));
		node->nnodes++;
	}
	d->sparse = true;
}

static void flatten_option(struct draft *d, struct ctp_ctf_node *node, const char *prefix, const bt_field_class *fc)
{
	char name[CTP_NAME_MAX + 1];
	snprintf(name, sizeof name, "%s.present", prefix);
	node->field = add_field(d, name, CTP_BOOL);
	if (nodes_new(node, 1)) {
		flatten(d, node->nodes, prefix, bt_field_class_option_borrow_field_class_const(fc));
		node->nnodes = 1;
	}
	d->sparse = true;
}

static void flatten(struct draft *d, struct ctp_ctf_node *node, const char *name, const bt_field_class *fc)
{
	static const uint8_t types[] = {
		[CTP_TAKE_BOOL] = CTP_BOOL, [CTP_TAKE_BITS] = CTP_U64, [CTP_TAKE_F32] = CTP_F32, [CTP_TAKE_F64] = CTP_F64,
		[CTP_TAKE_STRING] = CTP_STRING, [CTP_TAKE_BYTES] = CTP_BYTES, [CTP_TAKE_JSON] = CTP_STRING,
	};
	node->field = NONE;
	node->step = (uint8_t)ctp_ctf_take_of(fc);
	if (is(fc, BT_FIELD_CLASS_TYPE_STRUCTURE)) {
		node->step = CTP_TAKE_STRUCT;
		flatten_structure(d, node, name, fc);
	} else if (is(fc, BT_FIELD_CLASS_TYPE_VARIANT)) {
		node->step = CTP_TAKE_VARIANT;
		flatten_variant(d, node, name, fc);
	} else if (is(fc, BT_FIELD_CLASS_TYPE_OPTION)) {
		node->step = CTP_TAKE_OPTION;
		flatten_option(d, node, name, fc);
	} else if (node->step == CTP_TAKE_UNSIGNED || node->step == CTP_TAKE_SIGNED) {
		flatten_integer(d, node, name, fc);
	} else if (node->step != CTP_TAKE_SKIP) {
		node->field = add_field(d, name, types[node->step]);
	}
	if (node->field == NONE && node->step < CTP_TAKE_STRUCT)
		node->step = CTP_TAKE_SKIP;
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

struct ctp_class *ctp_ctf_classes_add(struct ctp_ctf_classes *classes, struct ctp_class *cls)
{
	uint32_t i = 0;
	while (i < classes->nclasses && (classes->classes[i]->decl_bytes != cls->decl_bytes ||
	                                 memcmp(classes->classes[i]->decl, cls->decl, cls->decl_bytes)))
		i++;
	if (i < classes->nclasses || i == CTP_CLASSES_MAX) {
		ctp_class_free(cls);
		return i < classes->nclasses ? classes->classes[i] : NULL;
	}
	return classes->classes[classes->nclasses++] = cls;
}

static void nodes_free(struct ctp_ctf_node *node)
{
	for (uint32_t i = 0; i < node->nnodes; i++)
		nodes_free(&node->nodes[i]);
	free(node->nodes);
}

static void plan_clear(struct ctp_ctf_plan *plan)
{
	nodes_free(&plan->packet);
	nodes_free(&plan->common);
	nodes_free(&plan->specific);
	nodes_free(&plan->payload);
}

void ctp_ctf_classes_clear(struct ctp_ctf_classes *classes)
{
	for (uint32_t i = 0; i < classes->nclasses; i++)
		ctp_class_free(classes->classes[i]);
	for (uint32_t i = 0; i < classes->nplans; i++)
		plan_clear(&classes->plans[i]);
	memset(classes, 0, sizeof *classes);
}

/* --- plans --------------------------------------------------------------------------------------------------------------- */

static void flatten_scope(struct draft *d, bt_field_path_scope scope, const bt_field_class *fc, const char *prefix,
                          struct ctp_ctf_node *node)
{
	d->scope = (struct scope){scope, fc};
	if (fc)
		flatten_structure(d, node, prefix, fc);
}

static void plan_foreign(struct ctp_ctf_classes *classes, struct ctp_ctf_plan *plan, const bt_stream_class *sc)
{
	const bt_event_class *ec = plan->of;
	const char *given = bt_event_class_get_name(ec);
	char name[CTP_NAME_MAX + 1];
	struct ctp_err err;
	struct draft *d = calloc(1, sizeof *d);
	if (!d)
		return;
	if (given && *given)
		snprintf(name, sizeof name, "%s", given);
	else
		snprintf(name, sizeof name, "event_%" PRIu64, bt_event_class_get_id(ec));
	if (plan->has_clock) {
		plan->ts_field = (int)add_field(d, "ts", CTP_U64);
		d->fields[0].role = CTP_ROLE_TIME;
		d->fields[0].pred = CTP_PRED_TIME;
		d->fields[0].unit = "ns";
	}
	if (bt_stream_class_supports_packets(sc))
		flatten_scope(d, BT_FIELD_PATH_SCOPE_PACKET_CONTEXT,
		              bt_stream_class_borrow_packet_context_field_class_const(sc), "packet", &plan->packet);
	flatten_scope(d, BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT,
	              bt_stream_class_borrow_event_common_context_field_class_const(sc), "ctx", &plan->common);
	flatten_scope(d, BT_FIELD_PATH_SCOPE_EVENT_SPECIFIC_CONTEXT,
	              bt_event_class_borrow_specific_context_field_class_const(ec), "ctx", &plan->specific);
	flatten_scope(d, BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD, bt_event_class_borrow_payload_field_class_const(ec), "",
	              &plan->payload);
	plan->sparse = d->sparse;
	struct ctp_class *cls = ctp_class_new(name, CTP_KIND_OTHER, d->fields, d->n, &err);
	if (cls)
		plan->cls = ctp_ctf_classes_add(classes, cls);
	if (!cls)
		ctp_notice_say(classes->notice, "events of %s are left out: %s", name, err.text);
	else if (!plan->cls)
		ctp_notice_say(classes->notice, "events of %s are left out: more than %d classes", name, CTP_CLASSES_MAX);
	else if (d->left_out)
		ctp_notice_say(classes->notice, "event %s: %u fields beyond the first %d are left out", name, d->left_out,
		               CTP_FIELDS_MAX);
	classes->harmed |= !plan->cls || d->left_out;
	for (struct scrap *s = d->scraps, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	free(d);
}

/* Whether a field of this type is read so in a trace of ctp-toctf. */
static bool step_fits(enum ctp_ctf_take step, unsigned type)
{
	if (ctp_type_is_text(type))
		return step == CTP_TAKE_BYTES || (step == CTP_TAKE_STRING && type == CTP_STRING);
	return step == (type == CTP_F32          ? CTP_TAKE_F32 :
	                type == CTP_F64          ? CTP_TAKE_F64 :
	                ctp_type_is_signed(type) ? CTP_TAKE_SIGNED : CTP_TAKE_UNSIGNED);
}

/* The number of members from `member` on, if these are the spellings of the class's texts, which are not read; else 0. */
static uint64_t count_spellings(const struct ctp_class *cls, const bt_field_class *fc, uint64_t member)
{
	uint64_t n = fc ? bt_field_class_structure_get_member_count(fc) : 0, texts = 0;
	for (uint32_t i = 0; ctp_ctf_has_names(cls) && i < cls->nfields; i++)
		texts += cls->fields[i].type == CTP_STRING;
	for (uint64_t i = member; i < n; i++)
		if (ctp_ctf_take_of(member_class(fc, i)) != CTP_TAKE_STRING)
			return 0;
	return n - member == texts ? texts : 0;
}

/* Plans a payload that has the fields of the class in order, lengths before sequences, and perhaps spellings. False: it has not. */
static bool plan_ours(struct ctp_ctf_plan *plan, struct ctp_class *cls, bool timed)
{
	const bt_field_class *fc = bt_event_class_borrow_payload_field_class_const(plan->of);
	const struct scope scope = {BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD, fc};
	uint64_t n = fc ? bt_field_class_structure_get_member_count(fc) : 0, member = 0;
	struct ctp_ctf_node *next = nodes_new(&plan->payload, cls->nfields);
	for (uint32_t i = 0; next && i < cls->nfields; i++) {
		if ((int)i == cls->time_field && !timed)
			continue;
		if (member < n && is_length(&scope, fc, member))
			member++;
		if (member == n)
			break;
		*next = (struct ctp_ctf_node){
			.step = (uint8_t)ctp_ctf_take_of(member_class(fc, member)), .field = i, .member = (uint32_t)member,
		};
		member++;
		if (!step_fits((enum ctp_ctf_take)next->step, cls->fields[i].type))
			break;
		next++;
	}
	plan->payload.nnodes = next ? (uint32_t)(next - plan->payload.nodes) : 0;
	plan->ts_field = timed ? -1 : cls->time_field;
	plan->cls = cls;
	plan->has_clock = plan->plain_clock = true;
	return next && member + count_spellings(cls, fc, member) == n && plan->payload.nnodes + (plan->ts_field >= 0) == cls->nfields;
}

static void make_plan(struct ctp_ctf_classes *classes, struct ctp_ctf_plan *plan)
{
	uint64_t id = bt_event_class_get_id(plan->of);
	const bt_stream_class *sc = bt_event_class_borrow_stream_class_const(plan->of);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(sc);
	if (clock && ctp_ctf_number(id) < classes->nours) {
		struct ctp_class *cls = classes->ours[ctp_ctf_number(id)];
		if (plan_ours(plan, cls, id & CTP_CTF_TIMED))
			return;
		ctp_notice_say(classes->notice, "event %s does not look as ctp-toctf declared it; read as any other",
		               cls->name);
		plan_clear(plan);
		*plan = (struct ctp_ctf_plan){.of = plan->of};
	}
	plan->ts_field = -1;
	plan->has_clock = clock;
	int64_t offset_ns;
	plan->plain_clock = clock && (classes->nours || (bt_clock_class_get_frequency(clock) == 1000000000 &&
	                                                 !bt_clock_class_cycles_to_ns_from_origin(clock, 0, &offset_ns) &&
	                                                 offset_ns == classes->origin_ns));
	plan_foreign(classes, plan, sc);
}

const struct ctp_ctf_plan *ctp_ctf_plan_of(struct ctp_ctf_classes *classes, const bt_event_class *ec)
{
	size_t slots = sizeof classes->slots / sizeof *classes->slots;
	size_t i = ((uintptr_t)ec >> 4) * 0x9e3779b1u % slots;
	while (classes->slots[i] && classes->slots[i]->of != ec)
		i = (i + 1) % slots;
	if (classes->slots[i])
		return classes->slots[i];
	if (classes->nplans == CTP_CTF_PLANS_MAX)
		return NULL;
	struct ctp_ctf_plan *plan = &classes->plans[classes->nplans++];
	plan->of = ec;
	make_plan(classes, plan);
	return classes->slots[i] = plan;
}
