/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctf-field.c - the fields of an event to the values of a record, by its plan. */
#include "ctf/ctf-read.h"

#include <string.h>

#include "base/text.h"
#include "common/json.h"

/* --- texts --------------------------------------------------------------------------------------------------------------- */

static bool take_bytes(struct ctp_ctf_values *v, uint64_t *val, const bt_field *f)
{
	size_t len = bt_field_array_get_length(f), most = len < CTP_STRING_MAX ? len : CTP_STRING_MAX;
	char *p = ctp_ctf_values_begin(v, most);
	if (!p)
		return false;
	for (size_t i = 0; i < most; i++) {
		const bt_field *e = bt_field_array_borrow_element_field_by_index_const(f, i);
		if (bt_field_class_type_is(bt_field_get_class_type(e), BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
			p[i] = (char)bt_field_integer_signed_get_value(e);
		else
			p[i] = (char)bt_field_integer_unsigned_get_value(e);
	}
	ctp_ctf_values_end(v, val, len);
	return true;
}

/* --- JSON ---------------------------------------------------------------------------------------------------------------- */

/* The text that is being made. What exceeds the limit of a text is cut off when it is done, and not made in the first place. */
static bool json_is_full(const struct ctp_bytes *j) { return j->len > CTP_STRING_MAX; }

static void json_add(struct ctp_bytes *j, const char *plain)
{
	if (!json_is_full(j))
		ctp_bytes_text(j, plain);
}

static void json_text(struct ctp_bytes *j, const char *text, size_t len)
{
	len = len < CTP_STRING_MAX ? len : CTP_STRING_MAX;
	char *p = json_is_full(j) ? NULL : ctp_bytes_reserve(j, CTP_JSON_GROWTH * len + 2);
	if (p)
		ctp_bytes_commit(j, ctp_json_quote(p, text, len));
}

static void json_number(struct ctp_bytes *j, enum ctp_ctf_take step, const bt_field *f)
{
	char number[CTP_TEXT_MAX + 1], *end;
	if (step == CTP_TAKE_SIGNED)
		end = ctp_text_i64(number, bt_field_integer_signed_get_value(f));
	else
		end = ctp_text_u64(number, step == CTP_TAKE_UNSIGNED ? bt_field_integer_unsigned_get_value(f) :
		                                                       bt_field_bit_array_get_value_as_integer(f));
	*end = '\0';
	json_add(j, number);
}

/* A float that is not finite is a text, as in JSONL: JSON has no number for it. */
static void json_real(struct ctp_bytes *j, enum ctp_ctf_take step, const bt_field *f)
{
	double d = step == CTP_TAKE_F32 ? bt_field_real_single_precision_get_value(f) :
	                                  bt_field_real_double_precision_get_value(f);
	char number[CTP_TEXT_MAX + 1];
	*(step == CTP_TAKE_F32 ? ctp_text_float(number, (float)d) : ctp_text_double(number, d)) = '\0';
	if (d - d != 0)
		json_text(j, number, strlen(number));
	else
		json_add(j, number);
}

static void json_field(struct ctp_bytes *j, const bt_field *f);

static void json_array(struct ctp_bytes *j, const bt_field *f)
{
	uint64_t n = bt_field_array_get_length(f);
	json_add(j, "[");
	for (uint64_t i = 0; i < n && !json_is_full(j); i++) {
		json_add(j, i ? "," : "");
		json_field(j, bt_field_array_borrow_element_field_by_index_const(f, i));
	}
	json_add(j, "]");
}

static void json_structure(struct ctp_bytes *j, const bt_field *f)
{
	const bt_field_class *fc = bt_field_borrow_class_const(f);
	uint64_t n = bt_field_class_structure_get_member_count(fc);
	for (uint64_t i = 0; i < n; i++) {
		const char *name =
			bt_field_class_structure_member_get_name(bt_field_class_structure_borrow_member_by_index_const(fc, i));
		json_add(j, i ? "," : "{");
		json_text(j, name, strlen(name));
		json_add(j, ":");
		json_field(j, bt_field_structure_borrow_member_field_by_index_const(f, i));
	}
	json_add(j, n ? "}" : "{}");
}

/* The first label of an enumeration's value; false: it has none. */
static bool json_label(struct ctp_bytes *j, const bt_field *f, bt_field_class_type type)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t n = 0;
	int status = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) ?
		(int)bt_field_enumeration_unsigned_get_mapping_labels(f, &labels, &n) :
		(int)bt_field_enumeration_signed_get_mapping_labels(f, &labels, &n);
	if (status || !n)
		return false;
	json_text(j, labels[0], strlen(labels[0]));
	return true;
}

