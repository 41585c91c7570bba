/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* tool.c - what the mains share. Only this file and the mains print and exit. */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/visible.h"
#include "io/input-interrupt.h"
#include "stream/packet.h"

enum { HELP = 'h' << 8, NOTICES_SHOWN = 10, MAGIC_BYTES = sizeof CTP_PACKET_MAGIC - 1 };

static const struct ctp_tool *started; /* for a signal handler */

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

/* --- messages ------------------------------------------------------------------------------------------------------------ */

static void clear_progress(struct ctp_tool *tool)
{
	if (tool->shown_ns)
		fputs("\r\033[K", stderr);
	tool->shown_ns = 0;
}

/* One write, so that lines of the tools of a pipeline do not mix. */
static void vsay(struct ctp_tool *tool, const char *fmt, va_list ap)
{
	char text[1024], line[1500];
	size_t len = (size_t)snprintf(text, sizeof text, "%s: ", tool->name);
	vsnprintf(text + len, sizeof text - len, fmt, ap);
	len = ctp_visible(line, sizeof line, text);
	line[len++] = '\n';
	clear_progress(tool);
	fwrite(line, 1, len, stderr);
}

void ctp_tool_say(struct ctp_tool *tool, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsay(tool, fmt, ap);
	va_end(ap);
}

void ctp_tool_say_line(void *tool, const char *text) { ctp_tool_say(tool, "%s", text); }

int ctp_tool_usage(struct ctp_tool *tool, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsay(tool, fmt, ap);
	va_end(ap);
	return tool->usage_status ? tool->usage_status : CTP_EXIT_USAGE;
}

int ctp_tool_fail(struct ctp_tool *tool, const struct ctp_err *err)
{
	ctp_tool_say(tool, "%s", err->text);
	return CTP_EXIT_FAILED;
}

int ctp_tool_fail_output(struct ctp_tool *tool, const struct ctp_output *out, const struct ctp_err *err)
{
	if ((out && out->epipe) || tool->unread) {
		clear_progress(tool);
		ctp_signals_die(SIGPIPE);
	}
	return ctp_tool_fail(tool, err);
}

static void say_notice(void *arg, const char *text)
{
	struct ctp_tool *tool = arg;
	if (tool->notices++ < NOTICES_SHOWN && !tool->quiet)
		ctp_tool_say(tool, "%s: %s", tool->input ? tool->input : "stdin", text);
}

void ctp_tool_input(struct ctp_tool *tool, const char *name)
{
	if (tool->notices > NOTICES_SHOWN && !tool->quiet)
		ctp_tool_say(tool, "%s: and %llu more such notices", tool->input,
		             (unsigned long long)(tool->notices - NOTICES_SHOWN));
	tool->input = name;
	tool->notices = 0;
	if (!name)
		clear_progress(tool);
}

static bool is_progress_due(struct ctp_tool *tool)
{
	uint64_t now = ctp_clock_ns();
	if (now - (tool->shown_ns ? tool->shown_ns : tool->started_ns) < (tool->shown_ns ? CTP_SECOND_NS / 5 : CTP_SECOND_NS))
		return false;
	tool->shown_ns = now;
	return true;
}

static void show_progress(void *arg, const struct ctp_input *in, uint64_t records)
{
	struct ctp_tool *tool = arg;
	uint64_t done, total = 0;
	if (!is_progress_due(tool))
		return;
	if (in)
		ctp_input_progress(in, &done, &total);
	fprintf(stderr, "\r\033[K%s: %.1f million %s", tool->name, (double)records / 1e6, tool->input ? "records" : "written, finishing");
	if (total)
		fprintf(stderr, ", %.0f %%", 100.0 * (double)done / (double)total);
}

static bool has_terminal(const struct ctp_tool *tool) { return !tool->quiet && isatty(STDERR_FILENO); }

struct ctp_tick ctp_tool_tick(struct ctp_tool *tool)
{
	return (struct ctp_tick){.tick = has_terminal(tool) ? show_progress : NULL, .arg = tool};
}

