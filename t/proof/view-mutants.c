/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-mutants.c - the code with one order weakened by one step, or one fence or membarrier left out, in all worlds that come by:
 * each must break something, or be known to break nothing.
 *
 * A mutant is a place in the source, whichever calls the compiler has made of it: file, function, what it does, and which of the
 * function's it is, from the first line on. So its name does not change with the lines before it. addr2line finds the place.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view-sites.h"

enum { PLACES = 512, WEAKER = 2, KNOWN = 16 /* one that is known to survive gets this part of the steps */ };

struct place {
	char file[64], function[64], name[200];
	unsigned line;
	enum view_kind kind;
	int order;
	uint64_t worlds;
	unsigned sites[64], nsites; /* in view_sites */
};
static const char rarely[] = " rare: ";
static struct place places[PLACES];
static unsigned nplaces;

static const char *const kinds[] = {"load", "store", "exchange", "failed exchange", "fence", "membarrier"};

static const char *order_name(int order)
{
	static const char *const names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
	return order == VIEW_NONE ? "none" : names[order];
}

/* --- places --------------------------------------------------------------------------------------------------------------- */

static void add(const char *file, unsigned line, const char *function, unsigned i)
{
	const struct view_site *site = &view_sites[i];
	struct place *p = places;
	while (p < places + nplaces && (p->line != line || p->kind != site->kind || p->order != site->order || strcmp(p->file, file)))
		p++;
	if (p == places + nplaces) {
		if (nplaces == PLACES)
			abort();
		nplaces++;
		*p = (struct place){.line = line, .kind = site->kind, .order = site->order};
		snprintf(p->file, sizeof p->file, "%s", file);
		snprintf(p->function, sizeof p->function, "%s", function);
	}
	p->worlds |= site->worlds;
	if (p->nsites < sizeof p->sites / sizeof *p->sites)
		p->sites[p->nsites++] = i;
}

static int by_line(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int file = strcmp(x->file, y->file);
	if (file || x->line != y->line)
		return file ? file : x->line > y->line ? 1 : -1;
	return x->kind != y->kind ? (int)x->kind - (int)y->kind : y->order - x->order;
}

static const char *base_of(char *path)
{
	path[strcspn(path, " \n")] = 0;
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Of one address: the function and the place that are innermost, but for ctp_membarrier, which is for its callers. */
static void take_frames(FILE *f, unsigned i, char *line, size_t bytes)
{
	char file[64] = "", function[64] = "";
	unsigned number = 0;
	bool final = false;
	while (fgets(line, (int)bytes, f) && strncmp(line, "0x", 2)) {
		char name[64], *colon;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "\n"), line);
		if (!fgets(line, (int)bytes, f))
			break;
		if (final || !(colon = strrchr(line, ':')))
			continue;
		number = (unsigned)strtoul(colon + 1, NULL, 10);
		*colon = 0;
		snprintf(file, sizeof file, "%.63s", base_of(line));
		snprintf(function, sizeof function, "%s", name);
		final = strcmp(name, "ctp_membarrier") != 0;
	}
	if (*file)
		add(file, number, function, i);
}

static void find_places(const char *program)
{
	char list[] = "/tmp/proof-runtime-XXXXXX", command[512], line[1024];
	unsigned index[VIEW_SITES], n = 0;
	int fd = mkstemp(list);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		abort();
	for (unsigned i = 0; i < VIEW_SITES; i++)
		if (view_sites[i].at) {
			fprintf(f, "0x%" PRIxPTR "\n", (uintptr_t)view_sites[i].at - 1);
			index[n++] = i;
		}
	fclose(f);
	snprintf(command, sizeof command, "addr2line -a -f -i -e '%s' @%s", program, list);
	FILE *p = popen(command, "r");
	if (!p || !fgets(line, sizeof line, p))
		abort();
	for (unsigned k = 0; k < n; k++)
		take_frames(p, index[k], line, sizeof line);
	pclose(p);
	unlink(list);
	qsort(places, nplaces, sizeof *places, by_line);
	for (unsigned i = 0; i < nplaces; i++) {
		unsigned nth = 1;
		for (unsigned k = 0; k < i; k++)
			nth += !strcmp(places[k].file, places[i].file) && !strcmp(places[k].function, places[i].function) &&
			       places[k].kind == places[i].kind;
		snprintf(places[i].name, sizeof places[i].name, "%.63s %.63s %s %u", places[i].file, places[i].function,
		         kinds[places[i].kind], nth);
	}
}

