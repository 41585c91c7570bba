/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-read.c - a source that makes a stream of CTF traces: a section for each folder with a file called metadata.
 *
 * ctf-own.c reads the traces that ctp-toctf wrote. libbabeltrace2 reads any other: in a graph of its source.ctf.fs, a muxer if
 * there are several streams, and our sink. The sink gets events in time order and writes them as they come. A lost record has the
 * time at which the loss ended, which is later: a reader holds the record back until a mark has that time.
 */
#include "ctf/ctf-read.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/meta.h"
#include "ctf/ctf-own.h"
#include "stream/events.h"

enum { MARK_RECORDS = 1024, TICK_RECORDS = 4096 };

struct ctf_source {
	struct ctp_source source;
	const char *tool;
	const bt_plugin *ctf, *utils;
	struct ctp_ctf_classes classes;
	struct ctp_ctf_values values;

	/* of the trace at hand */
	const char *path;
	struct ctp_writer *writer;
	const struct ctp_notice *notice;
	bool open, ours, complete, no_memory;
	uint64_t records, rejected, lost_events;
	uint64_t streams; /* begun and not ended: libbabeltrace2 does not fail if the last packet ends within an event */
	uint64_t now_ns; /* on the section's clock; an earlier event is late */
	struct ctp_class *lost;
};

/* --- errors -------------------------------------------------------------------------------------------------------------- */

/* The length of a message up to its full stop, or to a list that helps no user: ": msg-it-addr=0xaaaae2c6a050, ...". */
static int plain_bytes(const char *message)
{
	static const char key[] = "abcdefghijklmnopqrstuvwxyz-";
	for (const char *p = message; (p = strstr(p, ": ")); p++) {
		size_t len = strspn(p + 2, key);
		if (len && p[2 + len] == '=')
			return (int)(p - message);
	}
	size_t len = strlen(message);
	return (int)(len - (len && message[len - 1] == '.'));
}

/* Whether the metadata is that of CTF 2: JSON after a record separator, plain or in packets, whose head has the version. */
static bool is_ctf2(const char *folder)
{
	enum { VERSION_AT = 35 };
	static const unsigned char magic[2][4] = {{0x57, 0x1d, 0xd1, 0x75}, {0x75, 0xd1, 0x1d, 0x57}};
	unsigned char head[VERSION_AT + 1] = {0};
	char *path;
	if (asprintf(&path, "%s/metadata", folder) < 0)
		return false;
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(head, 1, sizeof head, file) : 0;
	if (file)
		fclose(file);
	free(path);
	bool packets = !memcmp(head, magic[0], sizeof magic[0]) || !memcmp(head, magic[1], sizeof magic[1]);
	return head[0] == 0x1e || (packets && n == sizeof head && head[VERSION_AT] == 2);
}

/* The first cause of libbabeltrace2's error, in one line. */
static enum ctp_status fail(struct ctf_source *s, struct ctp_err *err)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *cause = s->no_memory ? "out of memory" :
		ctp_writer_failed(s->writer) ? "the stream made from it could not be written" :
		error && bt_error_get_cause_count(error) ?
			bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)) :
		s->streams ? "a stream ends within an event" : "it cannot be read";
	bool too_old = bt_version_get_major() == 2 && !bt_version_get_minor() && !s->open && is_ctf2(s->path);
	if (too_old)
		ctp_err_set(err, "%s: is CTF 2, which libbabeltrace2 2.0.%u does not read: version 2.1 and later do", s->path,
		            bt_version_get_patch());
	else if (s->open)
		ctp_err_set(err, "%s: after %" PRIu64 " events: %.*s", s->path, s->records, plain_bytes(cause), cause);
	else
		ctp_err_set(err, "%s: %.*s; babeltrace2 %s says more", s->path, plain_bytes(cause), cause, s->path);
	if (error)
		bt_error_release(error);
	return CTP_FAILED;
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

static const char *env_text(const bt_trace *trace, const char *name)
{
	const bt_value *v = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
	return v && bt_value_is_string(v) ? bt_value_string_get(v) : NULL;
}

/* The section's clock has the earliest origin of the trace's clocks, so that no time is negative. */
static const bt_clock_class *find_origin(struct ctf_source *s, const bt_trace *trace)
{
	const bt_trace_class *tc = bt_trace_borrow_class_const(trace);
	const bt_clock_class *first = NULL;
	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(tc); i++) {
		const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
			bt_trace_class_borrow_stream_class_by_index_const(tc, i));
		int64_t ns;
		if (!clock || bt_clock_class_cycles_to_ns_from_origin(clock, 0, &ns) || (first && ns >= s->classes.origin_ns))
			continue;
		first = clock;
		s->classes.origin_ns = ns;
	}
	return first;
}