void ctp_tool_progress(struct ctp_tool *tool, const char *fmt, ...)
{
	struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
	if (!fmt)
		clear_progress(tool);
	if (!fmt || !has_terminal(tool) || poll(&fd, 1, 0) != 1 || !is_progress_due(tool))
		return;
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\r\033[K%s: %s", tool->name, text);
}

/* --- start and options --------------------------------------------------------------------------------------------------- */

/* A signal handler calls it. */
static void say_interrupted(void)
{
	static const char line[] = ": interrupted: reads on until its input ends; "
				   "interrupt again to stop now\n";
	char text[128];
	size_t name = strnlen(started->name, sizeof text - sizeof line);
	if (started->quiet)
		return;
	memcpy(text, started->name, name);
	memcpy(text + name, line, sizeof line - 1);
	ssize_t n = write(STDERR_FILENO, text, name + sizeof line - 1);
	(void)n;
}

static void on_interrupt(int sig)
{
	if (!ctp_input_interrupted(sig))
		ctp_signals_die(sig);
}

void ctp_tool_start(struct ctp_tool *tool)
{
	static const struct sigaction interrupt = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
	started = tool;
	ctp_input_interrupt_init(say_interrupted);
	ctp_signals_take_unignored(NULL, (const int[]){SIGINT, 0}, &interrupt);
	signal(SIGPIPE, SIG_IGN);
	/* A file that is opened later must not become stdout: a closed descriptor is given to something that fails when used. */
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			_exit(CTP_EXIT_FAILED);
	tool->notice = (struct ctp_notice){.say = say_notice, .arg = tool};
	tool->started_ns = ctp_clock_ns();
}

static _Noreturn void print_and_exit(struct ctp_tool *tool, bool help)
{
	if (help)
		printf("usage: %s %s\n%s", tool->name, tool->synopsis, tool->help);
	else
		printf("%s %s\n", tool->name, CTP_VERSION);
	if (fflush(stdout)) {
		ctp_tool_say(tool, "stdout: %s", strerror(errno));
		exit(CTP_EXIT_FAILED);
	}
	exit(CTP_EXIT_OK);
}

/* The options of every tool, then longs. Null: out of memory. */
static struct option *all_longs(const struct option *longs)
{
	static const struct option ours[] = {{"help", no_argument, NULL, HELP}, {"version", no_argument, NULL, 'V'}};
	size_t n = 0, nours = sizeof ours / sizeof *ours;
	while (longs && longs[n].name)
		n++;
	struct option *all = calloc(nours + n + 1, sizeof *all);
	if (all)
		memcpy(all, ours, sizeof ours);
	if (all && n)
		memcpy(all + nours, longs, n * sizeof *all);
	return all;
}

static _Noreturn void refuse_option(struct ctp_tool *tool, const char *word, bool lacks_argument, const char *help)
{
	const char *why = lacks_argument ? "needs an argument" : "no such option";
	if (strncmp(word, "--", 2) && optopt)
		exit(ctp_tool_usage(tool, "-%c: %s; see %s %s", optopt, why, tool->name, help));
	exit(ctp_tool_usage(tool, "%s: %s; see %s %s", word, why, tool->name, help));
}

int ctp_tool_option(struct ctp_tool *tool, int argc, char **argv, const char *shorts, const struct option *longs)
{
	struct option *known = all_longs(longs);
	char *letters = NULL;
	bool own_h = strchr(shorts, 'h');
	int c;
	/* "+": options after a COMMAND are the command's. ":": getopt tells a missing argument from an unknown option. */
	if (!known || asprintf(&letters, "%s:Vqv%s%s", tool->permutes ? "" : "+", own_h ? "" : "h", shorts) < 0) {
		ctp_tool_say(tool, "out of memory");
		exit(CTP_EXIT_FAILED);
	}
	while ((c = getopt_long(argc, argv, letters, known, NULL)) == 'q' || c == 'v')
		*(c == 'q' ? &tool->quiet : &tool->verbose) = true;
	free(known);
	free(letters);
	if (c == HELP || c == 'V' || (c == 'h' && !own_h))
		print_and_exit(tool, c != 'V');
	if (c == ':' || c == '?')
		refuse_option(tool, argv[optind - 1], c == ':', own_h ? "--help" : "-h");
	if (c == 'o')
		tool->path = optarg;
	tool->force |= c == 'f';
	return c;
}

uint64_t ctp_tool_number(struct ctp_tool *tool, const char *option, const char *text, uint64_t min, uint64_t max,
                         const char *wrong)
{
	uint64_t n;
	if (ctp_parse_u64(text, text + strlen(text), &n) && n >= min && n <= max)
		return n;
	if (wrong)
		exit(ctp_tool_usage(tool, "%s %s: %s", option, text, wrong));
	exit(ctp_tool_usage(tool, "%s %s: not a number from %ju to %ju", option, text, (uintmax_t)min, (uintmax_t)max));
}

uint64_t ctp_tool_seconds(struct ctp_tool *tool, const char *text, const char *negative)
{
	char *end;
	double seconds = strtod(text, &end);
	if (end == text || *end || isnan(seconds) || seconds > 1e9)
		exit(ctp_tool_usage(tool, "-t %s: not a number of seconds", text));
	if (seconds <= 0)
		exit(ctp_tool_usage(tool, "-t %s: %s", text, negative));
	uint64_t ns = (uint64_t)(seconds * 1e9);
	return ns ? ns : 1;
}

/* --- converters ---------------------------------------------------------------------------------------------------------- */

enum ctp_status ctp_tool_look(char **files, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	for (; *files; files++) {
		status = CTP_OK;
		if (!strcmp(*files, "-") || !access(*files, R_OK))
			break;
		status = ctp_err_sys(err, "%s", *files);
	}
	return status;
}

/* The rule of ctp-common(7) for several files. It is not among the files then, so that a second pass does not say it again. */
static bool passes_over(struct ctp_tool *tool, char **files, char **file, bool opened, const struct ctp_err *err)
{
	bool several = *files && files[1], fits = err->code == CTP_ERR_NOT_STREAM || (!opened && err->code == CTP_ERR_SYSTEM);
	if (!several || !fits)
		return false;
	ctp_tool_say(tool, "%s; it is skipped", err->text);
	tool->skipped = true;
	for (; *file; file++)
		file[0] = file[1];
	return true;
}

/* Input without end may be damaged from some place on, and nothing written that would detect a closed pipe. */
static bool is_unread(void *arg)
{
	struct ctp_tool *tool = arg;
	return tool->unread = ctp_output_is_unread(tool->out);
}

static enum ctp_status each_one(struct ctp_tool *tool, const char *path, enum ctp_status (*fn)(void *arg, struct ctp_input *in),
                                void *arg, bool *opened, struct ctp_err *err)
{
	struct ctp_input in;
	*opened = !ctp_input_open(&in, path, err);
	if (!*opened)
		return CTP_FAILED;
	if (tool->growth)
		ctp_input_grows(&in, tool->growth);
	in.is_unwanted = tool->out ? is_unread : NULL;
	in.unwanted_arg = tool;
	ctp_tool_input(tool, in.name);
	enum ctp_status status = fn(arg, &in);
	ctp_input_close(&in);
	return status;
}

enum ctp_status ctp_tool_each(struct ctp_tool *tool, char **files, enum ctp_status (*fn)(void *arg, struct ctp_input *in),
                              void *arg, struct ctp_err *err)
{
	static char *only_stdin[] = {NULL, NULL};
	enum ctp_status status = CTP_OK;
	char **file = *files ? files : only_stdin;
	while (status != CTP_FAILED && (*file || file == only_stdin)) {
		bool opened;
		status = each_one(tool, *file, fn, arg, &opened, err);
		if (status == CTP_FAILED && passes_over(tool, files, file, opened, err))
			status = CTP_OK;
		else
			file++;
	}
	ctp_tool_input(tool, NULL);
	return status;
}

static bool same_file(const struct stat *out, const char *path)
{
	struct stat st;
	bool known = path && strcmp(path, "-") ? !stat(path, &st) : !fstat(STDIN_FILENO, &st);
	return known && st.st_dev == out->st_dev && st.st_ino == out->st_ino;
}

bool ctp_tool_is_input(const char *path, char **files)
{
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	bool same = !*files && same_file(&st, NULL);
	for (char **file = files; *file && !same; file++)
		same = same_file(&st, *file);
	return same;
}

enum ctp_status ctp_tool_create(struct ctp_output *out, const char *path, char **files, bool binary, bool force,
                                struct ctp_err *err)
{
	if (path && strcmp(path, "-") && ctp_tool_is_input(path, files))
		return ctp_err_as(err, CTP_ERR_REFUSED, "-o %s: is also the input; name another file", path);
	return ctp_output_create(out, path, binary, force, err);
}

enum ctp_status ctp_tool_create_view(struct ctp_output *out, const char *path, char **files, bool force, struct ctp_err *err)
{
	if (ctp_tool_create(out, path, files, false, force, err))
		return CTP_FAILED;
	if (force || !isatty(out->fd))
		return CTP_OK;
	ctp_err_as(err, CTP_ERR_REFUSED, "%s: is a terminal; use -o FILE or a pipe, or -f to write there all the same", out->name);
	ctp_output_abandon(out);
	return CTP_FAILED;
}

struct to {
	struct ctp_tool *tool;
	struct ctp_sink *sink;
	struct ctp_tool_done *done;
	struct ctp_tick tick;
	struct ctp_err *err;
};

static enum ctp_status to_one(void *arg, struct ctp_input *in)
{
	struct to *to = arg;
	return ctp_convert(in, to->sink, &to->tool->notice, &to->tick, &to->done->stats, to->err);
}

/* What was taken of one input is complete, whatever comes of the others. */
static enum ctp_status to_one_apart(void *arg, struct ctp_input *in)
{
	struct to *to = arg;
	if (!to_one(to, in))
		return CTP_OK;
	if (to->sink->failed || to->err->code == CTP_ERR_NOT_STREAM)
		return CTP_FAILED;
	ctp_tool_fail(to->tool, to->err);
	to->done->left_out = true;
	return CTP_OK;
}

static enum ctp_status to_each(struct to *to, char **files)
{
	return ctp_tool_each(to->tool, files, to->sink->apart ? to_one_apart : to_one, to, to->err);
}

/* What is lost of a trace of something else are places of damage, each a record. */
static void say_places(struct ctp_tool *tool, const char *kept, uint64_t records, uint64_t places, uint64_t missed)
{
	char more[64] = "";
	if (missed)
		snprintf(more, sizeof more, "; %llu record%s missed", (unsigned long long)missed, plural(missed));
	ctp_tool_say(tool, "%llu record%s%s; damage at %llu place%s%s", (unsigned long long)records, plural(records), kept,
	             (unsigned long long)places, plural(places), more);
}

static void say_counts(struct ctp_tool *tool, const struct ctp_convert_stats *s)
{
	unsigned long long records = s->reader.records, late = s->reader.late, lost = s->lost, missed = s->missed;
	char untraced[64] = "";
	if (s->untraced)
		snprintf(untraced, sizeof untraced, ", %llu coroutine%s untraced", (unsigned long long)s->untraced, plural(s->untraced));
	if (tool->no_coroutines)
		say_places(tool, "", records - lost, lost, missed);
	else
		ctp_tool_say(tool, "%llu record%s, %llu late; %llu event%s lost, %llu other record%s missed%s", records, plural(records), late, lost,
		             plural(lost), missed, plural(missed), untraced);
}

enum ctp_status ctp_tool_convert(struct ctp_tool *tool, char **files, struct ctp_sink *sink, struct ctp_output *out,
                                 struct ctp_tool_done *done, struct ctp_err *err)
{
	*done = (struct ctp_tool_done){0};
	if (!sink)
		return CTP_FAILED;
	const struct ctp_notice complaint = {.say = ctp_tool_say_line, .arg = tool};
	struct to to = {.tool = tool, .sink = sink, .done = done, .tick = ctp_tool_tick(tool), .err = err};
	sink->complaint = &complaint;
	sink->tick = to.tick;
	tool->out = tool->reads_on ? NULL : out;
	enum ctp_status status = to_each(&to, files);
	errno = 0;
	if (status != CTP_FAILED && sink->ops->finish)
		status = ctp_memory_status(sink->ops->finish(sink, err), "", err);
	clear_progress(tool);
	done->left_out |= sink->left_out;
	done->stats.harmed |= sink->skipped || tool->skipped;
	sink->ops->free(sink);
	return status;
}

int ctp_tool_converted(struct ctp_tool *tool, const struct ctp_tool_done *done)
{
	const struct ctp_convert_stats *s = &done->stats;
	if (s->conflicts && !tool->quiet)
		ctp_tool_say(tool, "%llu conflict%s: two writers wrote as one coroutine, and what is lost from there on is not known",
		             (unsigned long long)s->conflicts, plural(s->conflicts));
	if (!tool->counts_itself && (tool->verbose || ((s->lost || s->missed || s->untraced) && !tool->quiet)))
		say_counts(tool, s);
	return done->left_out ? CTP_EXIT_FAILED : s->harmed ? CTP_EXIT_HARMED : CTP_EXIT_OK;
}

int ctp_tool_to(struct ctp_tool *tool, char **files, struct ctp_sink *sink, struct ctp_output *out, struct ctp_err *err)
{
	struct ctp_tool_done done;
	enum ctp_status status = ctp_tool_convert(tool, files, sink, out, &done, err);
	if (!sink)
		return ctp_tool_fail(tool, err);
	return status == CTP_FAILED ? ctp_tool_fail_output(tool, out, err) : ctp_tool_converted(tool, &done);
}

struct from {
	struct ctp_tool *tool;
	struct ctp_source *source;
	struct ctp_writer *writer;
	struct ctp_err *err;
};

static enum ctp_status from_one(void *arg, struct ctp_input *in)
{
	struct from *from = arg;
	if (ctp_input_fill(in, MAGIC_BYTES) >= MAGIC_BYTES && !memcmp(in->ptr, CTP_PACKET_MAGIC, MAGIC_BYTES))
		return ctp_err_as(from->err, CTP_ERR_NOT_STREAM, "%s: is a raw stream already; ctp-tojsonl reads it", in->name);
	errno = 0;
	enum ctp_status status = from->source->ops->read(from->source, in, from->writer, &from->tool->notice, from->err);
	return ctp_memory_status(status, in->name, from->err);
}

static enum ctp_status read_path(struct from *from, const char *path)
{
	errno = 0;
	enum ctp_status status = from->source->ops->read_path(from->source, path, from->writer, &from->tool->notice, from->err);
	return ctp_memory_status(status, path, from->err);
}

/* The same for a format that is a folder, which no pipe can carry. */
static enum ctp_status from_paths(struct from *from, char **paths)
{
	enum ctp_status status = *paths ? CTP_OK : ctp_err_set(from->err, "name what to read; it cannot come from standard input");
	for (char **path = paths; *path && status != CTP_FAILED;) {
		bool there = !access(*path, F_OK);
		ctp_tool_input(from->tool, *path);
		status = there ? read_path(from, *path) : ctp_err_sys(from->err, "%s", *path);
		if (status == CTP_FAILED && passes_over(from->tool, paths, path, there, from->err))
			status = CTP_OK;
		else
			path++;
	}
	ctp_tool_input(from->tool, NULL);
	return status;
}

static void say_kept(struct ctp_tool *tool, const struct ctp_source_stats *stats)
{
	char lost[64] = "";
	if (stats->lost)
		snprintf(lost, sizeof lost, "; %llu event%s lost", (unsigned long long)stats->lost, plural(stats->lost));
	if (tool->no_coroutines)
		say_places(tool, " kept", stats->accepted, stats->rejected, 0);
	else
		ctp_tool_say(tool, "%llu row%s kept, %llu rejected, %llu late%s", (unsigned long long)stats->accepted,
		             plural(stats->accepted), (unsigned long long)stats->rejected, (unsigned long long)stats->late, lost);
}

static enum ctp_status not_one(const struct ctp_tool *tool, const struct ctp_source_stats *stats, struct ctp_err *err)
{
	if (!tool->no_coroutines)
		return ctp_err_set(err, "none of %llu rows could be used", (unsigned long long)stats->rejected);
	return ctp_err_set(err, stats->rejected ? "not one record is whole" : "there is not one record");
}

int ctp_tool_from(struct ctp_tool *tool, char **files, struct ctp_source *source, struct ctp_err *err)
{
	struct ctp_output out;
	if (!source || ctp_tool_create(&out, tool->path, files, true, tool->force, err)) {
		if (source)
			source->ops->free(source);
		return ctp_tool_fail(tool, err);
	}
	struct ctp_writer *writer = ctp_writer_to(&out, err);
	enum ctp_status status = CTP_FAILED;
	if (writer) {
		source->tick = ctp_tool_tick(tool);
		tool->out = &out;
		struct from from = {tool, source, writer, err};
		status = source->ops->read_path ? from_paths(&from, files) : ctp_tool_each(tool, files, from_one, &from, err);
		if (status != CTP_FAILED && !source->stats.accepted && !tool->counts_itself && (source->stats.rejected || tool->no_coroutines))
			status = not_one(tool, &source->stats, err);
	}
	if (out.failed)
		*err = out.err;
	if (status == CTP_FAILED)
		ctp_output_abandon(&out);
	else
		status = ctp_output_close(&out, err);
	int code = status == CTP_FAILED ? ctp_tool_fail_output(tool, &out, err) :
	           source->stats.harmed || tool->skipped ? CTP_EXIT_HARMED : CTP_EXIT_OK;
	if (code != CTP_EXIT_FAILED && !tool->quiet && !tool->counts_itself && (tool->verbose || source->stats.rejected || source->stats.lost))
		say_kept(tool, &source->stats);
	ctp_writer_free(writer);
	source->ops->free(source);
	return code;
}
