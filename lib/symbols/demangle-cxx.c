/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * demangle-cxx.c - names of C++ functions, as the Itanium ABI mangles them.
 *
 * Only the path of the function is shown, so types and expressions are read for no more than where they end, and nothing that
 * they refer back to is needed: a name is gone through once, whatever it says.
 */
#include "symbols/demangle.h"

#include <stdint.h>
#include <string.h>

static bool skip_type(struct ctp_demangle *d);
static bool skip_expression(struct ctp_demangle *d);
static bool take_name(struct ctp_demangle *d);
static bool take_encoding(struct ctp_demangle *d);

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/* One character of these, if it comes next; else 0. */
static char take_one(struct ctp_demangle *d, const char *of)
{
	char c = ctp_demangle_peek(d);
	if (!c || !strchr(of, c))
		return '\0';
	d->p++;
	return c;
}

/* Parts up to what closes them. */
static bool skip_until(struct ctp_demangle *d, const char *end, bool (*skip)(struct ctp_demangle *))
{
	while (!ctp_demangle_take(d, end))
		if (d->failed || !skip(d))
			return ctp_demangle_fail(d);
	return true;
}

/* Digits, or none, up to a '_': which of several. -1: failed. */
static long take_index(struct ctp_demangle *d)
{
	size_t n = 0;
	bool some = is_digit(ctp_demangle_peek(d)) && ctp_demangle_number(d, &n);
	if (!ctp_demangle_take(d, "_"))
		return ctp_demangle_fail(d), -1;
	return some ? (long)n + 1 : 0;
}

/* --- names --------------------------------------------------------------------------------------------------------------- */

static bool take_source_name(struct ctp_demangle *d)
{
	size_t len;
	static const char anonymous[] = "_GLOBAL__N_";
	if (!ctp_demangle_number(d, &len) || !len || len > (size_t)(d->end - d->p))
		return ctp_demangle_fail(d);
	if (len >= sizeof anonymous && !memcmp(d->p, anonymous, sizeof anonymous - 1))
		ctp_demangle_puts(d, "(anonymous namespace)");
	else
		ctp_demangle_put(d, d->p, len);
	d->p += len;
	return true;
}

static const struct operator {
	char code[3], text[10];
	unsigned operands; /* in an expression */
} operators[] = {
	{"nw", " new", 0}, {"na", " new[]", 0}, {"dl", " delete", 1}, {"da", " delete[]", 1}, {"aw", " co_await", 1},
	{"ps", "+", 1}, {"ng", "-", 1}, {"ad", "&", 1}, {"de", "*", 1}, {"co", "~", 1}, {"nt", "!", 1}, {"pp", "++", 1},
	{"mm", "--", 1}, {"pl", "+", 2}, {"mi", "-", 2}, {"ml", "*", 2}, {"dv", "/", 2}, {"rm", "%", 2}, {"an", "&", 2},
	{"or", "|", 2}, {"eo", "^", 2}, {"aS", "=", 2}, {"pL", "+=", 2}, {"mI", "-=", 2}, {"mL", "*=", 2}, {"dV", "/=", 2},
	{"rM", "%=", 2}, {"aN", "&=", 2}, {"oR", "|=", 2}, {"eO", "^=", 2}, {"ls", "<<", 2}, {"rs", ">>", 2}, {"lS", "<<=", 2},
	{"rS", ">>=", 2}, {"eq", "==", 2}, {"ne", "!=", 2}, {"lt", "<", 2}, {"gt", ">", 2}, {"le", "<=", 2}, {"ge", ">=", 2},
	{"ss", "<=>", 2}, {"aa", "&&", 2}, {"oo", "||", 2}, {"cm", ",", 2}, {"pm", "->*", 2}, {"pt", "->", 2}, {"cl", "()", 0},
	{"ix", "[]", 2}, {"qu", "?", 3},
};

static const struct operator *find_operator(struct ctp_demangle *d)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (ctp_demangle_take(d, operators[i].code))
			return &operators[i];
	return NULL;
}

