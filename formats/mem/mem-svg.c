/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem-svg.c - see mem-svg.h.
 *
 * The picture has no script and asks for nothing, and its colours are those of the reader, light or dark. Warmth is by the root of
 * the cost, in steps, of which the last is the dearest member of the type; the steps differ in lightness as well as in hue.
 */
#include "mem/mem-svg.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/visible.h"
#include "mem/mem-cells.h"
#include "memory/mem-members.h"
#include "memory/mem-remedy.h"

#define putf ctp_output_putf

enum {
	TYPES = 8, PLACES = 6, /* types that are drawn; places of a shared line */
	LEFT = 64, RIGHT = 200, INNER = 896, HIGH = 54, GAP = 4, /* of rows, in pixels */
	HEAD = 52, FOOT = 22, TOP = 74, WARNING = 24, OMISSION = 22,
	LETTER = 67, /* tenths of a pixel */
	NARROW = 13, NOTE = 15, NOTE_COLUMNS = INNER * 10 / LETTER, /* a cell that has no room for two digits; a row of notes */
	STEPS = 8,
};

static const char style_text[] =
	"svg{font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;background:#fff;color:#1c2128}"
	"text{fill:#1c2128}.t{font-weight:700;font-size:14px}.f{fill:#68717d}"
	".c{stroke:#fff;stroke-width:1}.g{fill:#f2f3f5}.p{fill:url(#hatch)}.hl{stroke:#b4bac3}.hb{fill:#f2f3f5}"
	".h0{fill:#eef0f3}.h1{fill:#fdf1d6}.h2{fill:#fde0a9}.h3{fill:#fbc46b}.h4{fill:#f59b3f}"
	".h5{fill:#e06f22}.h6{fill:#b8430f}.h7{fill:#7a2306}"
	".n{font-size:8px}.v{fill:#1c2128}.b{fill:#1c2128}.d{fill:#fff}.r{fill:#0b62b8}.w{fill:#a8277f}"
	".x{fill:#b3261e;font-weight:700}.s,.k{fill:none;stroke:#fff;stroke-width:4}.s{stroke:#007a72;stroke-width:2.5;stroke-dasharray:7 3}.st{fill:#007a72;font-weight:700}"
	"@media(prefers-color-scheme:dark){svg{background:#14171b;color:#dde2e8}text{fill:#dde2e8}.f{fill:#8d97a4}"
	".c{stroke:#14171b}.g{fill:#1b1f25}.hl{stroke:#4a525d}.hb{fill:#1b1f25}"
	".h0{fill:#262c33}.h1{fill:#3b2a12}.h2{fill:#573a10}.h3{fill:#7d5010}.h4{fill:#a96613}"
	".h5{fill:#d6832a}.h6{fill:#f3ab5a}.h7{fill:#ffd9a3}"
	".x{fill:#ff8a80}.v{fill:#dde2e8}.b,.d{fill:#14171b}.r{fill:#5aaef5}.w{fill:#ec87c8}.k{stroke:#14171b}.s{stroke:#35e0d0}.st{fill:#35e0d0}}";

struct picture {
	struct ctp_output *out;
	const struct ctp_mem *m;
	const struct ctp_mem_layouts *l;
	bool *shared;  /* of each type: a falsely shared line has some of it */
	struct ctp_mem_lines **lines; /* of each type; null: it is not drawn */
	uint32_t line; /* bytes of a row */
	unsigned top, y; /* top: of the first structure */
	uint64_t dearest; /* cost of a cell of the type at hand */
};

static unsigned columns_of(const char *text)
{
	char c[CTP_VISIBLE_MAX];
	unsigned wide, used = 0;
	while (ctp_visible_char(c, &text, &wide))
		used += wide;
	return used;
}

/* A text, safe to show and in XML, cut to this number of columns, the last of which is an ellipsis; 0: not cut. */
static void put_text(struct ctp_output *out, const char *text, unsigned columns)
{
	char c[CTP_VISIBLE_MAX];
	unsigned wide, used = 0;
	bool cut = columns && columns_of(text) > columns;
	for (unsigned n; (n = ctp_visible_char(c, &text, &wide));) {
		used += wide;
		if (cut && used >= columns) {
			putf(out, "\xe2\x80\xa6");
			return;
		}
		if (n == 1 && strchr("<>&\"", c[0]))
			putf(out, "&#%d;", c[0]);
		else
			ctp_output_put(out, c, n);
	}
}

