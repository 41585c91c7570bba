/* ctf-values.c - the texts of one record in one buffer. */
#include "ctf/ctf-values.h"

#include <stdlib.h>
#include <string.h>

#include "stream/codec.h"

/* How many of len bytes fit the record. */
static size_t most(const struct ctp_ctf_values *v, size_t len)
{
	size_t left = CTP_RECORD_TEXT_MAX - v->sum < CTP_STRING_MAX ? CTP_RECORD_TEXT_MAX - v->sum : CTP_STRING_MAX;
	return len < left ? len : left;
}

char *ctp_ctf_values_begin(struct ctp_ctf_values *v, size_t len)
{
	size_t need = sizeof(struct ctp_str) + len + 1;
	v->len = (v->len + _Alignof(struct ctp_str) - 1) / _Alignof(struct ctp_str) * _Alignof(struct ctp_str);
	if (v->cap < v->len || v->cap - v->len < need) {
		size_t cap = 2 * (v->len + need);
		char *text = realloc(v->text, cap);
		if (!text)
			return NULL;
		v->text = text;
		v->cap = cap;
	}
	return v->text + v->len + offsetof(struct ctp_str, data);
}

void ctp_ctf_values_end(struct ctp_ctf_values *v, uint64_t *val, size_t len)
{
	struct ctp_str *s = (struct ctp_str *)(v->text + v->len);
	s->len = (uint32_t)most(v, len);
	s->data[s->len] = '\0';
	v->cut += len > s->len;
	v->sum += s->len;
	*val = v->len + 1;
	v->len += sizeof *s + s->len + 1;
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
			v->val[i] = ctp_val_str((struct ctp_str *)(v->text + (v->val[i] - 1)));
	v->len = v->sum = 0;
}

void ctp_ctf_values_fini(struct ctp_ctf_values *v) { free(v->text); }