void view_sites_print(const char *program)
{
	find_places(program);
	for (unsigned i = 0; i < nplaces; i++)
		printf("%s:%u %s: %s (worlds 0x%" PRIx64 ")\n", places[i].file, places[i].line, places[i].name, order_name(places[i].order),
		       places[i].worlds);
}

/* --- mutants -------------------------------------------------------------------------------------------------------------- */

/* The orders that are one step weaker; VIEW_NONE ends them where there is none. */
static unsigned weaker(const struct place *p, int *to)
{
	bool fence = p->kind == VIEW_FENCE;
	switch (p->order) {
	case __ATOMIC_SEQ_CST:
		to[0] = p->kind == VIEW_MEMBARRIER ? VIEW_NONE : __ATOMIC_ACQ_REL;
		return 1;
	case __ATOMIC_ACQ_REL:
		to[0] = __ATOMIC_ACQUIRE;
		to[1] = __ATOMIC_RELEASE;
		return 2;
	case __ATOMIC_ACQUIRE:
	case __ATOMIC_RELEASE:
		to[0] = fence ? VIEW_NONE : __ATOMIC_RELAXED;
		return 1;
	default:
		return 0;
	}
}

static void weaken(const struct place *p, int order)
{
	for (unsigned i = 0; i < p->nsites; i++)
		view_sites[p->sites[i]].now = order;
}

/* In a process of its own: the code may do anything now. */
static bool survives(const struct place *p, int order, uint64_t steps, struct view_kill *kill)
{
	int fds[2], status = 0;
	fflush(stdout);
	if (pipe(fds))
		abort();
	pid_t child = fork();
	if (child < 0)
		abort();
	if (!child) {
		struct view_kill mine = {.runs = 0};
		weaken(p, order);
		alarm(600 + (unsigned)(steps / 50000)); /* it may loop without a step */
		bool good = view_try(p->worlds, steps, 1, &mine);
		if (!good && write(fds[1], &mine, sizeof mine) != sizeof mine)
			_exit(3);
		_exit(good ? 0 : 1);
	}
	close(fds[1]);
	*kill = (struct view_kill){.runs = 0};
	bool told = read(fds[0], kill, sizeof *kill) == sizeof *kill;
	close(fds[0]);
	waitpid(child, &status, 0);
	if (!told)
		snprintf(kill->reason, sizeof kill->reason, "the program crashed");
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Why it is known to survive: the rest of the line in the file that begins with its name and a colon. A rare one may be killed. */
static bool explained(const char *file, const char *mutant, char *why, size_t bytes)
{
	char line[1024];
	FILE *f = fopen(file, "r");
	bool found = false;
	size_t length = strlen(mutant);
	while (f && !found && fgets(line, sizeof line, f)) {
		found = !strncmp(line, mutant, length) && line[length] == ':';
		if (found)
			snprintf(why, bytes, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
	}
	if (f)
		fclose(f);
	return found;
}

/* Returns whether it is as it should be. */
static bool try_mutant(const struct view_budget *budget, const struct place *p, int order, unsigned *killed)
{
	char mutant[256], why[1024];
	struct view_kill kill;
	snprintf(mutant, sizeof mutant, "%s %s-%s", p->name, order_name(p->order), order_name(order));
	if (budget->only && !strstr(mutant, budget->only))
		return true;
	bool known = explained(budget->survivors, mutant, why, sizeof why);
	bool rare = known && !strncmp(why, rarely, strlen(rarely));
	bool survived = survives(p, order, known && !rare ? budget->steps / KNOWN : budget->steps, &kill);
	*killed += !survived;
	if (!survived)
		printf("killed    %s (line %u): %s, %" PRIu64 " of %" PRIu64 " runs: %s%s\n", mutant, p->line, kill.world, kill.failed,
		       kill.runs, kill.reason, known && !rare ? "; BUT IT IS LISTED AS A SURVIVOR" : "");
	else
		printf("survived  %s (line %u):%s\n", mutant, p->line, known ? why : " NOT EXPLAINED");
	return survived == known || rare;
}

int view_mutants(const struct view_budget *budget)
{
	unsigned tried = 0, killed = 0, wrong = 0;
	find_places(budget->program);
	for (unsigned i = 0; i < nplaces; i++) {
		int to[WEAKER];
		unsigned n = weaker(&places[i], to);
		for (unsigned k = 0; k < n; k++, tried++)
			wrong += !try_mutant(budget, &places[i], to[k], &killed);
	}
	printf("%u mutants: %u killed, %u survived; %u not as expected\n", tried, killed, tried - killed, wrong);
	return (int)wrong;
}
