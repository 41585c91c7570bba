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

#define putf ctp_output_putf

enum {
	TYPES = 8, LINES = 32, /* types that are drawn; lines of one */
	LEFT = 64, RIGHT = 200, INNER = 896, HIGH = 54, GAP = 4, /* of rows, in pixels */
	HEAD = 52, FOOT = 22, TOP = 74,
	LETTER = 67, /* tenths of a pixel */
	STEPS = 8,
};

static const char style_text[] =
	"svg{font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;background:#fff;color:#1c2128}"
	"text{fill:#1c2128}.t{font-weight:700;font-size:14px}.f{fill:#68717d}"
	".c{stroke:#fff;stroke-width:1}.g{fill:#f2f3f5}.p{fill:url(#hatch)}.hl{stroke:#b4bac3}.hb{fill:#f2f3f5}"
	".h0{fill:#eef0f3}.h1{fill:#fdf1d6}.h2{fill:#fde0a9}.h3{fill:#fbc46b}.h4{fill:#f59b3f}"
	".h5{fill:#e06f22}.h6{fill:#b8430f}.h7{fill:#7a2306}"
	".b{fill:#1c2128}.d{fill:#fff}.r{fill:#0b62b8}.w{fill:#a8277f}"
	"@media(prefers-color-scheme:dark){svg{background:#14171b;color:#dde2e8}text{fill:#dde2e8}.f{fill:#8d97a4}"
	".c{stroke:#14171b}.g{fill:#1b1f25}.hl{stroke:#4a525d}.hb{fill:#1b1f25}"
	".h0{fill:#262c33}.h1{fill:#3b2a12}.h2{fill:#573a10}.h3{fill:#7d5010}.h4{fill:#a96613}"
	".h5{fill:#d6832a}.h6{fill:#f3ab5a}.h7{fill:#ffd9a3}"
	".b,.d{fill:#14171b}.r{fill:#5aaef5}.w{fill:#ec87c8}}";

struct picture {
	struct ctp_output *out;
	const struct ctp_mem *m;
	const struct ctp_mem_layouts *l;
	uint32_t line; /* bytes of a row */
	unsigned y;
	uint64_t dearest; /* cost of a cell of the type at hand */
};

