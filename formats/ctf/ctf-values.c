/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctf-values.c - the texts of one record in one buffer. */
#include "ctf/ctf-values.h"

#include "stream/codec.h"

/* How many of len bytes fit the record. */
static size_t most(const struct ctp_ctf_values *v, size_t len)
{
	size_t left = CTP_RECORD_TEXT_MAX - v->sum < CTP_STRING_MAX ? CTP_RECORD_TEXT_MAX - v->sum : CTP_STRING_MAX;
	return len < left ? len : left;
}

char *ctp_ctf_values_begin(struct ctp_ctf_values *v, size_t len)
{
	enum { ALIGN = _Alignof(struct ctp_str) };
	size_t padding = (ALIGN - v->texts.len % ALIGN) % ALIGN;
	char *to = ctp_bytes_reserve(&v->texts, padding + sizeof(struct ctp_str) + len + 1);
	if (!to)
		return NULL;
	v->texts.len += padding;
	return to + padding + offsetof(struct ctp_str, data);
}

void ctp_ctf_values_end(struct ctp_ctf_values *v, uint64_t *val, size_t len)
{
	struct ctp_str *s = (struct ctp_str *)(v->texts.data + v->texts.len);
	s->len = (uint32_t)most(v, len);
	s->data[s->len] = '\0';
	v->cut += len > s->len;
	v->sum += s->len;
	*val = v->texts.len + 1;
	v->texts.len += sizeof *s + s->len + 1;
}

bool ctp_ctf_values_text(struct ctp_ctf_values *v, uint64_t *val, const void *data, size_t len)
{
	char *p = ctp_ctf_values_begin(v, most(v, len));
	if (!p)
		return false;
	memcpy(p, data, most(v, len));
	ctp_ctf_values_end(v, val, len);
	return true;
}

void ctp_ctf_values_done(struct ctp_ctf_values *v, const struct ctp_class *cls)
{
	for (uint32_t i = 0; cls->has_text && i < cls->nfields; i++)
		if (ctp_type_is_text(cls->fields[i].type) && v->val[i])
			v->val[i] = ctp_val_str((struct ctp_str *)(v->texts.data + (v->val[i] - 1)));
	v->texts.len = v->sum = 0;
}

void ctp_ctf_values_fini(struct ctp_ctf_values *v)
{
	ctp_bytes_fini(&v->texts);
	ctp_bytes_fini(&v->json);
}