static void put_type(const struct picture *p, uint32_t type, unsigned columns)
{
	const char *name = p->m->types.type[type].name;
	put_text(p->out, name && *name ? name : "(no name)", columns);
}

/* --- cells --------------------------------------------------------------------------------------------------------------- */

static int step_of(const struct picture *p, const struct ctp_mem_cell *c)
{
	double share = p->dearest ? (double)ctp_mem_cost(&c->counts, p->m->levels) / (double)p->dearest : 0;
	int step = STEPS - 1;
	while (step && share * (STEPS - 1) * (STEPS - 1) < step * step)
		step--;
	return step || !share ? step : 1;
}

/* What a thread wrote: by its name where it is known, and with its type where that is another one. */
static void put_place(const struct picture *p, const struct ctp_sharing_place *at, uint32_t type)
{
	const struct ctp_mem *m = p->m;
	const struct ctp_mem_member *member = ctp_mem_members_at(&m->types, at->type, at->offset);
	char n[CTP_MEM_NUMBER_MAX];
	putf(p->out, "\nthread %ju wrote byte %u, ", m->threads[m->thread_at[at->thread]].id, at->byte);
	if (at->type == CTP_MEM_NONE)
		putf(p->out, "of no region");
	else if (at->type != type)
		put_type(p, at->type, 0);
	if (at->type != CTP_MEM_NONE)
		putf(p->out, "%s+%u", at->type != type ? " " : "", at->offset);
	if (*ctp_mem_member_name(member)) {
		putf(p->out, " ");
		put_text(p->out, ctp_mem_member_name(member), 0);
	}
	putf(p->out, ": %s time%s", ctp_mem_number(n, at->accesses[1]), at->accesses[1] == 1 ? "" : "s");
}

/* Each thread is there with what it wrote most. */
static void put_sharers(const struct picture *p, const struct ctp_shared_line *l, uint32_t type)
{
	char n[CTP_MEM_HANDS_MAX], remedy[CTP_MEM_REMEDY_MAX];
	putf(p->out, "\n%s sharing of the line at 0x%jx, which changed hands %s",
	     ctp_sharing_verdict(l) == CTP_SHARING_FALSE ? "FALSE" : "true and FALSE", l->address, ctp_mem_hands(n, l));
	for (uint32_t i = 0; i < l->nplaces && l->place[i].accesses[1]; i++) {
		uint32_t k = 0;
		while (l->place[k].thread != l->place[i].thread)
			k++;
		if (i < PLACES || k == i)
			put_place(p, &l->place[i], type);
	}
	if (ctp_mem_remedy(remedy, p->m, p->l, l)) {
		putf(p->out, "\n");
		put_text(p->out, remedy, 0);
		putf(p->out, " parts them");
	}
}

/* Reads and writes, in words. */
static void put_accesses(const struct picture *p, const uint64_t n[2])
{
	char text[2][CTP_MEM_NUMBER_MAX];
	putf(p->out, "%s read%s, %s write%s", ctp_mem_number(text[0], n[0]), n[0] == 1 ? "" : "s", ctp_mem_number(text[1], n[1]),
	     n[1] == 1 ? "" : "s");
}

static void put_title(const struct picture *p, const struct ctp_mem_cell *c, uint32_t type)
{
	const struct ctp_mem *m = p->m;
	char n[CTP_MEM_NUMBER_MAX];
	putf(p->out, "<title>");
	put_text(p->out, c->kind == CTP_CELL_PADDING ? "padding" : c->kind == CTP_CELL_GAP ? "no access" : c->name, 0);
	putf(p->out, "%soffset %u, %s", c->kind == CTP_CELL_MEMBER && !c->name[0] ? "" : ", ", c->offset, ctp_mem_bytes(n, c->size));
	putf(p->out, "\n");
	put_accesses(p, c->counts.accesses);
	for (unsigned i = 0; i < m->levels; i++) {
		putf(p->out, "\nL%u missed: ", i + 1);
		put_accesses(p, c->counts.misses[i]);
	}
	if (c->shared)
		put_sharers(p, c->shared, type);
	putf(p->out, "</title>");
}

