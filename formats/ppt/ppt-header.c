/* ppt-header.c - the header that a file of ppt has around the layout. */
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "ppt/ppt-layout.h"

char *ctp_ppt_header(const char *json, size_t json_len, const char *const *counters, uint32_t ncounters, size_t *len)
{
	static const char before[] = "{\"frComment\":\"\",\"frCounters\":[",
	                  between[] = "],\"frDate\":\"now\",\"frDeltaTime\":0,\"frFormat\":\"1.0.0\",\"frJson\":", after[] = "}";
	size_t room = sizeof before + sizeof between + sizeof after + json_len;
	for (uint32_t i = 0; i < ncounters; i++)
		room += CTP_JSON_GROWTH * strlen(counters[i]) + 3;
	char *text = malloc(room), *p = text;
	if (!text)
		return NULL;
	p = stpcpy(p, before);
	for (uint32_t i = 0; i < ncounters; i++) {
		p = i ? stpcpy(p, ",") : p;
		p = ctp_json_quote(p, counters[i], strlen(counters[i]));
	}
	p = (char *)memcpy(stpcpy(p, between), json, json_len) + json_len;
	p = stpcpy(p, after);
	*len = (size_t)(p - text);
	return text;
}
