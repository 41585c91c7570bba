/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-numbers: numbers, labels and the sentence about a quiet end, as all forms of a report have them. */
#include "report/report-print.h"
#include "tap.h"

static void test_numbers(void)
{
	char to[CTP_PRINT_NUMBER_MAX], label[CTP_PRINT_LABEL_MAX], long_name[1000] = "";
	is(ctp_print_count(to, 0), "0", "a count of nothing is 0");
	is(ctp_print_count(to, 999), "999", "a small count has no separator");
	is(ctp_print_count(to, UINT64_MAX), "18,446,744,073,709,551,615", "the largest number has separators");
	is(ctp_print_ns(to, 0), "0 ns", "a time of nothing is 0 ns");
	is(ctp_print_ns(to, 1730000000), "1.73 s", "a long time is in seconds");
	is(ctp_print_brief(to, 412400), "412us", "a time in a table has no space");
	is(ctp_print_percent(to, 93, 100), "93 %", "a share is in percent");
	is(ctp_print_percent(to, 4, 1000), "0.4 %", "a part of a percent has a decimal");
	is(ctp_print_percent(to, 1, 100000), "< 0.1 %", "almost nothing is less than 0.1 %");
	is(ctp_print_percent(to, 0, 0), "0 %", "a part of nothing is 0 %");
	is(ctp_print_label(label, "a", 5), "a (#5)", "a label has a name and a number");
	is(ctp_print_coroutine(label, NULL, "a.rs:3:app::serve::<T>::{{closure}}", 5), "serve (#5)", "without a name it has that of the function");
	is(ctp_print_coroutine(label, NULL, "app+0x1f", 5), "#5", "if the site says it");
	static const char *const names[][2] = {
		{"a.c:1:get", "get"}, {"a.rs:7:core::future::poll_fn::PollFn<app::read<alloc::string::String>>", "PollFn"},
		{"a.rs:7:<app::Conn<T> as core::future::Future>::poll", "poll"}, {"a.rs:7:<F<fn(u8) -> u8> as G>::call::{{closure}}::{{closure}}", "call"},
		{"a.cpp:2:task<void> Foo::bar(int, std::vector<int>)", "bar"}, {"a.cpp:2:a::operator<<", "operator<<"},
	};
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		is(ctp_print_function(label, names[i][0]), names[i][1], names[i][0]);
	is(ctp_print_label(label, NULL, 0x102db7020), "#0x102db7020", "a label without a name has the number");
	memset(long_name, 'x', sizeof(long_name) - 1);
	is(ctp_print_label(label, long_name, 5) + CTP_FOLLOW_NAME_MAX, " (#5)", "a long name is cut, its number is not");
}

static void test_quiet(void)
{
	enum { MS = 1000000 };
	char line[CTP_PRINT_LINE_MAX];
	struct ctp_report_section s = {.quiet_ns = 3000ull * MS, .pause_ns = 128 * MS};
	ok(ctp_print_quiet(line, &s), "a quiet end that is far longer than any before is reported");
	is(line, "no coroutine was resumed in the last 3.00 s; before, that took 128 ms at most",
	   "the text compares it with the longest before");
	s.pause_ns = 400 * MS;
	ok(!ctp_print_quiet(line, &s), "a quiet end that is not far longer than others is not reported");
	s = (struct ctp_report_section){.quiet_ns = 900 * MS, .pause_ns = MS};
	ok(!ctp_print_quiet(line, &s), "a quiet end of less than a second is not reported");
	s = (struct ctp_report_section){.quiet_ns = 3000ull * MS, .pause_ns = MS, .counts = {.lost = 1}};
	ok(!ctp_print_quiet(line, &s), "a quiet end is not reported if events were lost");
}

int main(void)
{
	test_numbers();
	test_quiet();
	return done_testing();
}
