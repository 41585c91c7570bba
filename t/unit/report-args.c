/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-args: parsing of times and of files of patterns for the options of ctp-report. */
#include "report/report-args.h"

#include <unistd.h>

#include "tap.h"

static void durations(void)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {{"12.5s", 12500000000}, {"300ms", 300000000}, {"2m", 120000000000}, {"2min", 120000000000}, {"7", 7000000000},
	            {"1.5h", 5400000000000}, {"0.000000001", 1}, {".5us", 500}, {"3ns", 3}, {"1.9ns", 1}, {"0s", 0},
	            {"1.00000000099s", 1000000000}};
	static const char *const bad[] = {"", "s", ".", ".s", "5x", "-1s", "1.s", "1 s", "1s ", "1e3s", "0x1s", "18446744074s",
	                                  "99999999999999999999s"};
	uint64_t ns;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(ctp_duration_parse(good[i].text, &ns) && ns == good[i].ns, "a time: %s", good[i].text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!ctp_duration_parse(bad[i], &ns), "\"%s\" is no time", bad[i]);
}

static void texts(void)
{
	char path[] = "/tmp/report-args.XXXXXX";
	struct ctp_texts t = {0};
	struct ctp_err err;
	int fd = mkstemp(path);
	dprintf(fd, "# a comment\n\n  leaked  \r\n\tnever-woken *:read \n #too\nthe last");
	close(fd);
	ok(!ctp_texts_read(&t, path, &err) && t.count == 3, "comments and empty lines of a file are no patterns");
	ok(t.count == 3 && !strcmp(t.list[0], "leaked") && !strcmp(t.list[1], "never-woken *:read") && !strcmp(t.list[2], "the last"),
	   "spaces around a pattern are removed");
	unlink(path);
	while (t.count < CTP_TEXTS_MAX && !ctp_texts_add(&t, "x", &err))
		;
	ok(t.count == CTP_TEXTS_MAX && ctp_texts_add(&t, "*:read", &err) == CTP_FAILED, "the number of patterns is limited");
	ok(strstr(err.text, "*:read") && strstr(err.text, "10000"), "the error names the limit and the first pattern beyond it");
	ctp_texts_fini(&t);
}

int main(void)
{
	durations();
	texts();
	return done_testing();
}