static bool add_env(struct ctp_section *sec, const char *name, const bt_value *value)
{
	char own[CTP_NAME_MAX + 1];
	/* Entries for which sections have a name get it. */
	if (!strcmp(name, "hostname"))
		snprintf(own, sizeof own, "host");
	else if ((!strcmp(name, "pid") || !strcmp(name, "vpid")) && !ctp_section_get(sec, "pid"))
		snprintf(own, sizeof own, "pid");
	else
		snprintf(own, sizeof own, "env.%s", name);
	if (bt_value_is_string(value))
		return ctp_section_add(sec, own, bt_value_string_get(value));
	if (bt_value_is_signed_integer(value))
		return ctp_section_addf(sec, own, "%" PRId64, bt_value_integer_signed_get(value));
	return true;
}

static void describe_foreign(struct ctf_source *s, struct ctp_section *sec, const bt_trace *trace)
{
	bool all = true;
	ctp_section_add(sec, "tool", s->tool);
	all &= ctp_section_add(sec, "source", s->path);
	const bt_clock_class *clock = trace ? find_origin(s, trace) : NULL;
	if (clock && bt_clock_class_get_name(clock))
		all &= ctp_section_add(sec, "clock", bt_clock_class_get_name(clock));
	if (clock && bt_clock_class_origin_is_unix_epoch(clock))
		ctp_section_addf(sec, "wall_offset_ns", "%" PRId64, s->classes.origin_ns);
	for (uint64_t i = 0; trace && i < bt_trace_get_environment_entry_count(trace); i++) {
		const char *name;
		const bt_value *value;
		bt_trace_borrow_environment_entry_by_index_const(trace, i, &name, &value);
		all &= add_env(sec, name, value);
	}
	if (!all) {
		ctp_notice_say(s->notice, "not all of the trace's environment has room in a section");
		s->source.stats.harmed = true;
	}
}

/* False: the env is not what ctp-toctf writes. */
static bool describe_ours(struct ctf_source *s, struct ctp_section *sec, const bt_trace *trace, struct ctp_err *why)
{
	const char *attrs = env_text(trace, "ctp_section");
	const bt_value *complete = bt_trace_borrow_environment_entry_value_by_name_const(trace, "ctp_complete");
	char name[32];
	for (const char *text = attrs; text;) {
		size_t len = strlen(text);
		char *scratch = malloc(len + 1);
		if (!scratch)
			return ctp_err_memory(why), false;
		struct ctp_class *cls = NULL;
		bool good = text == attrs ? !ctp_meta_read_attrs(text, text + len, scratch, sec, why) :
			(cls = ctp_meta_read_class(text, text + len, scratch, why)) != NULL;
		free(scratch);
		if (cls)
			good = (s->classes.ours[s->classes.nours++] = ctp_ctf_classes_add(&s->classes, cls)) != NULL;
		if (!good)
			return false;
		snprintf(name, sizeof name, "ctp_class_%u", s->classes.nours);
		text = s->classes.nours < CTP_CLASSES_MAX ? env_text(trace, name) : NULL;
	}
	s->complete = complete && bt_value_is_signed_integer(complete) && bt_value_integer_signed_get(complete) == 1;
	return attrs != NULL;
}

static void open_section(struct ctf_source *s, const struct ctp_section *sec)
{
	ctp_writer_begin(s->writer, sec);
	/* The mark makes the section exist even if no record follows. */
	ctp_writer_mark(s->writer, 0);
	s->open = true;
}

/* trace is null if there is no stream, and so no env. */
static void begin_section(struct ctf_source *s, const bt_trace *trace)
{
	const char *tracer = trace ? env_text(trace, "tracer_name") : NULL;
	/* A trace that babeltrace2 made of a raw stream has neither classes nor an end in its env. */
	bool has_end = trace && bt_trace_borrow_environment_entry_value_by_name_const(trace, "ctp_complete");
	struct ctp_err why = {.text = "it has no ctp_section"};
	struct ctp_section sec;
	ctp_section_init(&sec);
	s->complete = true;
	s->ours = has_end && tracer && !strcmp(tracer, "ctptools");
	if (s->ours && !describe_ours(s, &sec, trace, &why)) {
		ctp_notice_say(s->notice, "the environment is not what ctp-toctf wrote: %s; read as any other", why.text);
		ctp_section_fini(&sec);
		ctp_section_init(&sec);
		s->classes.nours = 0;
		s->ours = false;
		s->complete = true;
	}
	if (!s->ours)
		describe_foreign(s, &sec, trace);
	open_section(s, &sec);
	ctp_section_fini(&sec);
}