static bool take_operator(struct ctp_demangle *d)
{
	if (ctp_demangle_take(d, "cv")) {
		ctp_demangle_puts(d, "operator cast");
		return skip_type(d);
	}
	if (ctp_demangle_take(d, "li")) {
		ctp_demangle_puts(d, "operator\"\"");
		return take_source_name(d);
	}
	const struct operator *op = find_operator(d);
	if (!op)
		return ctp_demangle_fail(d);
	ctp_demangle_puts(d, "operator");
	ctp_demangle_puts(d, op->text);
	return true;
}

/* Constructors and destructors are called as their class, which is what was shown last. */
static void put_class(struct ctp_demangle *d, const char *before, size_t shown)
{
	size_t from = shown;
	while (from && !(from >= 2 && d->to[from - 1] == ':' && d->to[from - 2] == ':'))
		from--;
	ctp_demangle_puts(d, before);
	ctp_demangle_put(d, d->to + from, shown - from);
}

static bool take_structor(struct ctp_demangle *d, size_t shown)
{
	bool constructs = *d->p++ == 'C';
	bool inherited = constructs && ctp_demangle_take(d, "I");
	if (!take_one(d, "012345"))
		return ctp_demangle_fail(d);
	put_class(d, constructs ? "" : "~", shown);
	return !inherited || skip_type(d);
}

/* A type without a name, or a lambda: which of those in its function. */
static bool take_unnamed(struct ctp_demangle *d)
{
	bool lambda = ctp_demangle_take(d, "Ul");
	if (lambda ? !skip_until(d, "E", skip_type) : !ctp_demangle_take(d, "Ut"))
		return ctp_demangle_fail(d);
	long n = take_index(d);
	ctp_demangle_puts(d, lambda ? "{lambda#" : "{unnamed#");
	ctp_demangle_put_number(d, (uint64_t)n + 1);
	ctp_demangle_puts(d, "}");
	return n >= 0;
}

static bool is_unnamed(const struct ctp_demangle *d)
{
	return d->end - d->p > 1 && d->p[0] == 'U' && (d->p[1] == 'l' || d->p[1] == 't');
}

/* One part of a path. */
static bool take_unqualified(struct ctp_demangle *d)
{
	size_t shown = d->len;
	ctp_demangle_take(d, "L"); /* of one file only */
	char c = ctp_demangle_peek(d);
	ctp_demangle_join(d);
	bool ok = is_digit(c)            ? take_source_name(d) :
	          is_unnamed(d)          ? take_unnamed(d) :
	          c == 'C' || c == 'D'   ? take_structor(d, shown) :
	          is_lower(c)            ? take_operator(d) : ctp_demangle_fail(d);
	while (ok && ctp_demangle_take(d, "B")) /* which version of an ABI */
		ok = ctp_demangle_quietly(d, take_source_name);
	return ok;
}

/* --- paths --------------------------------------------------------------------------------------------------------------- */

static bool skip_argument(struct ctp_demangle *d);

static bool skip_arguments(struct ctp_demangle *d)
{
	return ctp_demangle_take(d, "I") && skip_until(d, "E", skip_argument);
}

