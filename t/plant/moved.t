#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# No file uses a pointer into an array after a call that may have moved the array, as far as
# t/helper/moved.py sees that in clang's syntax trees; and it sees each of the patterns below. `make
# check` looks at the patterns and at formats/diff, make check-all at lib, formats, tools and sdk.
# Not under sanitizers: it reads sources.
. t/helper/tap.sh
for program in clang python3; do command -v $program >/dev/null || skip_all "there is no $program"; done

looks() { python3 -B t/helper/moved.py "$O/.flags" "$@" >"$tmp/said" 2>&1; }
places() { sed -n "s|^.*$1:\([0-9]*\): .*|\1|p" "$tmp/said" | sort -n | tr '\n' ' '; }

# --- patterns: each line that is marked is wrong, and no other is -----------------------------------------------------------------
cat >"$tmp/bad.c" <<'END'
#include "base/array.h"
#include <stdlib.h>
struct item { int count; char *name; struct item *next; };
struct list { struct item *items; size_t n, room; const struct list_ops *ops; };
struct list_ops { bool (*take)(struct list *l); };
static int add(struct list *l)
{
	return CTP_ARRAY_RESERVE(l->items, l->room, l->n + 1, 100) ? (int)l->n++ : 0;
}
static int deeper(struct list *l) { return l->n ? add(l) : 0; }
static bool take(struct list *l) { return deeper(l) > 0; }
static const struct list_ops ops = {.take = take};
static struct item *last(struct list *l) { return &l->items[l->n - 1]; }
static void set(struct item *item, int n) { item->count = n; }
static int renew(struct list *l)
{
	struct item *items = calloc(2, sizeof *items);
	free(l->items);
	l->items = items;
	return 0;
}
static bool grow(struct item **items, size_t *room) { return CTP_ARRAY_RESERVE(*items, *room, *room + 1, 100); }
void subscript(struct list *l) { l->items[add(l)].count++; } /* wrong */
void assigned(struct list *l) { l->items[0].count = deeper(l); } /* wrong */
void argument(struct list *l) { set(&l->items[0], add(l)); } /* wrong */
void returned(struct list *l) { last(l)->count = add(l); } /* wrong */
void by_member(struct list *l) { l->ops = &ops; l->items[l->ops->take(l)].count++; } /* wrong */
void anew(struct list *l) { l->items[renew(l)].count++; } /* wrong */
int held(struct list *l)
{
	struct item *item = &l->items[0];
	add(l);
	return item->count; /* wrong */
}
int held_by_call(struct list *l)
{
	struct item *item = last(l), *same = item;
	if (l->n > 3 && add(l))
		return 0;
	return same->count; /* wrong */
}
int in_a_loop(struct list *l)
{
	int sum = 0;
	struct item *item = l->items;
	for (int i = 0; i < 3; i++) {
		sum += item->count; /* wrong */
		if (i == 1)
			add(l);
	}
	return sum;
}
int in_a_switch(struct list *l, int how)
{
	struct item *item = l->items;
	switch (how) {
	case 0:
		add(l);
		break;
	case 1:
		return item->count;
	}
	return item->count; /* wrong */
}
int local(size_t room)
{
	struct item *items = NULL, *first;
	if (!CTP_ARRAY_RESERVE(items, room, 1, 100))
		return 0;
	first = &items[0];
	if (!CTP_ARRAY_RESERVE(items, room, 2, 100))
		return 0;
	return first->count; /* wrong */
}
int passed(struct list *l)
{
	struct item *item = l->items;
	grow(&l->items, &l->room);
	return item->count; /* wrong */
}
int on_stack(struct list *l)
{
	struct list own = {0};
	int count = add(&own);
	struct item *item = last(&own);
	add(l);
	count += item->count;
	add(&own);
	return count + item->count; /* wrong */
}
END
sed -n '/struct item {/,/^static bool grow/p' "$tmp/bad.c" >"$tmp/common"
{
	printf '#include "base/array.h"\n#include <stdlib.h>\n'
	cat "$tmp/common"
	cat <<'END'
void subscript(struct list *l) { int i = add(l); l->items[i].count++; }
void value(struct list *l) { l->n = l->items[0].count + add(l); }
void condition(struct list *l) { if (l->items[0].count && add(l)) l->items[0].count = 1; }
void member(struct list *l) { l->room = (size_t)add(l); }
void text(struct list *l) { char *name = l->items[0].name; add(l); free(name); }
void next(struct list *l) { struct item *next = l->items[0].next; add(l); next->count = 1; }
int again(struct list *l)
{
	struct item *item = &l->items[0];
	if (add(l))
		item = &l->items[0];
	else
		return 0;
	return item->count;
}
int before(struct list *l)
{
	struct item *item = &l->items[0];
	int count = item->count;
	return count + add(l);
}
int every(struct list *l)
{
	int sum = 0;
	for (int i = 0; i < 3; i++) {
		struct item *item = &l->items[i];
		sum += item->count;
		add(l);
	}
	return sum;
}
void two(struct list *l) { struct list own = {0}; add(&own); set(&own.items[0], add(l)); }
void asked_for(struct list *l) { l->items[add(l)].count++; /* stays: a test of the comment */
}
int use(struct list *l) { l->ops = &ops; return take(l) + last(l)->count + renew(l) + grow(&l->items, &l->room) + deeper(l); }
void use_set(struct list *l) { set(last(l), 1); }
END
} >"$tmp/good.c"
looks "$tmp/bad.c"
is 'what is wrong: status' $? 1
is 'each pattern is found, and nothing else' "$(places bad.c)" "$(grep -n 'wrong \*/$' "$tmp/bad.c" | cut -d : -f 1 | tr '\n' ' ')"
looks "$tmp/good.c"
is 'what is right: status' $? 0
is 'nothing is found in it' "$(places good.c)" ''
echo 'int f(' >"$tmp/none.c"
looks "$tmp/none.c"
is 'what is no C: status' $? 2

# --- the tree ---------------------------------------------------------------------------------------------------------------------
# Only what was compiled: other files may lack a library here.
sources() { for f in "$@"; do [ ! -e "$O/${f%.c}.o" ] || echo "$f"; done; }
if [ "${EVERY:-}" ]; then
	set -- lib/*/*.c formats/*/*.c tools/*.c sdk/*/*.c
else
	set -- lib/base/*.c formats/diff/*.c
fi
# shellcheck disable=SC2046
looks $(sources "$@")
is 'the tree has no such place: status' $? 0
is 'nor a line that says so' "$(grep -v ' findings$' "$tmp/said")" ''
like 'it has seen functions that move arrays' "$(tail -n 1 "$tmp/said")" '^[0-9]{3,} functions, [0-9]{2,} of them move an array, 0 findings$'

# The array of groups was moved in the expression that counts in it. All that this needs is in one file.
mkdir -p "$tmp/diff"
cp formats/diff/diff-collect.c "$tmp/diff"
sed -i 's/group(c, \(.*CTP_DIFF_SPAWN.*}\))->count++/c->live[put(c, \1)].count++/' "$tmp/diff/diff-collect.c"
ok 'the defect is planted' grep -q 'c->live\[put(c' "$tmp/diff/diff-collect.c"
looks "$tmp/diff/diff-collect.c"
is 'and found' "$(places diff-collect.c)" "$(grep -n 'c->live\[put(c' "$tmp/diff/diff-collect.c" | cut -d : -f 1) "
done_testing
