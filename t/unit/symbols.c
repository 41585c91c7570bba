/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* symbols.c - finds the mapping of an address, also after changes, with unusual classes, and beyond the limits. */
#include "symbols/symbols.c" /* for its slots */

#include "stream/events.h"
#include "tap.h"

/* A string of a record; room for the longest that is tried. */
struct string {
	uint32_t len;
	char data[5001];
};

static uint64_t text(struct string *t, const char *s)
{
	t->len = (uint32_t)strlen(s);
	strcpy(t->data, s);
	return ctp_val_str((const struct ctp_str *)t);
}

static struct ctp_class *class_of(enum ctp_event event)
{
	static struct ctp_class *classes[CTP_EVENT_COUNT];
	if (!classes[event] && !(classes[event] = ctp_event_class(event)))
		abort();
	return classes[event];
}

static void map(struct ctp_symbols *s, uint64_t pid, uint64_t start, uint64_t stop, const char *path)
{
	static struct string a, b;
	const uint64_t val[CTP_MAPPING_FIELDS] = {
		[CTP_MAPPING_PID] = pid, [CTP_MAPPING_START] = start, [CTP_MAPPING_STOP] = stop,
		[CTP_MAPPING_PATH] = text(&a, path), [CTP_MAPPING_BUILD_ID] = text(&b, "id"),
	};
	ctp_symbols_learn(s, &(struct ctp_record){.cls = class_of(CTP_MAPPING), .val = val});
}

static void thread(struct ctp_symbols *s, uint64_t tid, uint64_t pid)
{
	static struct string name;
	const uint64_t val[CTP_THREAD_FIELDS] = {
		[CTP_THREAD_TID] = tid, [CTP_THREAD_PID] = pid, [CTP_THREAD_NAME] = text(&name, "x")};
	ctp_symbols_learn(s, &(struct ctp_record){.cls = class_of(CTP_THREAD), .val = val});
}

static const char *found(struct ctp_symbols *s, uint64_t pid, uint64_t addr)
{
	const struct ctp_str *str = ctp_symbols_find(s, pid, addr);
	return str ? str->data : NULL;
}

static uint64_t pid_of(const struct ctp_symbols *s, uint64_t tid)
{
	const uint64_t val[CTP_TRANSITION_FIELDS] = {[CTP_TRANSITION_TID] = tid};
	return ctp_symbols_pid(s, &(struct ctp_record){.cls = class_of(CTP_TRANSITION), .val = val});
}

static void test_mappings(struct ctp_symbols *s)
{
	is(found(s, 1, 0x1000), NULL, "without mappings an address has no text");
	uint64_t offset;
	ok(!ctp_symbols_locate(s, 0, 0x1000, &offset), "without mappings no address is code");
	map(s, 1, 0x1000, 0x3000, "/none/a");
	is(found(s, 1, 0x1000), "a+0x0", "the first address of a mapping is found");
	is(found(s, 1, 0x2fff), "a+0x1fff", "the last address of a mapping is found");
	is(found(s, 1, 0x3000), NULL, "an address after it is not");
	is(found(s, 1, 0xfff), NULL, "an address before it is not");
	ok(ctp_symbols_locate(s, 1, 0x2000, &offset) && !ctp_symbols_locate(s, 1, 0x3000, &offset),
	   "addresses in a mapping are code");
	is(found(s, 7, 0x1000), "a+0x0", "an unknown process uses the known mappings");
	map(s, 2, 0x8000, 0x9000, "/none/b");
	is(found(s, 2, 0x1000), NULL, "a known process uses its own mappings");
	is(found(s, 0, 0x8001), "b+0x1", "without a process the only match is used");
	map(s, 3, 0x8000, 0x9000, "/none/b");
	is(found(s, 0, 0x8001), "b+0x1", "without a process equal matches are used");
	map(s, 3, 0x8000, 0x9000, "/none/x");
	is(found(s, 0, 0x8001), NULL, "without a process different matches are not used");
	is(found(s, 3, 0x8001), "x+0x1", "each process still has its own match");
	uint32_t file = ctp_symbols_locate(s, 2, 0x8001, &offset);
	map(s, 4, 0x78000, 0x79000, "/none/b");
	uint64_t elsewhere;
	ok(file && ctp_symbols_locate(s, 4, 0x78001, &elsewhere) == file && elsewhere == offset,
	   "the same file mapped at another address gives the same place");
	map(s, 2, 0x8000, 0x9000, "/none/y");
	is(found(s, 2, 0x8001), "y+0x1", "a process has its new program after an exec");
	const struct ctp_str *was = ctp_symbols_text(s, file, offset);
	is(was ? was->data : NULL, "b+0x1", "the text before the exec is unchanged");

	const struct ctp_str *before = ctp_symbols_find(s, 1, 0x2000);
	map(s, 1, 0x1800, 0x2800, "/none/c");
	is(found(s, 1, 0x2000), "c+0x800", "a new mapping replaces an old one");
	is(found(s, 1, 0x1000), NULL, "nothing is left of the old mapping");
	is(before->data, "a+0x1000", "the text of the old mapping is still valid");
	map(s, 1, 0x100, 0x10000, "/none/d");
	is(found(s, 1, 0x1900), "d+0x1800", "a mapping may replace several");
	map(s, 1, UINT64_MAX - 1, UINT64_MAX, "/none/e");
	is(found(s, 1, UINT64_MAX - 1), "e+0x0", "a mapping at the end of all addresses is found");
	is(found(s, 1, UINT64_MAX), NULL, "the address after it is not");
}