/* What a cell is called in it: where there is no name, by its offset. */
static const char *label_of(char to[CTP_MEM_NUMBER_MAX], const struct ctp_mem_cell *c)
{
	snprintf(to, CTP_MEM_NUMBER_MAX, "+%u", c->offset);
	return c->name[0] ? c->name : c->kind == CTP_CELL_PADDING ? "padding" : to;
}

static unsigned columns_in(double wide) { return wide > 8 ? (unsigned)((wide - 5) * 10 / LETTER) : 0; }

/* How wide the words of a cell may be. */
static double room_of(const struct picture *p, const struct ctp_mem_cell *c, double *in)
{
	double wide = (double)INNER * c->size / p->line;
	*in = c->shared ? wide < 16 ? wide / 4 : 4 : 0;
	return wide - 2 * *in;
}

/* Whether a cell has accesses and its label does not fit: a note below the line has it. */
static bool has_note(const struct picture *p, const struct ctp_mem_cell *c)
{
	char text[CTP_MEM_NUMBER_MAX];
	double in;
	return ctp_mem_accesses(&c->counts) && columns_of(label_of(text, c)) > columns_in(room_of(p, c, &in));
}

/* The label; where that does not fit the number of its note, and as much of it as fits. */
static void put_label(const struct picture *p, const struct ctp_mem_cell *c, double x, double wide, const char *shade, unsigned note)
{
	char text[CTP_MEM_NUMBER_MAX], number[CTP_MEM_NUMBER_MAX] = "";
	unsigned columns = columns_in(wide);
	if (note)
		snprintf(number, sizeof number, "%u ", note);
	if (note ? columns >= strlen(number) + 5 : columns > 2 || columns_of(label_of(text, c)) <= columns) {
		putf(p->out, "<text x=\"%.1f\" y=\"%u\" class=\"%s\">%s", x + 4, p->y + 14, shade, number);
		put_text(p->out, label_of(text, c), columns - (unsigned)strlen(number));
		putf(p->out, "</text>");
	} else if (note) {
		putf(p->out, "<text class=\"n %s\" x=\"%.1f\" y=\"%u\" text-anchor=\"middle\"", shade, x + wide / 2, p->y + 14);
		if ((double)INNER * c->size / p->line < NARROW)
			putf(p->out, " transform=\"rotate(-90 %.1f %u) translate(0 3)\"", x + wide / 2, p->y + 14);
		putf(p->out, ">%u</text>", note);
	}
}

/* After the label, what fits: reads and writes; misses of the first and the last level. */
static void put_words(const struct picture *p, const struct ctp_mem_cell *c, double x, double wide, int step, unsigned note)
{
	const struct ctp_mem *m = p->m;
	unsigned columns = columns_in(wide);
	const char *shade = step == 5 ? "b" : step > 5 ? "d" : step ? "v" : "f";
	char n[2][CTP_MEM_NUMBER_MAX], text[3 * CTP_MEM_NUMBER_MAX];
	put_label(p, c, x, wide, shade, note);
	if (!step || columns < 2)
		return;
	int len = snprintf(text, sizeof text, "%sr %sw", ctp_mem_brief(n[0], c->counts.accesses[0]),
	                   ctp_mem_brief(n[1], c->counts.accesses[1]));
	if ((unsigned)len <= columns)
		putf(p->out, "<text x=\"%.1f\" y=\"%u\" class=\"%s\">%s</text>", x + 4, p->y + 28, shade, text);
	if (!m->levels)
		return;
	len = snprintf(text, sizeof text, "%s/%s miss", ctp_mem_brief(n[0], ctp_mem_misses(&c->counts, 0)),
	               ctp_mem_brief(n[1], ctp_mem_misses(&c->counts, m->levels - 1)));
	if ((unsigned)len > columns)
		len -= 5;
	if ((unsigned)len <= columns)
		putf(p->out, "<text x=\"%.1f\" y=\"%u\" class=\"%s\">%.*s</text>", x + 4, p->y + 42, shade, len, text);
}

