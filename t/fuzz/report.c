/*
 * report.c - whatever records come, in whatever classes, the report survives them and does not contradict itself.
 *
 * The bytes are a list of steps: declare a class, begin a section, end one, or a record of one of the classes. The reader has a
 * target of its own (stream.c); behind it, what is hostile is the classes and the values, and these are made here directly.
 * Covers: lib/analyse formats/report
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/analysis.h"
#include "io/output.h"
#include "report/report-json.h"
#include "stream/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLASSES = 32, FIELDS = 12 };

struct fuzz {
	const uint8_t *p, *end;
	struct ctp_class *classes[CLASSES];
	uint32_t nclasses;
	uint64_t now_ns, val[CTP_FIELDS_MAX];
	struct ctp_str *texts[CTP_FIELDS_MAX];
	struct ctp_analysis *analysis;
	struct ctp_section section;
	bool open;
};

static uint8_t byte(struct fuzz *f) { return f->p < f->end ? *f->p++ : 0; }

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Small numbers for the most part, so that records are about the same few coroutines; and the edges. */
static uint64_t number(struct fuzz *f)
{
	uint8_t b = byte(f);
	return b < 0xe0 ? b : b < 0xf0 ? UINT64_MAX >> 4 * (b & 15) : UINT64_C(1) << (63 - 4 * (b & 15));
}

static uint64_t moment(struct fuzz *f)
{
	static const uint64_t steps[] = {0, 1, 1000, 1000000, 20000000, 200000000, 2000000000, 70000000000, UINT64_C(1) << 62};
	uint8_t b = byte(f);
	if (b >= 0xf8)
		return f->now_ns - steps[b & 7]; /* goes back, or wraps */
	return f->now_ns += steps[b % 9] * (b / 9 % 4);
}

static struct ctp_str *text(struct fuzz *f)
{
	size_t len = byte(f), left = (size_t)(f->end - f->p), have = len < left ? len : left;
	struct ctp_str *s = calloc(1, sizeof(*s) + len + 1);
	must(s);
	s->len = (uint32_t)len;
	memcpy(s->data, f->p, have);
	f->p += have;
	return s;
}

static uint64_t narrow(unsigned type, uint64_t v)
{
	switch (type) {
	case CTP_U8: return (uint8_t)v;
	case CTP_U16: return (uint16_t)v;
	case CTP_U32: case CTP_F32: return (uint32_t)v;
	case CTP_I8: return (uint64_t)(int8_t)v;
	case CTP_I16: return (uint64_t)(int16_t)v;
	case CTP_I32: return (uint64_t)(int32_t)v;
	case CTP_BOOL: return v & 1;
	default: return v;
	}
}

static void record(struct fuzz *f, const struct ctp_class *cls, bool late)
{
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *field = &cls->fields[i];
		f->texts[i] = NULL;
		if (ctp_type_is_text(field->type))
			f->val[i] = ctp_val_str(f->texts[i] = text(f));
		else
			f->val[i] = field->role == CTP_ROLE_TIME ? moment(f) : narrow(field->type, number(f));
	}
	const struct ctp_record rec = {.cls = cls, .val = f->val};
	ctp_analysis_records(f->analysis, &(struct ctp_batch){.rec = &rec, .n = 1, .late = late});
	for (uint32_t i = 0; i < cls->nfields; i++)
		free(f->texts[i]);
}

/* A class with any types for any roles; some fields have the names that tools look for. */
static void declare(struct fuzz *f)
{
	enum { NAMES = 20 };
	static const char *const names[NAMES] = {"index", "parent", "by", "code", "target", "start", "stop", "after", "outcome", "status",
	                                         "file", "line", "state", "threads", "cpu_ns", "delay_ns", "how", "joins", "by_hand",
	                                         "before"};
	struct ctp_field fields[FIELDS];
	struct ctp_err err;
	uint8_t kind = byte(f), n = byte(f) % FIELDS, first = kind / CTP_KIND_COUNT * 3;
	for (uint8_t i = 0; i < n; i++) {
		uint8_t role = byte(f), type = byte(f);
		fields[i] = (struct ctp_field){.name = names[(first + i) % NAMES], .role = role % CTP_ROLE_COUNT_,
		                               .type = 1 + type % (CTP_TYPE_COUNT - 1)};
	}
	struct ctp_class *cls = f->nclasses < CLASSES ? ctp_class_new("x", kind % CTP_KIND_COUNT, fields, n, &err) : NULL;
	if (!cls)
		return;
	cls->id = f->nclasses;
	f->classes[f->nclasses++] = cls;
}

