/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-toclickhouse - a stream as rows for ClickHouse, and the tables for them. */
#include <getopt.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "clickhouse/clickhouse-spool.h"
#include "tool.h"

static struct ctp_tool tool = {
	.name = "ctp-toclickhouse",
	.synopsis = "[-fqv] [--server N] [--class NAME | -o DIR | --load COMMAND | --schema | --clean] [--cluster NAME] [--database NAME] [--upgrade] "
		"[--unfinished] [--live SECONDS] [--spool FILE] [--timeout SECONDS] [FILE...]",
	.help = "Writes a stream as rows for ClickHouse, in its format Native.\n"
		"  --class NAME      write this class to standard output\n"
		"  -o DIR            write a file for each class to this folder\n"
		"  --load COMMAND    deliver to a server, by a command line of clickhouse-client: each section once\n"
		"  --live SECONDS    with --load: deliver the rows of a section while it goes on, this often\n"
		"  --spool FILE      with --live: copy standard input to FILE, and deliver that until the server has it\n"
		"  --timeout SECONDS give up a client that does nothing for so long (600)\n"
		"  --schema          print the statements that make the tables and views\n"
		"  --cluster NAME    with --schema: on each shard of a cluster, with tables that are distributed\n"
		"  --database NAME   with --schema: in this database; --cluster needs it\n"
		"  --upgrade         with --schema and --load: only what the server lacks\n"
		"  --server N        with --schema, --class or -o: for servers from this version on, 18, 23 or 25 (18)\n"
		"  --clean           with --load: delete rows of sections that were replaced\n"
		"  --unfinished      with --clean: also rows of deliveries that did not end; only while no loader runs\n"
		"  -f                write to a folder that is not empty, to a FILE that exists, or to a terminal, too\n"
		"  -q                print no notices   -v  print a summary   -V  print the version   -h  print this help\n",
	.permutes = true,
};

enum { CLASS = 1, LOAD, LIVE, SPOOL, TIMEOUT, SCHEMA, CLUSTER, DATABASE, UPGRADE, SERVER, CLEAN, UNFINISHED };
static const struct option longs[] = {
	{"class", required_argument, NULL, CLASS}, {"load", required_argument, NULL, LOAD}, {"live", required_argument, NULL, LIVE},
	{"spool", required_argument, NULL, SPOOL}, {"timeout", required_argument, NULL, TIMEOUT},
	{"schema", no_argument, NULL, SCHEMA}, {"cluster", required_argument, NULL, CLUSTER},
	{"database", required_argument, NULL, DATABASE}, {"upgrade", no_argument, NULL, UPGRADE}, {"server", required_argument, NULL, SERVER}, {"clean", no_argument, NULL, CLEAN},
	{"unfinished", no_argument, NULL, UNFINISHED}, {0}};

struct modes {
	struct ctp_clickhouse_options o;
	bool schema, upgrade, clean, unfinished, chose_server;
	const char *cluster, *database, *spool;
};

/* The statements. Without a file it is not read from standard input: the classes of ctp-collect are known. */
static int print_schema(const struct modes *m, char **files)
{
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_output_create(&out, NULL, false, true, &err))
		return ctp_tool_fail(&tool, &err);
	struct ctp_sink *sink = ctp_clickhouse_schema(&(struct ctp_clickhouse_schema_options){
		.server = m->o.server, .cluster = m->cluster, .database = m->database, .client = m->o.client, .timeout_ns = m->o.timeout_ns, .out = &out}, &err);
	if (*files)
		return ctp_tool_to(&tool, files, sink, &out, &err);
	enum ctp_status status = sink ? sink->ops->finish(sink, &err) : CTP_FAILED;
	int code = status ? ctp_tool_fail_output(&tool, &out, &err) : CTP_EXIT_OK;
	if (sink)
		sink->ops->free(sink);
	return code;
}

static int clean(const struct modes *m)
{
	struct ctp_err err;
	uint64_t n;
	if (ctp_clickhouse_clean(m->o.client, m->o.timeout_ns, m->unfinished, &n, &err))
		return ctp_tool_fail(&tool, &err);
	if (tool.verbose)
		ctp_tool_say(&tool, m->unfinished ? "%ju deliveries were replaced or did not end, and are deleted" : "%ju deliveries were replaced, and are deleted",
		             (uintmax_t)n);
	return CTP_EXIT_OK;
}

static int write_class(struct modes *m, char **files)
{
	struct ctp_output out;
	struct ctp_err err;
	if (ctp_tool_create(&out, NULL, files, true, m->o.force, &err))
		return ctp_tool_fail(&tool, &err);
	m->o.out = &out;
	return ctp_tool_to(&tool, files, ctp_clickhouse_sink(&m->o, &err), &out, &err);
}

static const struct ctp_notice complaint = {.say = ctp_tool_say_line, .arg = &tool};

static void say_remedy(void *spool, const char *text)
{
	(void)text;
	ctp_clickhouse_spool_remedy(spool, &complaint);
}