/* A frame in the cell. */
static void put_mark(const struct picture *p, double x, double wide)
{
	double in = wide < 8 ? wide / 4 : wide < 20 ? 1 : 2;
	for (const char *class = "ks"; *class; class++)
		putf(p->out, "<rect class=\"%c\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\"/>", *class, x + in, p->y + 2, wide - 2 * in,
		     HIGH - 4);
}

static void put_bar(const struct picture *p, const struct ctp_mem_cell *c, double x, double wide)
{
	double reads = wide * (double)c->counts.accesses[0] / (double)ctp_mem_accesses(&c->counts);
	unsigned y = p->y + HIGH - (c->shared ? 8 : 5);
	putf(p->out, "<rect class=\"r\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"4\"/>", x, y, reads);
	putf(p->out, "<rect class=\"w\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"4\"/>", x + reads, y, wide - reads);
}

static void put_cell(const struct picture *p, const struct ctp_mem_cell *c, uint32_t type, unsigned note)
{
	double px = (double)INNER / p->line, x = LEFT + c->offset % p->line * px, wide = c->size * px;
	uint64_t all = ctp_mem_accesses(&c->counts);
	int step = step_of(p, c);
	putf(p->out, "<g><rect class=\"c ");
	putf(p->out, all ? "h%d" : c->kind == CTP_CELL_PADDING ? "p" : c->kind == CTP_CELL_GAP ? "g" : "h0", step);
	putf(p->out, "\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\"/>", x, p->y, wide, HIGH);
	if (c->shared)
		put_mark(p, x, wide);
	double in, room = room_of(p, c, &in);
	if (all)
		put_bar(p, c, x + in, room);
	put_title(p, c, type);
	if (all || c->name[0])
		put_words(p, c, x + in, room, step, note);
	putf(p->out, "</g>\n");
}

/* --- lines --------------------------------------------------------------------------------------------------------------- */

/* How many of the cells from the first on are in its line. */
static uint32_t cells_in_line(const struct picture *p, const struct ctp_mem_cell *cell, uint32_t left)
{
	uint32_t n = 0;
	while (n < left && cell[n].offset - cell->offset < p->line)
		n++;
	return n;
}

/* The notes of n cells of a line, from y on if they are drawn; how many rows they take. */
static unsigned notes(const struct picture *p, const struct ctp_mem_cell *cell, uint32_t n, bool drawn, unsigned y)
{
	unsigned number = 0, column = 0, rows = 0;
	char of[3][CTP_MEM_NUMBER_MAX], text[4 * CTP_MEM_NUMBER_MAX], before[CTP_MEM_NUMBER_MAX];
	for (uint32_t i = 0; i < n; i++) {
		const struct ctp_mem_counts *c = &cell[i].counts;
		if (!has_note(p, &cell[i]))
			continue;
		int len = snprintf(before, sizeof before, "%u ", ++number);
		len += snprintf(text, sizeof text, " %sr %sw", ctp_mem_brief(of[0], c->accesses[0]), ctp_mem_brief(of[1], c->accesses[1]));
		unsigned wide = columns_of(label_of(of[2], &cell[i])) + (unsigned)len;
		if (!rows || column + wide > NOTE_COLUMNS) {
			column = 0;
			rows++;
		}
		if (drawn) {
			putf(p->out, "<text x=\"%.1f\" y=\"%u\"><tspan class=\"f\">%s</tspan>", LEFT + column * LETTER / 10.0, y + rows * NOTE - 4, before);
			put_text(p->out, label_of(of[2], &cell[i]), 0);
			putf(p->out, "<tspan class=\"f\">%s</tspan></text>\n", text);
		}
		column += wide + 3;
	}
	return rows;
}