static void end_section(struct ctf_source *s)
{
	struct ctp_source_stats *stats = &s->source.stats;
	ctp_writer_end(s->writer, s->complete);
	if (!s->complete)
		ctp_notice_say(s->notice, "the section has no end: the stream that it was made of was cut short");
	if (s->lost_events)
		ctp_notice_say(s->notice, "%" PRIu64 " events are missing: the tracer had no room for them", s->lost_events);
	if (s->rejected)
		ctp_notice_say(s->notice, "%" PRIu64 " events were left out", s->rejected);
	if (s->values.cut)
		ctp_notice_say(s->notice, "%" PRIu64 " texts were too long, and were cut", s->values.cut);
	stats->rejected += s->rejected;
	stats->harmed |= !s->complete || s->rejected || s->values.cut || s->classes.harmed;
}

/* --- messages ------------------------------------------------------------------------------------------------------------ */

/* A time on the section's clock; one that does not fit becomes the last that does. */
static uint64_t time_of(const struct ctf_source *s, const bt_clock_snapshot *at, bool plain)
{
	int64_t ns;
	if (plain)
		return bt_clock_snapshot_get_value(at);
	if (bt_clock_snapshot_get_ns_from_origin(at, &ns)) {
		bt_current_thread_clear_error();
		ns = INT64_MAX;
	}
	return ns < s->classes.origin_ns ? 0 : (uint64_t)ns - (uint64_t)s->classes.origin_ns;
}

static void write_record(struct ctf_source *s, const struct ctp_class *cls, const uint64_t *val)
{
	struct ctp_source_stats *stats = &s->source.stats;
	const struct ctp_record rec = {.cls = cls, .val = val};
	ctp_writer_record(s->writer, cls, val);
	stats->harmed |= cls->kind == CTP_KIND_LOSS || ctp_record_untraced(&rec);
	stats->late += cls->time_field >= 0 && val[cls->time_field] < s->now_ns;
	stats->accepted++;
	if (++s->records % MARK_RECORDS == 0)
		ctp_writer_mark(s->writer, s->now_ns);
	if (s->records % TICK_RECORDS == 0 && s->source.tick.tick)
		s->source.tick.tick(s->source.tick.arg, NULL, stats->accepted);
}

static bool take_event(struct ctf_source *s, const bt_message *msg)
{
	const bt_event *event = bt_message_event_borrow_event_const(msg);
	const struct ctp_ctf_plan *plan = ctp_ctf_plan_of(&s->classes, bt_event_borrow_class_const(event));
	if (!plan || !plan->cls) {
		s->rejected++;
		return true;
	}
	if (!ctp_ctf_event_take(&s->values, plan, event)) {
		s->no_memory = true;
		return false;
	}
	if (plan->has_clock) {
		/* A single stream has no muxer that would refuse to go back in time. */
		uint64_t at_ns = time_of(s, bt_message_event_borrow_default_clock_snapshot_const(msg), plan->plain_clock);
		s->now_ns = at_ns > s->now_ns ? at_ns : s->now_ns;
		if (plan->ts_field >= 0)
			s->values.val[plan->ts_field] = at_ns;
	}
	write_record(s, plan->cls, s->values.val);
	return true;
}

/* Events or packets that the tracer dropped. A message without a count says that one is missing. */
static bool take_loss(struct ctf_source *s, const bt_message *msg, bool packets)
{
	uint64_t val[CTP_LOST_FIELDS] = {0}, count;
	const bt_stream_class *sc = bt_stream_borrow_class_const(packets ? bt_message_discarded_packets_borrow_stream_const(msg) :
	                                                         bt_message_discarded_events_borrow_stream_const(msg));
	if (s->ours)
		return true; /* one of the events is the loss record */
	bool known = packets ? bt_message_discarded_packets_get_count(msg, &count) == BT_PROPERTY_AVAILABILITY_AVAILABLE :
	                       bt_message_discarded_events_get_count(msg, &count) == BT_PROPERTY_AVAILABILITY_AVAILABLE;
	s->lost_events += val[CTP_LOST_COUNT] = known ? count : 1;
	val[CTP_LOST_TS] = val[CTP_LOST_AFTER] = s->now_ns;
	if (packets ? bt_stream_class_discarded_packets_have_default_clock_snapshots(sc) :
	              bt_stream_class_discarded_events_have_default_clock_snapshots(sc)) {
		val[CTP_LOST_AFTER] = time_of(s, packets ?
			bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(msg) :
			bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(msg), false);
		val[CTP_LOST_TS] = time_of(s, packets ?
			bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(msg) :
			bt_message_discarded_events_borrow_end_default_clock_snapshot_const(msg), false);
	}
	if (!s->lost) {
		struct ctp_class *cls = ctp_event_class(CTP_LOST);
		s->lost = cls ? ctp_ctf_classes_add(&s->classes, cls) : NULL;
	}
	if (s->lost)
		write_record(s, s->lost, val);
	else
		s->rejected++;
	return true;
}

