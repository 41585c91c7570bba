/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* spelling.c - see spelling.h. */
#include "symbols/spelling.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { WORDS_MAX = 8 };

struct word {
	const char *text;
	size_t len;
};

struct spelling {
	char *to;
	size_t len, room;
	int depth; /* of template arguments and the like */
	bool after_word, sort;
};

static bool is_word(unsigned char c) { return isalnum(c) || c == '_' || c == '$' || c >= 0x80; }

static void put(struct spelling *s, const char *text, size_t len)
{
	for (size_t i = 0; i < len && s->len + 1 < s->room; i++)
		s->to[s->len++] = text[i];
}

static bool is(const struct word *w, const char *text) { return w->len == strlen(text) && !memcmp(w->text, text, w->len); }

static bool is_sort(const struct word *w) { return is(w, "struct") || is(w, "class") || is(w, "union"); }

static void put_word(struct spelling *s, const char *text, size_t len)
{
	if (s->after_word)
		put(s, " ", 1);
	put(s, text, len);
	s->after_word = true;
}

/* A literal is the same with and without its u, l and ul. */
static size_t length_of(const struct word *w)
{
	size_t n = w->len;
	if (isdigit((unsigned char)w->text[0]))
		while (n > 1 && strchr("uUlL", w->text[n - 1]))
			n--;
	return n;
}

/* What a number is made of: counts of words, in their order. */
enum part { UNSIGNED, SIGNED, CHAR, SHORT, LONG, INT, PARTS };

static const char *const part_names[PARTS] = {"unsigned", "signed", "char", "short", "long", "int"};

static enum part part_of(const struct word *w)
{
	enum part i = UNSIGNED;
	while (i < PARTS && !is(w, part_names[i]))
		i++;
	return i;
}

/* `long unsigned int` is `unsigned long`, `short int` is `short`. */
static void put_number(struct spelling *s, unsigned count[PARTS])
{
	if (!count[CHAR])
		count[SIGNED] = 0;
	count[INT] = !count[CHAR] && !count[SHORT] && !count[LONG];
	for (enum part i = UNSIGNED; i < PARTS; i++)
		for (unsigned n = 0; n < count[i]; n++)
			put_word(s, part_names[i], strlen(part_names[i]));
}

/* Words that stand together: qualifiers first, or nowhere if they are of the whole; then a number; then the rest. */
static void put_words(struct spelling *s, const struct word *word, unsigned n)
{
	static const char *const qualifiers[] = {"const", "volatile"};
	unsigned count[PARTS] = {0}, numbers = 0;
	for (unsigned q = 0; q < 2 && s->depth > 0; q++)
		for (unsigned i = 0; i < n; i++)
			if (is(&word[i], qualifiers[q]))
				put_word(s, qualifiers[q], strlen(qualifiers[q]));
	for (unsigned i = 0; i < n; i++)
		if (part_of(&word[i]) < PARTS && ++numbers)
			count[part_of(&word[i])]++;
	bool real = count[LONG] && is(&word[n - 1], "double");
	if (numbers && !real)
		put_number(s, count);
	for (unsigned i = 0; i < n; i++)
		if (!is(&word[i], "const") && !is(&word[i], "volatile") && !is_sort(&word[i]) && (real || part_of(&word[i]) == PARTS))
			put_word(s, word[i].text, length_of(&word[i]));
}

static const char *take_words(struct spelling *s, const char *at)
{
	struct word word[WORDS_MAX];
	unsigned n = 0;
	while (is_word((unsigned char)*at) && n < WORDS_MAX) {
		const char *end = at;
		while (is_word((unsigned char)*end))
			end++;
		word[n++] = (struct word){at, (size_t)(end - at)};
		for (at = end; isspace((unsigned char)*at); at++)
			;
	}
	for (unsigned i = 0; i < n && !s->len && !s->depth; i++)
		s->sort |= is_sort(&word[i]);
	put_words(s, word, n);
	return at;
}