/* The cells from the first on that are in its line are drawn; how many they are. */
static uint32_t put_line(struct picture *p, uint32_t type, const struct ctp_mem_cell *cell, uint32_t left)
{
	const struct ctp_mem_type *t = &p->m->types.type[type];
	uint32_t n = cells_in_line(p, cell, left), from = cell->offset;
	unsigned note = 0;
	struct ctp_mem_counts c = ctp_mem_types_between(&p->m->types, type, from, from + p->line);
	char number[CTP_MEM_NUMBER_MAX];
	putf(p->out, "<text class=\"f\" x=\"%d\" y=\"%u\" text-anchor=\"end\">+%u</text>\n", LEFT - 6, p->y + 14, from);
	bool shared = false;
	for (uint32_t i = 0; i < n; i++) {
		put_cell(p, &cell[i], type, has_note(p, &cell[i]) ? ++note : 0);
		shared |= cell[i].shared != NULL;
	}
	if (shared)
		putf(p->out, "<text class=\"st\" x=\"%d\" y=\"%u\" text-anchor=\"end\">FALSE</text>"
		             "<text class=\"st\" x=\"%d\" y=\"%u\" text-anchor=\"end\">sharing</text>\n", LEFT - 6, p->y + 32, LEFT - 6, p->y + 46);
	uint64_t all = ctp_mem_cost(&t->counts, p->m->levels), cost = ctp_mem_cost(&c, p->m->levels);
	putf(p->out, "<text x=\"%d\" y=\"%u\">accesses %s</text>", LEFT + INNER + 8, p->y + 14,
	     ctp_mem_brief(number, ctp_mem_accesses(&c)));
	if (p->m->levels)
		putf(p->out, "<text x=\"%d\" y=\"%u\">L1 missed %s</text>", LEFT + INNER + 8, p->y + 28,
		     ctp_mem_brief(number, ctp_mem_misses(&c, 0)));
	putf(p->out, "<text class=\"f\" x=\"%d\" y=\"%u\">%.0f %% of the cost</text>\n", LEFT + INNER + 8, p->y + 42,
	     all ? 100.0 * (double)cost / (double)all : 0.0);
	p->y += HIGH + GAP;
	p->y += NOTE * notes(p, cell, n, true, p->y);
	return n;
}

/* Bytes of lines that are not drawn; there may be none. */
static void put_omission(struct picture *p, uint32_t type, uint64_t from, uint64_t upto)
{
	const struct ctp_mem_type *t = &p->m->types.type[type];
	if (from >= upto)
		return;
	uint64_t lines = (upto - from + p->line - 1) / p->line, all = ctp_mem_cost(&t->counts, p->m->levels);
	struct ctp_mem_counts c = ctp_mem_types_between(&p->m->types, type, (uint32_t)from, (uint32_t)upto);
	char n[CTP_MEM_NUMBER_MAX];
	putf(p->out, "<text class=\"f\" x=\"%d\" y=\"%u\" text-anchor=\"end\">\xe2\x8b\xae</text>", LEFT - 6, p->y + 13);
	putf(p->out, "<text class=\"f\" x=\"%d\" y=\"%u\">%s line%s left out, ", LEFT, p->y + 13, ctp_mem_number(n, lines),
	     lines == 1 ? "" : "s");
	if (ctp_mem_accesses(&c))
		putf(p->out, "%.0f %% of the cost</text>\n", 100.0 * (double)ctp_mem_cost(&c, p->m->levels) / (double)all);
	else
		putf(p->out, "without accesses</text>\n");
	p->y += OMISSION;
}

static void put_heading(const struct picture *p, uint32_t type)
{
	const struct ctp_mem_type *t = &p->m->types.type[type];
	const struct ctp_mem_lines *lines = p->lines[type];
	char number[2][CTP_MEM_NUMBER_MAX];
	putf(p->out, "<text class=\"t\" x=\"%d\" y=\"%u\">", LEFT, p->y + 20);
	put_type(p, type, 110);
	putf(p->out, "</text><text class=\"f\" x=\"%d\" y=\"%u\">%s each, %s region%s; ", LEFT, p->y + 38,
	     ctp_mem_bytes(number[0], t->element_size), ctp_mem_number(number[1], t->regions), t->regions == 1 ? "" : "s");
	put_accesses(p, t->counts.accesses);
	if (t->counts.atomics)
		putf(p->out, ", %s atomic", ctp_mem_number(number[0], t->counts.atomics));
	if (lines->n < lines->all)
		putf(p->out, "; drawn: the dearest %u of %s lines, %s left out", lines->n, ctp_mem_number(number[0], lines->all),
		     ctp_mem_number(number[1], lines->all - lines->n));
	putf(p->out, "</text>\n");
}