static bool take_message(struct ctf_source *s, const bt_message *msg)
{
	switch (bt_message_get_type(msg)) {
	case BT_MESSAGE_TYPE_EVENT:
		return take_event(s, msg);
	case BT_MESSAGE_TYPE_STREAM_END:
		s->streams--;
		return true;
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		s->streams++;
		if (!s->open)
			begin_section(s, bt_stream_borrow_trace_const(bt_message_stream_beginning_borrow_stream_const(msg)));
		return true;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return take_loss(s, msg, false);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return take_loss(s, msg, true);
	default:
		return true;
	}
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *it, void *arg)
{
	struct ctf_source *s = arg;
	bt_message_array_const msgs;
	uint64_t n;
	bool good = true;
	bt_message_iterator_next_status status = bt_message_iterator_next(it, &msgs, &n);
	if (status)
		return (bt_graph_simple_sink_component_consume_func_status)status;
	for (uint64_t i = 0; i < n; i++) {
		good = good && take_message(s, msgs[i]);
		bt_message_put_ref(msgs[i]);
	}
	return good && !ctp_writer_failed(s->writer) ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK :
		BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

/* --- graphs -------------------------------------------------------------------------------------------------------------- */

static bool connect_ports(bt_graph *graph, const bt_port_output *from, const bt_port_input *to)
{
	return from && to && !bt_graph_connect_ports(graph, from, to, NULL);
}

/* Connects the source's ports to the sink; a single stream needs no muxer. */
static bool connect_sink(struct ctf_source *s, bt_graph *graph, const bt_component_source *source)
{
	const bt_component_sink *sink;
	const bt_component_filter *muxer;
	const bt_component_class_filter *muxers = bt_plugin_borrow_filter_component_class_by_name_const(s->utils, "muxer");
	uint64_t n = bt_component_source_get_output_port_count(source);
	if (bt_graph_add_simple_sink_component(graph, "ctp", NULL, consume, NULL, s, &sink))
		return false;
	const bt_port_input *in = bt_component_sink_borrow_input_port_by_index_const(sink, 0);
	if (n == 1)
		return connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(source, 0), in);
	if (bt_graph_add_filter_component(graph, muxers, "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer))
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (!connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(source, i),
		                   bt_component_filter_borrow_input_port_by_index_const(muxer, i)))
			return false;
	return connect_ports(graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0), in);
}

static const bt_component_source *add_source(struct ctf_source *s, bt_graph *graph)
{
	const bt_component_source *source = NULL;
	const bt_component_class_source *sources = bt_plugin_borrow_source_component_class_by_name_const(s->ctf, "fs");
	bt_value *params = bt_value_map_create(), *inputs = bt_value_array_create();
	if (params && inputs && !bt_value_array_append_string_element(inputs, s->path) &&
	    !bt_value_map_insert_entry(params, "inputs", inputs) &&
	    bt_graph_add_source_component(graph, sources, "ctf", params, BT_LOGGING_LEVEL_NONE, &source))
		source = NULL;
	bt_value_put_ref(inputs);
	bt_value_put_ref(params);
	return source;
}

static enum ctp_status read_graph(struct ctf_source *s, struct ctp_err *err)
{
	bt_graph *graph = bt_graph_create(0);
	const bt_component_source *source = graph ? add_source(s, graph) : NULL;
	uint64_t streams = source ? bt_component_source_get_output_port_count(source) : 0;
	bool good = source && (!streams || (connect_sink(s, graph, source) && !bt_graph_run(graph)));
	if (good && !s->open)
		begin_section(s, NULL);
	if (good && s->streams) {
		bt_current_thread_clear_error(); /* the cause is no text for users */
		good = false;
	}
	enum ctp_status status = good ? CTP_OK : fail(s, err);
	bt_graph_put_ref(graph);
	return status;
}