static void test_threads(struct ctp_symbols *s)
{
	is_u64(pid_of(s, 5), 0, "an unknown thread has no process");
	thread(s, 5, 2);
	is_u64(pid_of(s, 5), 2, "a known thread has its process");
	thread(s, 5, 1);
	is_u64(pid_of(s, 5), 1, "a reused thread number has its new process");
	thread(s, 0, 9);
	is_u64(pid_of(s, 0), 0, "thread 0 has no process");
}

static void test_odd(struct ctp_symbols *s)
{
	static const struct ctp_field fields[] = {
		{.name = "start", .type = CTP_STRING}, {.name = "stop", .type = CTP_F64}, {.name = "path", .type = CTP_STRING},
		{.name = "build_id", .type = CTP_STRING}, {.name = "pid", .type = CTP_I64, .role = CTP_ROLE_PROCESS},
	};
	struct ctp_err err;
	struct ctp_class *odd = ctp_class_new("odd", CTP_KIND_MAPPING, fields, 5, &err);
	struct ctp_class *none = ctp_class_new("none", CTP_KIND_THREAD, fields, 0, &err);
	const uint64_t val[5] = {0};
	if (!odd || !none)
		abort();
	ctp_symbols_learn(s, &(struct ctp_record){.cls = odd, .val = val});
	ctp_symbols_learn(s, &(struct ctp_record){.cls = none, .val = val});
	uint64_t pid = ctp_symbols_pid(s, &(struct ctp_record){.cls = none, .val = val});
	is_u64(pid, 0, "classes with the right names and wrong types are ignored");
	ctp_class_free(odd);
	ctp_class_free(none);
	map(s, 3, 0x22000, 0x21000, "/none/x");
	map(s, 3, 0x21000, 0x21000, "/none/x");
	is(found(s, 3, 0x21000), NULL, "empty mappings are ignored");
	char longest[5000];
	memset(longest, '/', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	map(s, 3, 0x21000, 0x22000, longest);
	is(found(s, 3, 0x21000), NULL, "a path that is no path is ignored");
	memset(longest + 1, 'y', 4000);
	longest[4001] = '\0';
	map(s, 3, 0x21000, 0x22000, longest);
	ok(strlen(found(s, 3, 0x21000)) < 300, "a long name is cut");
	map(s, 3, 0x21000, 0x22000, "/none/a\n\033[2Jb");
	is(found(s, 3, 0x21000), "a??[2Jb+0x0", "control characters are replaced");
}

/* The longest run of used slots in the table of texts: the longest search. */
static uint32_t longest_row(const struct ctp_symbols *s)
{
	uint32_t longest = 0, row = 0;
	for (size_t i = 0; i < s->kept.texts.nslots; i++) {
		row = s->kept.texts.slots[i] ? row + 1 : 0;
		longest = row > longest ? row : longest;
	}
	return longest;
}

static void test_limits(struct ctp_symbols *s)
{
	ctp_symbols_forget(s);
	is(found(s, 1, 0x1000), NULL, "a new section forgets all mappings");
	is_u64(pid_of(s, 5), 0, "a new section forgets all threads");
	map(s, 1, 0, UINT64_C(1) << 40, "/none/a");
	uint64_t n = 0;
	while (n <= TEXTS_MAX && ctp_symbols_find(s, 1, n))
		n++;
	is_u64(n, TEXTS_MAX, "the number of texts is limited");
	ok(longest_row(s) < TEXTS_MAX / 64, "texts do not cluster in the table");
	is(found(s, 1, 1), "a+0x1", "texts within the limit are found");
	ctp_symbols_forget(s);
	for (uint64_t pid = 1; pid <= 2000; pid++)
		map(s, pid, 0x1000, 0x2000, "/none/a");
	is(found(s, 2000, 0x1000), "a+0x0", "a process beyond the limit is unknown");
	for (uint64_t i = 0; i < 3000; i++)
		map(s, 1, 0x10000 + i * 0x1000, 0x11000 + i * 0x1000, "/none/b");
	is(found(s, 1, 0x10001), "b+0x1", "mappings up to the limit are kept");
	is(found(s, 1, 0x10000 + 2999 * 0x1000), NULL, "a mapping beyond the limit is not");
	for (uint64_t tid = 1; tid < 20000; tid++)
		thread(s, tid, 1);
	is_u64(pid_of(s, 1), 1, "threads up to the limit are kept");
	is_u64(pid_of(s, 19999), 0, "a thread beyond the limit is not");
	char path[32];
	for (int i = 0; i < 5000; i++) {
		snprintf(path, sizeof path, "/none/%d", i);
		map(s, 2, 0x1000, 0x2000, path);
	}
	is(found(s, 2, 0x1000), "4093+0x0", "files up to the limit are kept");
}

int main(void)
{
	struct ctp_err err;
	struct ctp_symbols *s = ctp_symbols_new(NULL, 0, &err);
	if (!s)
		abort();
	test_mappings(s);
	test_threads(s);
	test_odd(s);
	test_limits(s);
	ctp_symbols_free(s);
	ctp_symbols_free(NULL);
	for (int i = 0; i < CTP_EVENT_COUNT; i++)
		if (i == CTP_MAPPING || i == CTP_THREAD || i == CTP_TRANSITION)
			ctp_class_free(class_of(i));
	return done_testing();
}
