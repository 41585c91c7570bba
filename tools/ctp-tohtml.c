/* ctp-tohtml - a trace as one HTML page: what went wrong, and what each coroutine did. */
#include <getopt.h>
#include <string.h>

#include "html/html.h"
#include "reportopt.h"

enum { SECTION = CTP_REPORTOPT_END, TITLE, MAX_EVENTS };

static struct ctp_tool tool = {
	.name = "ctp-tohtml",
	.synopsis = "[-fqv] [-o FILE] [--title TEXT] [--section N] [--since TIME] [--until TIME] [--max-events N] [--ignore PATTERN] "
	            "[--ignore-file FILE] [--debug-dir DIR] [--no-symbols] [FILE...]",
	.help = "Writes a trace as one HTML page that opens from disk: what went wrong, and what each coroutine and thread did.\n"
	        "  -o FILE            write to FILE, which appears when it is complete\n"
	        "  -f                 write to a terminal too\n"
	        "  --title TEXT       set the title of the page, instead of the command that was traced\n"
	        "  --section N        show the Nth section, instead of the last one with findings\n"
	        "  --since TIME       show only what is later than this after the start: 12.5s, 300ms, 2m\n"
	        "  --until TIME       show only what is earlier\n"
	        "  --max-events N     show at most N events (20000000) and leave out the oldest; the page says how many\n"
	        "  --ignore PATTERN   leave out findings of this rule, site or \"rule site\"; * and ? as in a shell\n"
	        "  --ignore-file FILE leave out findings that match a line of FILE; # begins a comment\n"
	        "  --debug-dir DIR    look for debug information in DIR first; may be repeated\n"
	        "  --no-symbols       look for none: show addresses as file+offset\n"
	        "  -q  print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
	.permutes = true,
};

/* What the command line asks for. */
static struct {
	struct ctp_html_options options;
	struct ctp_reportopt common;
} ask = {.options.max_events = CTP_HTML_EVENTS_MAX};

static void option(int c)
{
	static const char wrong[] = "not a number; give one from 1 on";
	if (c == TITLE)
		ask.options.title = optarg;
	else if (c == SECTION)
		ask.options.section = ctp_tool_number(&tool, "--section", optarg, 1, UINT64_MAX, wrong);
	else if (c == MAX_EVENTS)
		ask.options.max_events = ctp_tool_number(&tool, "--max-events", optarg, 1, UINT64_MAX, wrong);
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"title", required_argument, NULL, TITLE}, {"section", required_argument, NULL, SECTION},
		{"max-events", required_argument, NULL, MAX_EVENTS}, CTP_REPORTOPT_LONGS, {NULL, 0, NULL, 0},
	};
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fo:", longs)) != -1;)
		if (!ctp_reportopt_take(&ask.common, &tool, c))
			option(c);
	ask.options.report = ctp_reportopt_done(&ask.common, &tool);
	const char *source = argv[optind];
	ask.options.source = source && strcmp(source, "-") ? source : "stdin";
}

int main(int argc, char **argv)
{
	struct ctp_output out;
	struct ctp_err err;
	ctp_tool_start(&tool);
	parse(argc, argv);
	if (ctp_tool_create(&out, tool.path, argv + optind, true, tool.force, &err))
		return ctp_tool_fail(&tool, &err);
	int code = ctp_tool_to(&tool, argv + optind, ctp_html_sink(&out, &ask.options, &err), &out, &err);
	ctp_reportopt_fini(&ask.common);
	return code;
}
