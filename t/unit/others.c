/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* others: a message lists the names of classes, each once, as many as fit. */
#include "stream/others.h"

#include <string.h>

#include "tap.h"

static void see(struct ctp_others *o, uint32_t id, const char *name) { ctp_others_note(o, &(struct ctp_class){.name = name, .id = id}); }

int main(void)
{
	static struct ctp_others o, cut;
	char longest[CTP_NAME_MAX + 1] = "";
	memset(longest, 'n', CTP_NAME_MAX);
	is(o.text, "", "without classes the list is empty");
	see(&o, 0, "ab");
	is(o.text, "ab", "one class is listed");
	see(&o, 3, "b");
	see(&o, 4, "a");
	is(o.text, "ab, b, a", "a part of a listed name is listed too");
	ctp_others_section(&o);
	see(&o, 0, "a");
	see(&o, 1, "ab");
	see(&o, 2, "c");
	is(o.text, "ab, b, a, c", "a class of another section is listed by its name");
	see(&o, 5, longest);
	ok(strlen(o.text) == 11 + 2 + CTP_NAME_MAX, "the longest name fits");
	see(&o, 6, "of many more that are here");
	see(&o, 7, "x");
	ok(!strcmp(o.text + strlen(o.text) - 4, " ...") && !strstr(o.text, "x"),
	   "then no other name is listed, and an ellipsis says so");
	see(&cut, 0, longest);
	is(cut.text, longest, "the longest name alone is listed");
	see(&cut, 1, longest);
	is(cut.text, longest, "a long name is listed once");
	done_testing();
}