/* What says nothing: `::` at the beginning of a name, and the names of namespaces without one. */
static const char *skip_nothing(const struct spelling *s, const char *at)
{
	static const char *const nothing[] = {"(anonymous namespace)::", "{anonymous}::", "`anonymous namespace'::"};
	for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
		if (!strncmp(at, nothing[i], strlen(nothing[i])))
			return at + strlen(nothing[i]);
	bool begins = !s->len || strchr("<,(", s->to[s->len - 1]);
	return begins && !strncmp(at, "::", 2) ? at + 2 : at;
}

/* Whether a text begins with the word; if so, *text moves past it. */
static bool skip(const char **text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(*text, words[i], strlen(words[i]))) {
			*text += strlen(words[i]);
			return true;
		}
	return false;
}

bool ctp_spelling(char *to, size_t room, const char *type)
{
	static const char *const before[] = {"const ", "volatile ", " "}, *const sorts[] = {"struct.", "class.", "union."};
	struct spelling s = {.to = to, .room = room};
	while (skip(&type, before, sizeof before / sizeof *before))
		;
	s.sort = skip(&type, sorts, sizeof sorts / sizeof *sorts);
	for (const char *at = type, *next; *at;) {
		if (isspace((unsigned char)*at)) {
			at++;
		} else if ((next = skip_nothing(&s, at)) != at) {
			at = next;
		} else if (is_word((unsigned char)*at)) {
			at = take_words(&s, at);
		} else {
			s.depth += strchr("<(", *at) ? 1 : strchr(">)", *at) ? -1 : 0;
			put(&s, at++, 1);
			s.after_word = false;
		}
	}
	to[s.len] = '\0';
	char *dot = strrchr(to, '.');
	if (dot && dot > to && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1))
		*dot = '\0';
	return s.sort;
}

static bool is_number(const char *word, size_t len)
{
	static const char *const words[] = {
		"unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "_Bool", "void", "wchar_t", "char8_t", "char16_t",
		"char32_t", "__int128", "__float128", "_Complex", "half", "bfloat", "fp128", "x86_fp80", "ppc_fp128", "ptr", "size_t", "ssize_t",
		"intptr_t", "uintptr_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (len == strlen(words[i]) && !memcmp(word, words[i], len))
			return true;
	return len > 1 && word[0] == 'i' && strspn(word + 1, "0123456789") >= len - 1; /* LLVM's i64 */
}

bool ctp_spelling_is_number(const char *type)
{
	char name[128];
	bool sort = ctp_spelling(name, sizeof name, type);
	size_t len = strlen(name);
	if (len && strchr("*&", name[len - 1]))
		return true;
	if (sort || !len)
		return false;
	const char *at = strncmp(name, "std::", 5) ? name : name + 5;
	for (size_t n; *at; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		if (!is_number(at, n))
			return false;
	}
	return true;
}

/* The last part of a name. */
static struct word last_part(const char *name)
{
	const char *from = name, *end;
	for (end = name; *end && !strchr("<(", *end); end++)
		if (end[0] == ':' && end[1] == ':')
			from = end + 2;
	if (end - from > 2 && end[-2] == '_' && strchr("ts", end[-1]))
		end -= 2;
	return (struct word){from, (size_t)(end - from)};
}

bool ctp_spelling_is_near(const char *a, const char *b)
{
	struct word x = last_part(a), y = last_part(b);
	return x.len && x.len == y.len && !strncasecmp(x.text, y.text, x.len);
}

bool ctp_spelling_unscope(char *name)
{
	char *to = name, *word = name; /* word: where the last one begins */
	bool found = false;
	for (const char *at = name; *at;) {
		if (at[0] == ':' && at[1] == ':') {
			to = word;
			at += 2;
			found = true;
			continue;
		}
		if (!is_word((unsigned char)*at) || to == name || !is_word((unsigned char)to[-1]))
			word = to + !is_word((unsigned char)*at);
		*to++ = *at++;
	}
	*to = '\0';
	return found;
}
