/*
 * html.h - a stream as one HTML page that needs nothing else: the report, and what each coroutine did.
 *
 * The page itself is written in HTML, CSS and JavaScript under formats/html/, which make joins. The data is what ctp-tohtml.1
 * says: the report and the texts as JSON, the events of one section packed (html-pack.h), compressed and in base64.
 */
#ifndef CTP_HTML_H
#define CTP_HTML_H

#include "analyse/analysis.h"
#include "io/output.h"
#include "stream/sink.h"

enum { CTP_HTML_EVENTS_MAX = 20000000 }; /* what a browser can take */

struct ctp_html_options {
	struct ctp_analysis_options report;
	const char *title;   /* null: the command that was traced */
	const char *source;  /* where the stream comes from */
	uint64_t section;    /* whose events are shown, from 1; 0: the last with findings, or else the last that has coroutines */
	uint64_t max_events; /* of the page; beyond it some are left out, and the page says so */
};

/* Owns out from here on, also where it fails. What options point to stays the caller's, and must last. */
struct ctp_sink *ctp_html_sink(struct ctp_output *out, const struct ctp_html_options *options, struct ctp_err *err);

/* The page, with CTP_HTML_DATA once in it, in whose place the data belongs. */
extern const char ctp_html_page[];
#define CTP_HTML_DATA "<!-- data -->\n"

#endif