static void json_field(struct ctp_bytes *j, const bt_field *f)
{
	bt_field_class_type type = bt_field_get_class_type(f);
	enum ctp_ctf_take step = ctp_ctf_take_of(bt_field_borrow_class_const(f));
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ENUMERATION) && json_label(j, f, type))
		return;
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		json_array(j, f);
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		json_structure(j, f);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		json_field(j, bt_field_variant_borrow_selected_option_field_const(f));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION) && bt_field_option_borrow_field_const(f))
		json_field(j, bt_field_option_borrow_field_const(f));
	else if (step == CTP_TAKE_BOOL)
		json_add(j, bt_field_bool_get_value(f) ? "true" : "false");
	else if (step == CTP_TAKE_STRING)
		json_text(j, bt_field_string_get_value(f), bt_field_string_get_length(f));
	else if (step == CTP_TAKE_F32 || step == CTP_TAKE_F64)
		json_real(j, step, f);
	else if (step == CTP_TAKE_UNSIGNED || step == CTP_TAKE_SIGNED || step == CTP_TAKE_BITS)
		json_number(j, step, f);
	else
		json_add(j, "null");
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

static bool take_structure(struct ctp_ctf_values *v, const struct ctp_ctf_node *node, const bt_field *f);
static bool take_variant(struct ctp_ctf_values *v, const struct ctp_ctf_node *node, const bt_field *f);
static bool take_option(struct ctp_ctf_values *v, const struct ctp_ctf_node *node, const bt_field *f);

static inline bool take_field(struct ctp_ctf_values *v, const struct ctp_ctf_node *node, const bt_field *f)
{
	uint64_t *val = &v->val[node->field];
	switch ((enum ctp_ctf_take)node->step) {
	case CTP_TAKE_UNSIGNED:
		*val = bt_field_integer_unsigned_get_value(f);
		return true;
	case CTP_TAKE_SIGNED:
		*val = (uint64_t)bt_field_integer_signed_get_value(f);
		return true;
	case CTP_TAKE_BOOL:
		*val = bt_field_bool_get_value(f) != BT_FALSE;
		return true;
	case CTP_TAKE_BITS:
		*val = bt_field_bit_array_get_value_as_integer(f);
		return true;
	case CTP_TAKE_F32:
		*val = ctp_double_val(CTP_F32, bt_field_real_single_precision_get_value(f));
		return true;
	case CTP_TAKE_F64:
		*val = ctp_double_val(CTP_F64, bt_field_real_double_precision_get_value(f));
		return true;
	case CTP_TAKE_STRING:
		return ctp_ctf_values_text(v, val, bt_field_string_get_value(f), bt_field_string_get_length(f));
	case CTP_TAKE_BYTES:
		return take_bytes(v, val, f);
	case CTP_TAKE_JSON:
		v->json.len = 0;
		json_array(&v->json, f);
		return !v->json.failed && ctp_ctf_values_text(v, val, v->json.data, v->json.len);
	case CTP_TAKE_STRUCT:
		return take_structure(v, node, f);
	case CTP_TAKE_VARIANT:
		return take_variant(v, node, f);
	case CTP_TAKE_OPTION:
		return take_option(v, node, f);
	case CTP_TAKE_SKIP:
		break;
	}
	return true;
}

static bool take_structure(struct ctp_ctf_values *v, const struct ctp_ctf_node *node, const bt_field *f)
{
	for (uint32_t i = 0; i < node->nnodes; i++) {
		const struct ctp_ctf_node *n = &node->nodes[i];
		if (!take_field(v, n, bt_field_structure_borrow_member_field_by_index_const(f, n->member)))
			return false;
	}
	return true;
}

static bool take_variant(struct ctp_ctf_values *v, const struct ctp_ctf_node *node, const bt_field *f)
{
	uint64_t which = bt_field_variant_get_selected_option_index(f);
	v->val[node->field] = which;
	return which >= node->nnodes ||
	       take_field(v, &node->nodes[which], bt_field_variant_borrow_selected_option_field_const(f));
}

static bool take_option(struct ctp_ctf_values *v, const struct ctp_ctf_node *node, const bt_field *f)
{
	const bt_field *content = bt_field_option_borrow_field_const(f);
	v->val[node->field] = content != NULL;
	return !content || !node->nnodes || take_field(v, &node->nodes[0], content);
}

bool ctp_ctf_event_take(struct ctp_ctf_values *v, const struct ctp_ctf_plan *plan, const bt_event *event)
{
	if (plan->sparse)
		memset(v->val, 0, plan->cls->nfields * sizeof *v->val);
	const struct {
		const struct ctp_ctf_node *node;
		const bt_field *field;
	} scopes[] = {
		{&plan->packet, plan->packet.nnodes ? bt_packet_borrow_context_field_const(bt_event_borrow_packet_const(event)) : NULL},
		{&plan->common, bt_event_borrow_common_context_field_const(event)},
		{&plan->specific, bt_event_borrow_specific_context_field_const(event)},
		{&plan->payload, bt_event_borrow_payload_field_const(event)},
	};
	for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
		if (!take_structure(v, scopes[i].node, scopes[i].field))
			return false;
	ctp_ctf_values_done(v, plan->cls);
	return true;
}
