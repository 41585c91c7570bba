/* others: the names of classes in a message, each once, as many as there is room for. */
#include "stream/others.h"

#include <string.h>

#include "tap.h"

static void see(struct ctp_others *o, uint32_t id, const char *name) { ctp_others_note(o, &(struct ctp_class){.name = name, .id = id}); }

int main(void)
{
	static struct ctp_others o, cut;
	char longest[CTP_NAME_MAX + 1] = "";
	memset(longest, 'n', CTP_NAME_MAX);
	is(o.text, "", "none");
	see(&o, 0, "ab");
	is(o.text, "ab", "one");
	see(&o, 3, "b");
	see(&o, 4, "a");
	is(o.text, "ab, b, a", "a part of a name is another");
	ctp_others_section(&o);
	see(&o, 0, "a");
	see(&o, 1, "ab");
	see(&o, 2, "c");
	is(o.text, "ab, b, a, c", "in another section classes have other numbers");
	see(&o, 5, longest);
	ok(strlen(o.text) == 11 + 2 + CTP_NAME_MAX, "the longest name has room");
	see(&o, 6, "of many more that are here");
	see(&o, 7, "x");
	ok(!strcmp(o.text + strlen(o.text) - 4, " ...") && !strstr(o.text, "x"), "and then no other, which is said");
	see(&cut, 0, longest);
	is(cut.text, longest, "a long one alone");
	see(&cut, 1, longest);
	is(cut.text, longest, "and again");
	done_testing();
}
