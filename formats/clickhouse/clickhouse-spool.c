/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* clickhouse-spool.c - see clickhouse-spool.h. */
#include "clickhouse/clickhouse-spool.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/compare.h"
#include "clickhouse/clickhouse-client.h"

#define FIRST_NS (5 * CTP_SECOND_NS)
#define LAST_NS (60 * CTP_SECOND_NS)

static int to_ms(uint64_t ns) { return (int)(ns / 1000000 + 1); }

static uint64_t first_pause(const struct ctp_clickhouse_spool *s) { return ctp_least(s->o.every_ns, FIRST_NS); }

static void note_sent(void *arg, const char *text)
{
	struct ctp_clickhouse_spool *s = arg;
	(void)text;
	if (s->said.text[0])
		ctp_notice_say(s->o.notice, "the delivery of %s goes on", s->path);
	s->said.text[0] = '\0';
}

void ctp_clickhouse_spool_init(struct ctp_clickhouse_spool *s, const struct ctp_clickhouse_options *options, const char *path)
{
	*s = (struct ctp_clickhouse_spool){.o = *options, .path = path, .sent = {.say = note_sent, .arg = s}};
	s->o.sent = &s->sent;
	s->pause_ns = first_pause(s);
}

struct ctp_sink *ctp_clickhouse_spool_sink(struct ctp_clickhouse_spool *s, struct ctp_err *err)
{
	s->o.attempt++;
	s->began_ns = ctp_clock_ns();
	return ctp_clickhouse_sink(&s->o, err);
}

/* Once, as long as it is the same. */
static void say_why(struct ctp_clickhouse_spool *s, const struct ctp_err *why)
{
	const char *kept = ctp_input_copy_failed(s->copy) ? "the rows that were copied" : "all rows";
	if (strcmp(s->said.text, why->text))
		ctp_notice_say(s->o.notice, "the delivery failed, and is tried again; %s keeps %s: %s", s->path, kept, why->text);
	s->said = *why;
}

bool ctp_clickhouse_spool_again(struct ctp_clickhouse_spool *s, const struct ctp_err *why)
{
	uint64_t now_ns = ctp_clock_ns(), ended_ns;
	bool final = why->code == CTP_ERR_REFUSED || why->code == CTP_ERR_NOT_STREAM;
	if (final || (ctp_input_copy_ended(s->copy, 0, &ended_ns) && now_ns >= ended_ns + s->o.timeout_ns))
		return false;
	say_why(s, why);
	if (now_ns - s->began_ns > LAST_NS)
		s->pause_ns = first_pause(s);
	uint64_t until_ns = now_ns + s->pause_ns;
	if (ctp_input_copy_ended(s->copy, to_ms(s->pause_ns), &ended_ns))
		until_ns = ctp_least(until_ns, ended_ns + s->o.timeout_ns);
	s->pause_ns = ctp_least(2 * s->pause_ns, LAST_NS);
	for (; (now_ns = ctp_clock_ns()) < until_ns;)
		poll(NULL, 0, to_ms(until_ns - now_ns));
	return true;
}

/* --- what a person can do ------------------------------------------------------------------------------------------------- */

/* The command may have a password: then less of it is said. */
void ctp_clickhouse_spool_remedy(const struct ctp_clickhouse_spool *s, const struct ctp_notice *to)
{
	struct ctp_clickhouse_client client;
	struct ctp_bytes line = {0};
	ctp_clickhouse_client_init(&client, s->o.client, 0);
	ctp_bytes_word(&line, strcmp(client.shown, s->o.client) ? "..." : s->o.client);
	ctp_bytes_byte(&line, ' ');
	ctp_bytes_word(&line, s->path);
	const char *text = ctp_bytes_str(&line);
	ctp_notice_say(to, "the stream was not delivered; run: ctp-toclickhouse --load %s", text ? text : s->path);
	ctp_bytes_fini(&line);
}