/* --- traces -------------------------------------------------------------------------------------------------------------- */

static enum ctp_status read_own(struct ctf_source *s, struct ctp_ctf_own *own, struct ctp_err *err)
{
	const struct ctp_class *cls;
	struct ctp_err why;
	enum ctp_status status;
	open_section(s, ctp_ctf_own_section(own, &s->complete));
	while (!(status = ctp_ctf_own_next(own, &s->values, &cls, &s->now_ns, &why))) {
		write_record(s, cls, s->values.val);
		if (ctp_writer_failed(s->writer))
			return fail(s, err);
	}
	return status == CTP_EOF ? CTP_OK : ctp_err_set(err, "%s, after %" PRIu64 " events", why.text, s->records);
}

static enum ctp_status read_trace(struct ctf_source *s, const char *path, struct ctp_err *err)
{
	struct ctp_ctf_own *own;
	s->path = path;
	s->open = false;
	s->records = s->rejected = s->lost_events = s->streams = s->now_ns = s->values.cut = 0;
	s->lost = NULL;
	s->classes.notice = s->notice;
	enum ctp_status status = ctp_ctf_own_open(&own, path, err);
	if (status != CTP_FAILED)
		status = status == CTP_EOF ? read_graph(s, err) : read_own(s, own, err);
	if (!status)
		end_section(s);
	ctp_ctf_own_free(own);
	ctp_ctf_classes_clear(&s->classes);
	return status;
}

/* --- the source ---------------------------------------------------------------------------------------------------------- */

static bool is_trace(const char *folder)
{
	char *path;
	struct stat st;
	if (asprintf(&path, "%s/metadata", folder) < 0)
		return false;
	bool is = !stat(path, &st) && S_ISREG(st.st_mode); /* opening a pipe of that name would wait */
	free(path);
	return is;
}

static int by_name(const FTSENT **a, const FTSENT **b) { return strverscmp((*a)->fts_name, (*b)->fts_name); }

/* Reads all traces at or below a path, in the order of their names. Of links only the path itself is followed. */
static enum ctp_status read_path(struct ctp_source *source, const char *path, struct ctp_writer *w,
                                 const struct ctp_notice *notice, struct ctp_err *err)
{
	struct ctf_source *s = (struct ctf_source *)source;
	char *const paths[] = {(char *)(uintptr_t)path, NULL};
	enum ctp_status status = CTP_OK;
	uint64_t traces = 0;
	s->writer = w;
	s->notice = notice;
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	if (!fts)
		return ctp_err_sys(err, "%s", path);
	for (FTSENT *e; !status && (e = fts_read(fts));) {
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS) {
			errno = e->fts_errno;
			status = ctp_err_sys(err, "%s", e->fts_path);
		} else if (e->fts_info == FTS_D && is_trace(e->fts_path)) {
			status = read_trace(s, e->fts_path, err);
			fts_set(fts, e, FTS_SKIP);
			traces++;
		}
	}
	if (!status && !traces)
		status = ctp_err_set(err, "%s: is no CTF trace: no folder there has a file called metadata", path);
	fts_close(fts);
	return status;
}

static void free_source(struct ctp_source *source)
{
	struct ctf_source *s = (struct ctf_source *)source;
	bt_plugin_put_ref(s->ctf);
	bt_plugin_put_ref(s->utils);
	ctp_ctf_values_fini(&s->values);
	free(s);
}

static const struct ctp_source_ops ops = {
	.read_path = read_path,
	.free = free_source,
};

/* Null: there is no such plugin, or it lacks the component class. */
static const bt_plugin *find_plugin(const char *name)
{
	const bt_plugin *plugin = NULL;
	if (bt_plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin))
		bt_current_thread_clear_error();
	return plugin;
}

struct ctp_source *ctp_ctf_source(const char *tool, struct ctp_err *err)
{
	struct ctf_source *s = calloc(1, sizeof *s);
	if (!s)
		return ctp_err_memory(err), NULL;
	s->source.ops = &ops;
	s->tool = tool;
	s->ctf = find_plugin("ctf");
	s->utils = find_plugin("utils");
	if (!s->ctf || !bt_plugin_borrow_source_component_class_by_name_const(s->ctf, "fs") || !s->utils ||
	    !bt_plugin_borrow_filter_component_class_by_name_const(s->utils, "muxer")) {
		ctp_err_set(err, "libbabeltrace2's plugins ctf and utils are not there; package libbabeltrace2-0 has them");
		free_source(&s->source);
		return NULL;
	}
	return &s->source;
}