/* Standard input is copied to a file, and the file delivered, until the server has it. */
static int deliver_spool(struct modes *m)
{
	struct ctp_err err = {0};
	if (ctp_tool_is_input(m->spool, (char *[]){NULL}))
		return ctp_tool_usage(&tool, "--spool %s: is also the input; name another file", m->spool);
	struct ctp_clickhouse_spool spool;
	ctp_clickhouse_spool_init(&spool, &m->o, m->spool);
	const struct ctp_notice dying = {.say = say_remedy, .arg = &spool};
	struct ctp_input_copy *copy = spool.copy = ctp_input_copy_new(STDIN_FILENO, m->spool, tool.force, &complaint, &dying, &err);
	if (!copy)
		return ctp_tool_fail(&tool, &err);
	struct ctp_tool_done done;
	enum ctp_status status;
	tool.growth = ctp_input_copy_growth(copy);
	do {
		struct ctp_sink *sink = ctp_clickhouse_spool_sink(&spool, &err);
		status = ctp_tool_convert(&tool, (char *[]){(char *)m->spool, NULL}, sink, NULL, &done, &err);
	} while (status == CTP_FAILED && ctp_clickhouse_spool_again(&spool, &err));
	int code = status == CTP_FAILED ? ctp_tool_fail(&tool, &err) : ctp_tool_converted(&tool, &done);
	bool copied = ctp_input_copy_close(copy);
	if ((status == CTP_FAILED || done.left_out) && err.code != CTP_ERR_NOT_STREAM)
		ctp_clickhouse_spool_remedy(&spool, &complaint);
	return copied ? code : CTP_EXIT_FAILED;
}

/* What does not go together, or null. */
static const char *wrong(const struct modes *m)
{
	const struct ctp_clickhouse_options *o = &m->o;
	if (m->schema + m->clean + (o->dir != NULL) + (o->class_name && !o->dir) > 1 || ((m->schema ? !m->upgrade : o->dir || o->class_name) && o->client))
		return "--class, -o, --load, --schema and --clean cannot be used together, except --load with --schema --upgrade or --clean";
	if (o->client && !*o->client)
		return "--load needs a command line, such as 'clickhouse-client --host db'";
	if (m->upgrade && (!m->schema || !o->client))
		return "--upgrade needs --schema, and --load to name the server";
	if (m->clean && !o->client)
		return "--clean needs --load, to name the server";
	if ((m->cluster || m->database) && !m->schema)
		return "--cluster and --database need --schema; for --load, put the database into its command";
	if (m->unfinished && !m->clean)
		return "--unfinished needs --clean";
	if (m->cluster && !m->database)
		return "--cluster needs --database, the database of these tables on each shard";
	if (o->every_ns && !o->client)
		return "--live needs --load";
	if (m->spool && (!o->every_ns || m->schema || m->clean))
		return "--spool needs --load and --live";
	if (m->chose_server && o->client && !m->schema)
		return "--server cannot be used with --load, which asks the server";
	if (!m->schema && !o->client && !o->dir && !o->class_name)
		return "name what to do with --class, -o, --load, --schema or --clean; see ctp-toclickhouse -h";
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct ctp_notice notice = {.say = ctp_tool_say_line, .arg = &tool}; /* a delivery names its input itself */
	struct modes m = {.o = {.server = CTP_CLICKHOUSE_OLDEST, .notice = &notice, .complaint = &notice, .timeout_ns = CTP_CLICKHOUSE_TIMEOUT_S * CTP_SECOND_NS}};
	struct ctp_err err;
	ctp_tool_start(&tool);
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 1 << 20); /* columns give their memory back: in the heap what they leave is never used again */
#endif
	for (int c; (c = ctp_tool_option(&tool, argc, argv, "fo:", longs)) != -1;) {
		switch (c) {
		case CLASS: m.o.class_name = optarg; break;
		case LOAD: m.o.client = optarg; break;
		case LIVE: m.o.every_ns = ctp_tool_number(&tool, "--live", optarg, 1, 86400, NULL) * CTP_SECOND_NS; break;
		case SPOOL: m.spool = optarg; break;
		case TIMEOUT: m.o.timeout_ns = ctp_tool_number(&tool, "--timeout", optarg, 1, 86400, NULL) * CTP_SECOND_NS; break;
		case SCHEMA: m.schema = true; break;
		case CLUSTER: m.cluster = optarg; break;
		case DATABASE: m.database = optarg; break;
		case UPGRADE: m.upgrade = true; break;
		case CLEAN: m.clean = true; break;
		case UNFINISHED: m.unfinished = true; break;
		case SERVER:
			m.o.server = (unsigned)ctp_tool_number(&tool, "--server", optarg, CTP_CLICKHOUSE_OLDEST, 99, NULL);
			m.chose_server = true;
			break;
		default: break;
		}
	}
	m.o.dir = tool.path;
	m.o.force = tool.force;
	if (tool.quiet)
		m.o.notice = NULL;
	const char *why = wrong(&m);
	if (why)
		return ctp_tool_usage(&tool, "%s", why);
	if (m.schema)
		return print_schema(&m, argv + optind);
	if (m.clean)
		return clean(&m);
	if (m.spool)
		return argv[optind] ? ctp_tool_usage(&tool, "--spool copies standard input; give no other FILE") : deliver_spool(&m);
	if (m.o.dir || m.o.client)
		return ctp_tool_to(&tool, argv + optind, ctp_clickhouse_sink(&m.o, &err), NULL, &err);
	return write_class(&m, argv + optind);
}
