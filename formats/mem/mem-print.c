/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-print.c - see mem-print.h. */
#include "mem/mem-print.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/visible.h"
#include "symbols/spelling.h"

const char *ctp_mem_number(char to[CTP_MEM_NUMBER_MAX], uint64_t n)
{
	*ctp_text_count(to, n) = '\0';
	return to;
}

const char *ctp_mem_brief(char to[CTP_MEM_NUMBER_MAX], uint64_t n)
{
	static const char units[] = "kMGTPE";
	double d = (double)n / 1000;
	unsigned unit = 0;
	for (; d >= 999.5; d /= 1000)
		unit++;
	if (n < 10000)
		snprintf(to, CTP_MEM_NUMBER_MAX, "%ju", n);
	else
		snprintf(to, CTP_MEM_NUMBER_MAX, d < 99.95 ? "%.1f%c" : "%.0f%c", d, units[unit]);
	return to;
}

const char *ctp_mem_bytes(char to[CTP_MEM_NUMBER_MAX], uint64_t n)
{
	bool mega = n >= 1 << 20 && !(n % (1 << 20)), kilo = n >= 1 << 10 && !(n % (1 << 10));
	const char *unit = mega ? "MiB" : kilo ? "KiB" : n == 1 ? "byte" : "bytes";
	snprintf(to, CTP_MEM_NUMBER_MAX, "%ju %s", mega ? n >> 20 : kilo ? n >> 10 : n, unit);
	return to;
}

const char *ctp_mem_hands(char to[CTP_MEM_HANDS_MAX], const struct ctp_shared_line *l)
{
	static const struct {
		enum ctp_handover h;
		const char *what;
	} kinds[] = {{CTP_HANDOVER_NEEDLESS, "without need"}, {CTP_HANDOVER_NEEDED, "for data"}, {CTP_HANDOVER_FIRST, "for the first time"},
	             {CTP_HANDOVER_OTHER, "of other threads"}};
	char n[CTP_MEM_NUMBER_MAX];
	uint64_t all = ctp_sharing_handovers(l);
	int len = snprintf(to, CTP_MEM_HANDS_MAX, "%s time%s", ctp_mem_number(n, all), all == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (l->handovers[kinds[i].h] || kinds[i].h == CTP_HANDOVER_NEEDLESS)
			len += snprintf(to + len, CTP_MEM_HANDS_MAX - (size_t)len, "%s %s %s", i ? "," : ":",
			                ctp_mem_number(n, l->handovers[kinds[i].h]), kinds[i].what);
	return to;
}

const char *ctp_mem_member_name(const struct ctp_mem_member *member)
{
	return member && member->padding ? "(padding)" : member && member->name ? member->name : "";
}

void ctp_mem_put_name(struct ctp_output *out, const char *text)
{
	char c[CTP_VISIBLE_MAX];
	unsigned columns;
	for (unsigned n; (n = ctp_visible_char(c, &text, &columns));)
		ctp_output_put(out, c, n);
}

void ctp_mem_put_type(struct ctp_output *out, const struct ctp_mem *m, uint32_t type)
{
	const char *name = m->types.type[type].name;
	ctp_mem_put_name(out, name && *name ? name : name ? "(no name)" : type == CTP_MEM_NONE ? "(none)" : "(others)");
}

bool ctp_mem_is_named(const struct ctp_mem_type *type, const char *name)
{
	char want[CTP_MEM_NAME_MAX], plain[CTP_MEM_NAME_MAX];
	if (!type->name)
		return false;
	ctp_spelling(want, sizeof want, name);
	ctp_spelling(plain, sizeof plain, type->name);
	return !strcmp(type->name, name) || (*want && !strcmp(plain, want));
}