static void put_structure(struct picture *p, uint32_t type)
{
	uint32_t n = 0;
	uint64_t next = 0; /* what is before is drawn, or left out */
	struct ctp_mem_cell *cell = ctp_mem_cells(p->m, p->l, type, p->lines[type], &n);
	p->dearest = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t cost = ctp_mem_cost(&cell[i].counts, p->m->levels);
		p->dearest = cost > p->dearest ? cost : p->dearest;
	}
	put_heading(p, type);
	p->y += HEAD;
	for (uint32_t at = 0; at < n; next += p->line) {
		put_omission(p, type, next, cell[at].offset);
		next = cell[at].offset;
		at += put_line(p, type, cell + at, n - at);
	}
	put_omission(p, type, next, p->m->types.type[type].element_size);
	p->y += FOOT;
	free(cell);
}

/* --- the picture --------------------------------------------------------------------------------------------------------- */

static void put_swatch(const struct picture *p, const char *class, const char *text, int x, int high)
{
	putf(p->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"24\" height=\"%d\"/>", class, x, 43 - high / 2, high);
	putf(p->out, "<text x=\"%d\" y=\"47\">%s</text>", x + 30, text);
}

static void put_legend(const struct picture *p, uint32_t nshared)
{
	int x = LEFT;
	putf(p->out, "<text x=\"%d\" y=\"22\">a row is a line of %u bytes, as if the structure began at one; a cell is a member%s</text>\n",
	     x, p->line, nshared ? "; in a frame: one that is written in a falsely shared line" : "");
	for (int i = 0; i < STEPS; i++)
		putf(p->out, "<rect class=\"h%d\" x=\"%d\" y=\"36\" width=\"24\" height=\"14\"/>", i, x + 24 * i);
	x += 24 * STEPS + 8;
	putf(p->out, "<text x=\"%d\" y=\"47\">cost, little to much</text>", x);
	put_swatch(p, "p", "padding", x + 150, 14);
	put_swatch(p, "r", "reads", x + 250, 4);
	put_swatch(p, "w", "writes", x + 330, 4);
	if (p->m->levels)
		putf(p->out, "<text class=\"f\" x=\"%d\" y=\"47\">misses: of L1/of the last level</text>", x + 420);
	if (nshared)
		put_swatch(p, "s", "false sharing", x + 660, 12);
	putf(p->out, "\n");
}

static void put_warning(const struct picture *p)
{
	uint64_t lost = ctp_mem_lost(p->m);
	char n[CTP_MEM_NUMBER_MAX];
	putf(p->out, "<text class=\"x\" x=\"%d\" y=\"%d\">the counts are incomplete: ", LEFT, TOP);
	if (lost)
		putf(p->out, "%s record%s missing, and what comes after may be in wrong regions</text>\n", ctp_mem_number(n, lost),
		     lost == 1 ? " is" : "s are");
	else
		putf(p->out, "the input is damaged or cut short</text>\n");
}

/* Whether something that is written in a line has a cell. */
static bool is_visible(const struct picture *p, const struct ctp_shared_line *l)
{
	for (uint32_t i = 0; i < l->nplaces; i++) {
		const struct ctp_sharing_place *at = &l->place[i];
		if (at->accesses[1] && p->lines[at->type] && ctp_mem_lines_have(p->lines[at->type], at->offset))
			return true;
	}
	return false;
}

static void note_shared(struct picture *p)
{
	const struct ctp_sharing *s = &p->m->sharing;
	for (uint32_t i = 0; i < s->nshared; i++)
		for (uint32_t k = 0; ctp_sharing_is_false(s->shared[i]) && k < s->shared[i]->nplaces; k++)
			if (s->shared[i]->place[k].accesses[1])
				p->shared[s->shared[i]->place[k].type] = true;
}