static void begin(struct fuzz *f)
{
	uint8_t how = byte(f);
	ctp_section_fini(&f->section);
	ctp_section_init(&f->section);
	ctp_section_add(&f->section, "argv[]", "x");
	if (how & 1)
		ctp_section_add(&f->section, "pid", "1");
	if (how & 2)
		ctp_section_add(&f->section, "attached", "yes");
	if (how & 4)
		ctp_section_add(&f->section, "start_ns", "1000");
	if (how & 8)
		ctp_section_add(&f->section, "clock", "ordinal");
	ctp_analysis_section(f->analysis, &f->section);
	f->open = true;
}

static void finish(struct fuzz *f, uint8_t how)
{
	if (f->open)
		ctp_analysis_end(f->analysis, &(struct ctp_section_end){.complete = how & 1, .missing = how & 2});
	f->open = false;
}

/* What a listener sees is what is there. */
static void changed(void *arg, const struct ctp_change *ch)
{
	struct fuzz *f = arg;
	must(ch->co && ch->co->id && ch->co->state > CTP_UNBORN && ch->co->state < CTP_STATES && ch->was < CTP_STATES);
	must(ctp_follow_find(&f->analysis->follow, ch->co->id) == ch->co);
	uint32_t threads = ctp_follow_threads(&f->analysis->follow), places = ctp_follow_places(&f->analysis->follow);
	must(ch->thread < threads && ch->co->thread < threads);
	must(ch->co->place < places && ch->co->spawn < places);
}

static void check(const struct ctp_report *r)
{
	for (uint32_t i = 0; i < r->nsections; i++)
		for (uint32_t k = 0; k < r->sections[i].nfindings; k++) {
			const struct ctp_finding *f = &r->sections[i].findings[k];
			must(f->title && f->members >= f->nwho && f->nwho <= CTP_REPORT_MEMBERS);
			must(f->members || f->rule == CTP_RULE_CRASH);
			must(f->waiting >= f->nwaiters && f->nwaiters <= CTP_REPORT_MEMBERS);
			must(f->certainty <= ctp_rule_most(f->rule));
			must(f->from_ns <= f->to_ns || f->to_ns == 0);
		}
}

static void print(const struct ctp_report *r)
{
	static int fd = -1;
	struct ctp_output out;
	struct ctp_err err;
	if (fd < 0)
		fd = memfd_create("out", 0);
	must(fd >= 0 && !ftruncate(fd, 0) && !ctp_output_fd(&out, fd, "out", &err));
	ctp_report_json(&out, r, false);
	must(!ctp_output_close(&out, &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ctp_follow_ops ops = {.change = changed};
	struct ctp_err err;
	struct fuzz f = {.p = data, .end = data + size};
	struct ctp_analysis_options options = {.since_ns = number(&f), .until_ns = number(&f)};
	f.analysis = ctp_analysis_new(&options, &err);
	must(f.analysis);
	ctp_analysis_listen(f.analysis, &ops, &f);
	for (; f.nclasses < CTP_EVENT_COUNT; f.nclasses++) {
		f.classes[f.nclasses] = ctp_event_class((enum ctp_event)f.nclasses);
		must(f.classes[f.nclasses]);
		f.classes[f.nclasses]->id = f.nclasses;
	}
	begin(&f);
	while (f.p < f.end) {
		uint8_t step = byte(&f);
		if (step < 0xe0) {
			if (f.open)
				record(&f, f.classes[step % f.nclasses], step >= 0xc0);
		} else if (step < 0xf0) {
			declare(&f);
		} else {
			finish(&f, step);
			begin(&f);
		}
	}
	finish(&f, 1);
	check(&f.analysis->report);
	print(&f.analysis->report);
	ctp_analysis_free(f.analysis);
	ctp_section_fini(&f.section);
	for (uint32_t i = 0; i < f.nclasses; i++)
		ctp_class_free(f.classes[i]);
	return 0;
}