/* What came before, by its number: enough where it is not shown. Some of std have a letter. */
static bool take_substitution(struct ctp_demangle *d)
{
	static const char *const letters[26] = {
		['t' - 'a'] = "std", ['a' - 'a'] = "std::allocator", ['b' - 'a'] = "std::basic_string",
		['s' - 'a'] = "std::string", ['i' - 'a'] = "std::istream", ['o' - 'a'] = "std::ostream",
		['d' - 'a'] = "std::iostream",
	};
	if (!ctp_demangle_take(d, "S"))
		return ctp_demangle_fail(d);
	char c = ctp_demangle_peek(d);
	if (is_lower(c) && letters[c - 'a']) {
		d->p++;
		ctp_demangle_puts(d, letters[c - 'a']);
		return true;
	}
	while (take_one(d, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		;
	return (ctp_demangle_take(d, "_") && d->quiet) || ctp_demangle_fail(d);
}

static bool skip_parameter(struct ctp_demangle *d)
{
	if (!ctp_demangle_take(d, "T"))
		return ctp_demangle_fail(d);
	if (ctp_demangle_take(d, "L"))
		take_index(d);
	return take_index(d) >= 0;
}

static bool take_prefix(struct ctp_demangle *d)
{
	char c = ctp_demangle_peek(d), next = d->end - d->p > 1 ? d->p[1] : '\0';
	if (c == 'S')
		return take_substitution(d);
	if (c == 'I')
		return ctp_demangle_quietly(d, skip_arguments);
	if (c == 'T' || (c == 'D' && (next == 't' || next == 'T'))) /* a type that only the compiler knew */
		return d->quiet ? skip_type(d) : ctp_demangle_fail(d);
	if (ctp_demangle_take(d, "M")) /* a lambda of the member before */
		return true;
	return take_unqualified(d);
}

static bool take_nested(struct ctp_demangle *d)
{
	while (take_one(d, "rVK"))
		;
	take_one(d, "RO");
	return skip_until(d, "E", take_prefix);
}

/* Something within a function. */
static bool take_local(struct ctp_demangle *d)
{
	if (!take_encoding(d) || !ctp_demangle_take(d, "E"))
		return ctp_demangle_fail(d);
	if (ctp_demangle_take(d, "s"))
		return true;
	if (ctp_demangle_take(d, "d") && take_index(d) < 0)
		return false;
	if (!take_name(d))
		return false;
	if (ctp_demangle_take(d, "__"))
		return take_index(d) >= 0;
	if (ctp_demangle_peek(d) == '_' && d->end - d->p > 1 && is_digit(d->p[1]))
		d->p += 2;
	return true;
}

static bool take_some_name(struct ctp_demangle *d)
{
	bool std = d->end - d->p > 1 && d->p[0] == 'S' && d->p[1] == 't';
	if (ctp_demangle_take(d, "N"))
		return take_nested(d);
	if (ctp_demangle_take(d, "Z"))
		return take_local(d);
	if (ctp_demangle_peek(d) == 'S' ? !take_substitution(d) || (std && !take_unqualified(d)) : !take_unqualified(d))
		return false;
	return ctp_demangle_peek(d) != 'I' || ctp_demangle_quietly(d, skip_arguments);
}

static bool take_name(struct ctp_demangle *d) { return ctp_demangle_part(d, take_some_name); }

/* A function with what it takes. */
static bool take_encoding(struct ctp_demangle *d)
{
	if (!take_name(d))
		return false;
	while (ctp_demangle_peek(d) && ctp_demangle_peek(d) != 'E')
		if (!skip_type(d))
			return false;
	return true;
}

/* --- types --------------------------------------------------------------------------------------------------------------- */

static bool skip_expression_up_to(struct ctp_demangle *d, const char *end)
{
	return skip_expression(d) && (ctp_demangle_take(d, end) || ctp_demangle_fail(d));
}

/* Types that begin with a D. */
static bool skip_d_type(struct ctp_demangle *d)
{
	char c = take_one(d, "defhisuacnpotTOwxFvB");
	switch (c) {
	case 't':
	case 'T': /* decltype */
		return skip_expression_up_to(d, "E");
	case 'p': /* a pack */
		return skip_type(d);
	case 'O': /* of a function that follows: what it throws */
		return skip_expression_up_to(d, "E") && skip_type(d);
	case 'w':
		return skip_until(d, "E", skip_type) && skip_type(d);
	case 'o':
	case 'x':
		return skip_type(d);
	case 'F':
	case 'B':
		return take_index(d) >= 0;
	case 'v':
		return (ctp_demangle_take(d, "_") ? skip_expression_up_to(d, "_") : take_index(d) >= 0) && skip_type(d);
	default:
		return c || ctp_demangle_fail(d);
	}
}

static bool skip_array(struct ctp_demangle *d)
{
	char c = ctp_demangle_peek(d);
	return (is_digit(c) || c == '_' ? take_index(d) >= 0 : skip_expression_up_to(d, "_")) && skip_type(d);
}

static bool skip_function(struct ctp_demangle *d)
{
	ctp_demangle_take(d, "Y");
	while (!ctp_demangle_take(d, "E") && !ctp_demangle_take(d, "RE") && !ctp_demangle_take(d, "OE"))
		if (!skip_type(d))
			return false;
	return true;
}

/* Begins with a T: a parameter of a template, or `struct` and the like before a name. */
static bool skip_t_type(struct ctp_demangle *d)
{
	if (ctp_demangle_take(d, "Ts") || ctp_demangle_take(d, "Tu") || ctp_demangle_take(d, "Te"))
		return take_name(d);
	return skip_parameter(d) && (ctp_demangle_peek(d) != 'I' || skip_arguments(d));
}

static bool skip_vendor_type(struct ctp_demangle *d, bool qualifies)
{
	return take_source_name(d) && (ctp_demangle_peek(d) != 'I' || skip_arguments(d)) && (!qualifies || skip_type(d));
}

static bool skip_some_type(struct ctp_demangle *d)
{
	while (take_one(d, "rVKPROCG"))
		;
	if (is_unnamed(d))
		return take_unnamed(d);
	if (take_one(d, "vwbcahstijlmxynofdegz"))
		return true;
	if (ctp_demangle_peek(d) == 'T')
		return skip_t_type(d);
	switch (take_one(d, "DFAMuU")) {
	case 'D':
		return skip_d_type(d);
	case 'F':
		return skip_function(d);
	case 'A':
		return skip_array(d);
	case 'M':
		return skip_type(d) && skip_type(d);
	case 'u':
		return skip_vendor_type(d, false);
	case 'U':
		return skip_vendor_type(d, true);
	default:
		return take_name(d);
	}
}

static bool take_type(struct ctp_demangle *d) { return ctp_demangle_part(d, skip_some_type); }
static bool skip_type(struct ctp_demangle *d) { return ctp_demangle_quietly(d, take_type); }

/* --- expressions --------------------------------------------------------------------------------------------------------- */

/* A constant: of a type, with its value; or a function. */
static bool skip_literal(struct ctp_demangle *d)
{
	if (ctp_demangle_take(d, "_Z") || ctp_demangle_take(d, "Z"))
		return take_encoding(d) && (ctp_demangle_take(d, "E") || ctp_demangle_fail(d));
	if (!skip_type(d))
		return false;
	while (take_one(d, "0123456789abcdefn_"))
		;
	return ctp_demangle_take(d, "E") || ctp_demangle_fail(d);
}

static bool skip_argument(struct ctp_demangle *d)
{
	if (ctp_demangle_take(d, "X"))
		return skip_expression_up_to(d, "E");
	if (ctp_demangle_take(d, "L"))
		return skip_literal(d);
	return ctp_demangle_take(d, "J") ? skip_until(d, "E", skip_argument) : skip_type(d);
}

/* The last part of a name that depends on a parameter. */
static bool skip_base_name(struct ctp_demangle *d)
{
	bool ok = ctp_demangle_take(d, "dn") ? is_digit(ctp_demangle_peek(d)) ? take_source_name(d) : skip_type(d) :
	          ctp_demangle_take(d, "on") ? take_operator(d) : take_unqualified(d);
	return ok && (ctp_demangle_peek(d) != 'I' || skip_arguments(d));
}

/* A parameter of the function: fp_, fp0_, fL0p_ ... */
static bool skip_function_parameter(struct ctp_demangle *d)
{
	size_t level;
	bool outer = ctp_demangle_take(d, "fL") && ctp_demangle_number(d, &level);
	if (!ctp_demangle_take(d, outer ? "p" : "fp"))
		return ctp_demangle_fail(d);
	if (ctp_demangle_take(d, "T")) /* this */
		return true;
	while (take_one(d, "rVK"))
		;
	return take_index(d) >= 0;
}

static bool skip_fold(struct ctp_demangle *d)
{
	bool both = d->p[1] == 'L' || d->p[1] == 'R';
	d->p += 2;
	return find_operator(d) && skip_expression(d) && (!both || skip_expression(d));
}

static bool skip_conversion(struct ctp_demangle *d)
{
	return skip_type(d) && (ctp_demangle_take(d, "_") ? skip_until(d, "E", skip_expression) : skip_expression(d));
}

static bool skip_new(struct ctp_demangle *d)
{
	if (!skip_until(d, "_", skip_expression) || !skip_type(d))
		return false;
	return ctp_demangle_take(d, "E") || (ctp_demangle_take(d, "pi") && skip_until(d, "E", skip_expression));
}

static bool skip_member(struct ctp_demangle *d) { return skip_expression(d) && skip_base_name(d); }
static bool skip_cast(struct ctp_demangle *d) { return skip_type(d) && skip_expression(d); }
static bool skip_scoped(struct ctp_demangle *d) { return skip_type(d) && skip_base_name(d); }
static bool skip_expressions(struct ctp_demangle *d) { return skip_until(d, "E", skip_expression); }
static bool skip_typed_list(struct ctp_demangle *d) { return skip_type(d) && skip_expressions(d); }
static bool skip_pack(struct ctp_demangle *d) { return skip_until(d, "E", skip_argument); }
static bool skip_nothing(struct ctp_demangle *d) { return !d->failed; }

static const struct {
	char code[3];
	bool (*skip)(struct ctp_demangle *);
} forms[] = {
	{"cl", skip_expressions}, {"il", skip_expressions}, {"tl", skip_typed_list}, {"cv", skip_conversion}, {"nw", skip_new},
	{"na", skip_new}, {"dc", skip_cast}, {"sc", skip_cast}, {"cc", skip_cast}, {"rc", skip_cast}, {"ti", skip_type},
	{"te", skip_expression}, {"st", skip_type}, {"sz", skip_expression}, {"at", skip_type}, {"az", skip_expression},
	{"nx", skip_expression}, {"dt", skip_member}, {"pt", skip_member}, {"sr", skip_scoped}, {"sZ", skip_expression},
	{"sP", skip_pack}, {"sp", skip_expression}, {"tw", skip_expression}, {"tr", skip_nothing},
};

static bool skip_some_expression(struct ctp_demangle *d)
{
	char c = ctp_demangle_peek(d), next = d->end - d->p > 1 ? d->p[1] : '\0', third = d->end - d->p > 2 ? d->p[2] : '\0';
	if (ctp_demangle_take(d, "L"))
		return skip_literal(d);
	if (c == 'T')
		return skip_parameter(d) && (ctp_demangle_peek(d) != 'I' || skip_arguments(d));
	if (c == 'f' && (next == 'p' || (next == 'L' && is_digit(third))))
		return skip_function_parameter(d);
	if (c == 'f' && next && strchr("lrLR", next))
		return skip_fold(d);
	if (is_digit(c) || (c == 'o' && next == 'n') || (c == 'd' && next == 'n'))
		return skip_base_name(d);
	ctp_demangle_take(d, "gs");
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (ctp_demangle_take(d, forms[i].code))
			return forms[i].skip(d);
	const struct operator *op = find_operator(d);
	ctp_demangle_take(d, "_"); /* of ++x and --x, to tell them from x++ */
	bool ok = op;
	for (unsigned i = 0; ok && i < op->operands; i++)
		ok = skip_expression(d);
	return ok || ctp_demangle_fail(d);
}

static bool take_expression(struct ctp_demangle *d) { return ctp_demangle_part(d, skip_some_expression); }
static bool skip_expression(struct ctp_demangle *d) { return ctp_demangle_quietly(d, take_expression); }

/* --- a symbol ------------------------------------------------------------------------------------------------------------ */

/* How far a thunk moves `this`, before the function that it is for. */
static bool skip_offset(struct ctp_demangle *d)
{
	for (int numbers = take_one(d, "hv") == 'v' ? 2 : 1; numbers > 0; numbers--) {
		ctp_demangle_take(d, "n");
		if (take_index(d) < 0)
			return false;
	}
	return true;
}

bool ctp_demangle_cxx(struct ctp_demangle *d)
{
	if (!ctp_demangle_take(d, "_Z"))
		return false;
	if (ctp_demangle_take(d, "Tc") ? !skip_offset(d) || !skip_offset(d) :
	    ctp_demangle_take(d, "T") ? !skip_offset(d) : false)
		return false;
	return take_name(d);
}