/* A text, safe to show and in XML, cut to so many columns; 0: as it is. */
static void put_text(struct ctp_output *out, const char *text, unsigned columns)
{
	char c[CTP_VISIBLE_MAX];
	unsigned wide, used = 0;
	for (unsigned n; (n = ctp_visible_char(c, &text, &wide));) {
		used += wide;
		if (columns && used > columns)
			return;
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

static void put_title(const struct picture *p, const struct ctp_mem_cell *c)
{
	const struct ctp_mem *m = p->m;
	char n[2][CTP_MEM_NUMBER_MAX];
	putf(p->out, "<title>");
	put_text(p->out, c->kind == CTP_CELL_PADDING ? "padding" : c->kind == CTP_CELL_GAP ? "no access" : c->name, 0);
	putf(p->out, "%soffset %u, %s", c->kind == CTP_CELL_MEMBER && !c->name[0] ? "" : ", ", c->offset, ctp_mem_bytes(n[0], c->size));
	putf(p->out, "\n%s reads, %s writes", ctp_mem_number(n[0], c->counts.accesses[0]), ctp_mem_number(n[1], c->counts.accesses[1]));
	for (unsigned i = 0; i < m->levels; i++)
		putf(p->out, "\nL%u missed: %s reads, %s writes", i + 1, ctp_mem_number(n[0], c->counts.misses[i][0]),
		     ctp_mem_number(n[1], c->counts.misses[i][1]));
	putf(p->out, "</title>");
}

/* What fits: the name, or else the offset; reads and writes; misses of the first and the last level. */
static void put_words(const struct picture *p, const struct ctp_mem_cell *c, double x, double wide, int step)
{
	const struct ctp_mem *m = p->m;
	unsigned columns = wide > 8 ? (unsigned)((wide - 5) * 10 / LETTER) : 0;
	const char *shade = step == 5 ? " class=\"b\"" : step > 5 ? " class=\"d\"" : step ? "" : " class=\"f\"";
	char n[2][CTP_MEM_NUMBER_MAX], text[3 * CTP_MEM_NUMBER_MAX];
	if (columns < 2)
		return;
	putf(p->out, "<text x=\"%.1f\" y=\"%u\"%s>", x + 4, p->y + 14, shade);
	snprintf(text, sizeof text, "+%u", c->offset);
	put_text(p->out, c->name[0] ? c->name : text, columns);
	putf(p->out, "</text>");
	if (!step)
		return;
	int len = snprintf(text, sizeof text, "%sr %sw", ctp_mem_brief(n[0], c->counts.accesses[0]),
	                   ctp_mem_brief(n[1], c->counts.accesses[1]));
	if ((unsigned)len <= columns)
		putf(p->out, "<text x=\"%.1f\" y=\"%u\"%s>%s</text>", x + 4, p->y + 28, shade, text);
	if (!m->levels)
		return;
	len = snprintf(text, sizeof text, "%s/%s miss", ctp_mem_brief(n[0], ctp_mem_misses(&c->counts, 0)),
	               ctp_mem_brief(n[1], ctp_mem_misses(&c->counts, m->levels - 1)));
	if ((unsigned)len > columns)
		len -= 5;
	if ((unsigned)len <= columns)
		putf(p->out, "<text x=\"%.1f\" y=\"%u\"%s>%.*s</text>", x + 4, p->y + 42, shade, len, text);
}

static void put_cell(const struct picture *p, const struct ctp_mem_cell *c)
{
	double px = (double)INNER / p->line, x = LEFT + c->offset % p->line * px, wide = c->size * px;
	uint64_t all = ctp_mem_accesses(&c->counts);
	int step = step_of(p, c);
	putf(p->out, "<g><rect class=\"c ");
	putf(p->out, all ? "h%d" : c->kind == CTP_CELL_PADDING ? "p" : c->kind == CTP_CELL_GAP ? "g" : "h0", step);
	putf(p->out, "\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\"/>", x, p->y, wide, HIGH);
	if (all) {
		double reads = wide * (double)c->counts.accesses[0] / (double)all;
		putf(p->out, "<rect class=\"r\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"4\"/>", x, p->y + HIGH - 5, reads);
		putf(p->out, "<rect class=\"w\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"4\"/>", x + reads, p->y + HIGH - 5, wide - reads);
	}
	put_title(p, c);
	if (all || c->name[0])
		put_words(p, c, x, wide, step);
	putf(p->out, "</g>\n");
}

/* --- lines --------------------------------------------------------------------------------------------------------------- */

/* The cells from the first on that are in its line are drawn; how many they are. */
static uint32_t put_line(struct picture *p, uint32_t type, const struct ctp_mem_cell *cell, uint32_t left)
{
	const struct ctp_mem_type *t = &p->m->types.type[type];
	uint32_t n = 0, from = cell->offset;
	struct ctp_mem_counts c = ctp_mem_types_between(&p->m->types, type, from, from + p->line);
	char number[CTP_MEM_NUMBER_MAX];
	putf(p->out, "<text class=\"f\" x=\"%d\" y=\"%u\" text-anchor=\"end\">+%u</text>\n", LEFT - 6, p->y + 14, from);
	for (; n < left && cell[n].offset - from < p->line; n++)
		put_cell(p, &cell[n]);
	uint64_t all = ctp_mem_cost(&t->counts, p->m->levels), cost = ctp_mem_cost(&c, p->m->levels);
	putf(p->out, "<text x=\"%d\" y=\"%u\">accesses %s</text>", LEFT + INNER + 8, p->y + 14,
	     ctp_mem_brief(number, ctp_mem_accesses(&c)));
	if (p->m->levels)
		putf(p->out, "<text x=\"%d\" y=\"%u\">L1 missed %s</text>", LEFT + INNER + 8, p->y + 28,
		     ctp_mem_brief(number, ctp_mem_misses(&c, 0)));
	putf(p->out, "<text class=\"f\" x=\"%d\" y=\"%u\">%.0f %% of the cost</text>\n", LEFT + INNER + 8, p->y + 42,
	     all ? 100.0 * (double)cost / (double)all : 0.0);
	p->y += HIGH + GAP;
	return n;
}

static uint32_t bytes_drawn(const struct picture *p, const struct ctp_mem_type *t)
{
	return t->element_size < LINES * p->line ? t->element_size : LINES * p->line;
}

static void put_structure(struct picture *p, uint32_t type)
{
	const struct ctp_mem_type *t = &p->m->types.type[type];
	uint32_t n = 0, bytes = bytes_drawn(p, t);
	struct ctp_mem_cell *cell = ctp_mem_cells(p->m, p->l, type, bytes, &n);
	char number[2][CTP_MEM_NUMBER_MAX];
	p->dearest = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t cost = ctp_mem_cost(&cell[i].counts, p->m->levels);
		p->dearest = cost > p->dearest ? cost : p->dearest;
	}
	putf(p->out, "<text class=\"t\" x=\"%d\" y=\"%u\">", LEFT, p->y + 20);
	put_type(p, type, 110);
	putf(p->out, "</text><text class=\"f\" x=\"%d\" y=\"%u\">%s each, %s region%s; ", LEFT, p->y + 38,
	     ctp_mem_bytes(number[0], t->element_size), ctp_mem_number(number[1], t->regions), t->regions == 1 ? "" : "s");
	putf(p->out, "%s reads, %s writes", ctp_mem_number(number[0], t->counts.accesses[0]),
	     ctp_mem_number(number[1], t->counts.accesses[1]));
	if (t->counts.atomics)
		putf(p->out, ", %s atomic", ctp_mem_number(number[0], t->counts.atomics));
	if (bytes < t->element_size)
		putf(p->out, "; the first %s are drawn", ctp_mem_bytes(number[0], bytes));
	putf(p->out, "</text>\n");
	p->y += HEAD;
	for (uint32_t at = 0; at < n;)
		at += put_line(p, type, cell + at, n - at);
	p->y += FOOT;
	free(cell);
}

/* --- the picture --------------------------------------------------------------------------------------------------------- */

static void put_swatch(const struct picture *p, const char *class, const char *text, int x, int high)
{
	putf(p->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"24\" height=\"%d\"/>", class, x, 43 - high / 2, high);
	putf(p->out, "<text x=\"%d\" y=\"47\">%s</text>", x + 30, text);
}

static void put_legend(const struct picture *p)
{
	int x = LEFT;
	putf(p->out, "<text x=\"%d\" y=\"22\">a row is a line of %u bytes, as if the structure began at one; a cell is a member</text>\n",
	     x, p->line);
	for (int i = 0; i < STEPS; i++)
		putf(p->out, "<rect class=\"h%d\" x=\"%d\" y=\"36\" width=\"24\" height=\"14\"/>", i, x + 24 * i);
	x += 24 * STEPS + 8;
	putf(p->out, "<text x=\"%d\" y=\"47\">cost, little to much</text>", x);
	put_swatch(p, "p", "padding", x + 150, 14);
	put_swatch(p, "r", "reads", x + 250, 4);
	put_swatch(p, "w", "writes", x + 330, 4);
	if (p->m->levels)
		putf(p->out, "<text class=\"f\" x=\"%d\" y=\"47\">misses: of L1/of the last level</text>", x + 420);
	putf(p->out, "\n");
}

/* Whether a type is drawn: one that is asked for, or is dear and has members. */
static bool is_drawn(const struct ctp_mem *m, const struct ctp_mem_style *style, uint32_t type, uint32_t drawn)
{
	const struct ctp_mem_type *t = &m->types.type[type];
	if (style->svg_type)
		return t->nmembers && !strcmp(t->name, style->svg_type);
	return ctp_mem_members_are_parts(&m->types, type) && drawn < (style->top ? style->top : TYPES);
}

static unsigned height(const struct picture *p, const struct ctp_mem_style *style)
{
	unsigned high = TOP;
	uint32_t drawn = 0;
	for (uint32_t i = 0; i < p->m->ntypes; i++)
		if (is_drawn(p->m, style, p->m->by_cost[i], drawn)) {
			uint32_t bytes = bytes_drawn(p, &p->m->types.type[p->m->by_cost[i]]);
			high += HEAD + FOOT + (bytes + p->line - 1) / p->line * (HIGH + GAP);
			drawn++;
		}
	return high + (drawn ? 0 : FOOT);
}

void ctp_mem_svg(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l,
                 const struct ctp_mem_style *style)
{
	struct picture p = {.out = out, .m = m, .l = l, .line = m->sharing.line, .y = TOP};
	unsigned wide = LEFT + INNER + RIGHT, high = height(&p, style);
	uint32_t drawn = 0;
	putf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\">\n<style>", wide, high,
	     wide, high);
	ctp_output_put(out, style_text, sizeof style_text - 1);
	putf(out, "</style>\n<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
	          "patternTransform=\"rotate(45)\"><rect class=\"hb\" width=\"6\" height=\"6\"/>"
	          "<line class=\"hl\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs>\n");
	put_legend(&p);
	for (uint32_t i = 0; i < m->ntypes; i++)
		if (is_drawn(m, style, m->by_cost[i], drawn)) {
			put_structure(&p, m->by_cost[i]);
			drawn++;
		}
	if (!drawn)
		putf(out, "<text x=\"%d\" y=\"%d\">no type has accesses here</text>\n", LEFT, TOP + 10);
	putf(out, "</svg>\n");
}