/* What is drawn: a type that is asked for; or those that are dear and have members, and as many that are falsely shared. */
static bool choose(struct picture *p, const struct ctp_mem_style *style)
{
	const struct ctp_mem *m = p->m;
	uint32_t limit = style->top ? style->top : TYPES, dear = 0, shared = 0;
	for (uint32_t i = 0; i < m->ntypes; i++) {
		uint32_t type = m->by_cost[i];
		const struct ctp_mem_type *t = &m->types.type[type];
		bool wanted = style->svg_type && t->nmembers && ctp_mem_is_named(t, style->svg_type);
		bool drawn = style->svg_type ? wanted : ctp_mem_members_are_parts(&m->types, type) && dear++ < limit;
		drawn = drawn || (!style->svg_type && t->nmembers && p->shared[type] && shared++ < limit);
		if (drawn && !(p->lines[type] = malloc(sizeof *p->lines[type])))
			return false;
		if (drawn)
			ctp_mem_lines_choose(p->lines[type], m, type);
	}
	return true;
}

static unsigned height_of(const struct picture *p, uint32_t type)
{
	uint32_t n = 0;
	uint64_t next = 0;
	struct ctp_mem_cell *cell = ctp_mem_cells(p->m, p->l, type, p->lines[type], &n);
	unsigned high = HEAD + FOOT;
	for (uint32_t at = 0, here; at < n; at += here) {
		high += next < cell[at].offset ? OMISSION : 0;
		next = (uint64_t)cell[at].offset + p->line;
		here = cells_in_line(p, cell + at, n - at);
		high += HIGH + GAP + NOTE * notes(p, cell + at, here, false, 0);
	}
	free(cell);
	return high + (next < p->m->types.type[type].element_size ? OMISSION : 0);
}

static unsigned height(const struct picture *p, uint32_t hidden)
{
	unsigned high = p->top;
	for (uint32_t i = 0; i < p->m->ntypes; i++)
		if (p->lines[p->m->by_cost[i]])
			high += height_of(p, p->m->by_cost[i]);
	return high + (high == p->top ? FOOT : 0) + (hidden ? FOOT : 0);
}

static void put_picture(struct picture *p, uint32_t nshared, uint32_t hidden)
{
	struct ctp_output *out = p->out;
	unsigned wide = LEFT + INNER + RIGHT, high = height(p, hidden);
	putf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\">\n<style>", wide, high,
	     wide, high);
	ctp_output_put(out, style_text, sizeof style_text - 1);
	putf(out, "</style>\n<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
	          "patternTransform=\"rotate(45)\"><rect class=\"hb\" width=\"6\" height=\"6\"/>"
	          "<line class=\"hl\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs>\n");
	put_legend(p, nshared);
	if (!ctp_mem_is_complete(p->m))
		put_warning(p);
	for (uint32_t i = 0; i < p->m->ntypes; i++)
		if (p->lines[p->m->by_cost[i]])
			put_structure(p, p->m->by_cost[i]);
	if (p->y == p->top) {
		putf(out, "<text x=\"%d\" y=\"%u\">no type has accesses here</text>\n", LEFT, p->y + 10);
		p->y += FOOT;
	}
	if (hidden)
		putf(out, "<text class=\"st\" x=\"%d\" y=\"%u\">%u falsely shared line%s not in what is drawn</text>\n", LEFT, p->y + 10, hidden,
		     hidden == 1 ? " is" : "s are");
	putf(out, "</svg>\n");
}

bool ctp_mem_svg(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l,
                 const struct ctp_mem_style *style)
{
	struct picture p = {.out = out, .m = m, .l = l, .line = m->sharing.line};
	uint32_t nshared = 0, hidden = 0;
	p.shared = calloc(m->types.ntypes, sizeof *p.shared);
	p.lines = calloc(m->types.ntypes, sizeof *p.lines);
	p.y = p.top = TOP + (ctp_mem_is_complete(m) ? 0 : WARNING);
	if (p.shared)
		note_shared(&p);
	bool done = p.shared && p.lines && choose(&p, style);
	for (uint32_t i = 0; done && i < m->sharing.nshared; i++) {
		nshared += ctp_sharing_is_false(m->sharing.shared[i]);
		hidden += ctp_sharing_is_false(m->sharing.shared[i]) && !is_visible(&p, m->sharing.shared[i]);
	}
	if (done)
		put_picture(&p, nshared, hidden);
	for (uint32_t i = 0; p.lines && i < m->types.ntypes; i++)
		free(p.lines[i]);
	free(p.lines);
	free(p.shared);
	return done;
}
