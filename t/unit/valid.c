/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* Tests the validators of the fuzz targets: each accepts valid text, and aborts the program at invalid text. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "valid-xml.h"
#include "tap.h"

enum judge { JSON, JSONL, CSV, GUARDED, HTML, SHOWN, FOLDED, XML };

static void judge(enum judge how, const char *text)
{
	size_t len = strlen(text);
	switch (how) {
	case JSON: valid_must(valid_json(text, len), "no JSON", text, len); break;
	case JSONL: valid_jsonl(text, len); break;
	case CSV: valid_csv(text, len, false); break;
	case GUARDED: valid_csv(text, len, true); break;
	case HTML: valid_html(text, len, NULL); break;
	case SHOWN: valid_shown(text, len); break;
	case FOLDED: valid_folded(text, len); break;
	case XML: valid_must(valid_xml(text, len), "no XML", text, len); break;
	}
}

/* In a child, because a validator aborts. */
static bool takes(enum judge how, const char *text)
{
	int status = -1;
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		signal(SIGABRT, SIG_DFL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		judge(how, text);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

#define XML_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

static const struct {
	enum judge how;
	bool good;
	const char *text;
} cases[] = {
	{JSON, true, "{\"a\":[1,-0.5e+3,true,null,\"\\u00e9\\n\"],\"b\":{}} "},
	{JSON, true, "\"\xf0\x9f\x98\x80\""},
	{JSON, false, "{\"a\":01}"},
	{JSON, false, "{\"a\":1,}"},
	{JSON, false, "{a:1}"},
	{JSON, false, "[1 2]"},
	{JSON, false, "\"a\nb\""},
	{JSON, false, "\"\\x\""},
	{JSON, false, "\"\\u12g4\""},
	{JSON, false, "\"\xff\""},
	{JSON, false, "\"\xed\xa0\x80\""},
	{JSON, false, "\"\xc0\xaf\""},
	{JSON, false, "NaN"},
	{JSON, false, "{} {}"},
	{JSON, false, "1."},
	{JSONL, true, "{}\n{\"a\":1}\n"},
	{JSONL, true, ""},
	{JSONL, false, "{}\n{}"},
	{JSONL, false, "{}\n\n"},
	{JSONL, false, "[]\n"},
	{CSV, true, "a,b\n1,\"x\"\"y,\n\"\n,\n"},
	{CSV, false, "a,b\n1\n"},
	{CSV, false, "a,b\n1,2,3\n"},
	{CSV, false, "a\n\"x\n"},
	{CSV, false, "a\nx\"y\n"},
	{CSV, false, "a\n\"x\"y\n"},
	{CSV, false, "a\nb"},
	{CSV, true, "a\n=1\n"},
	{GUARDED, true, "a\n'=1\n-5\n-Infinity\n\"'@x\"\n"},
	{GUARDED, false, "a\n=1\n"},
	{GUARDED, false, "a\n\"+1\"\n"},
	{GUARDED, false, "a\n-x\n"},
	{GUARDED, false, "@x\n"},
	{HTML, true, "<!doctype html><p class=\"a>b\">x<br></p><!-- < --><script>a<b</script>"},
	{HTML, false, "<p>x"},
	{HTML, false, "<p><b>x</p></b>"},
	{HTML, false, "<script>x"},
	{HTML, false, "<p \"x></p>"},
	{HTML, false, "x</p>"},
	{SHOWN, true, "a \xc3\xa9\n"},
	{SHOWN, false, "a\x1b[31m\n"},
	{SHOWN, false, "a\xc2\x9b\n"},
	{SHOWN, false, "a\xe2\x80\xae\n"},
	{SHOWN, false, "a\tb\n"},
	{SHOWN, false, "a\xff\n"},
	{SHOWN, false, "a"},
	{FOLDED, true, "a;b c;d 17\n"},
	{FOLDED, false, "a;;b 17\n"},
	{FOLDED, false, "a;b\n"},
	{FOLDED, false, "a -1\n"},
	{FOLDED, false, "; 1\n"},
	{XML, true, XML_HEAD "<a b=\"&quot;\"><c/>x&amp;\n\xc3\xa9</a>\n"},
	{XML, false, "<a/>\n"},
	{XML, false, XML_HEAD "<a></b>\n"},
	{XML, false, XML_HEAD "<a>\n"},
	{XML, false, XML_HEAD "<a/><a/>\n"},
	{XML, false, XML_HEAD "<a b=\"<\"/>\n"},
	{XML, false, XML_HEAD "<a b=\"\"\"/>\n"},
	{XML, false, XML_HEAD "<a>&</a>\n"},
	{XML, false, XML_HEAD "<a>&#0;</a>\n"},
	{XML, false, XML_HEAD "<a>]]></a>\n"},
	{XML, false, XML_HEAD "<a>\x1b</a>\n"},
	{XML, false, XML_HEAD "<a>\xff</a>\n"},
	{XML, false, XML_HEAD "<a>\xef\xbf\xbe</a>\n"},
};

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ok(takes(cases[i].how, cases[i].text) == cases[i].good,
		   "case %zu is %s", i, cases[i].good ? "accepted" : "refused");
	return done_testing();
}
