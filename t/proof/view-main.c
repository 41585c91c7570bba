/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-main.c - runs the real code in its worlds on the machine of view-machine.h, one schedule after the other.
 *
 *	proof-runtime [-n STEPS] [-s SEED]                        until a run fails, or so many steps in each world, over its dialects
 *	proof-runtime -w WORLD[.DIALECT] [-n STEPS] [-s SEED]     the same in one, with so many steps for each dialect
 *	proof-runtime -t SEED -w WORLD.DIALECT                    one schedule, with all its steps
 *	proof-runtime -l                                          the places where an order is chosen
 *	proof-runtime -m SURVIVORS [-M NAME] [-n STEPS]           all mutants, or those whose name has NAME in it
 *	proof-runtime -m SURVIVORS -c RUNS                        the same; counts how many of so many runs fail in each world
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "view-machine.h"
#include "view-sites.h"
#include "world.h"

static const struct world *const worlds[] = {WORLDS};
enum { NWORLDS = sizeof worlds / sizeof *worlds, TURNS = 16, TURN_SEEDS = 1000000 };

static const struct world *world;
static unsigned dialect;
static uint64_t counted_runs;

static void begin(void) { world->begin(dialect); }

/* One world. False: a run failed. */
static bool try_one(uint64_t steps, uint64_t seed, struct view_kill *kill)
{
	uint64_t last = view_steps + steps;
	for (uint64_t run = 0; counted_runs ? run < counted_runs : view_steps < last; run++) {
		const char *reason = view_run(seed + run, begin, world->after);
		kill->seed = seed + run;
		kill->runs = run + 1;
		if (!reason || kill->failed++)
			continue;
		snprintf(kill->world, sizeof kill->world, "%s.%s", world->name, world->dialects[dialect]);
		snprintf(kill->reason, sizeof kill->reason, "%s", reason);
		if (!counted_runs)
			break;
	}
	return !kill->failed;
}

/* All worlds in turns: most mutants fail soon, in one of them. */
bool view_try(uint64_t which, uint64_t steps, uint64_t seed, struct view_kill *kill)
{
	for (unsigned turn = 0; turn < (counted_runs ? 1 : TURNS); turn++, seed += TURN_SEEDS) {
		unsigned bit = 0;
		for (unsigned w = 0; w < NWORLDS; w++) {
			world = worlds[w];
			for (dialect = 0; world->dialects[dialect]; dialect++, bit++) {
				view_world = UINT64_C(1) << bit;
				if (which & view_world && !try_one(steps / TURNS, seed, kill))
					return false;
			}
		}
	}
	return true;
}

static bool chosen(const char *name)
{
	char full[64];
	snprintf(full, sizeof full, "%s.%s", world->name, world->dialects[dialect]);
	return !name || !strcmp(name, world->name) || !strcmp(name, full);
}

static unsigned dialects(void)
{
	unsigned n = 0;
	while (world->dialects[n])
		n++;
	return n;
}

static double cpu_s(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Returns how many worlds failed. */
static int run_all(const char *name, uint64_t steps, uint64_t seed, bool quiet)
{
	int failed = 0, ran = 0;
	unsigned bit = 0;
	for (unsigned w = 0; w < NWORLDS; w++) {
		world = worlds[w];
		for (dialect = 0; world->dialects[dialect]; dialect++) {
			struct view_kill kill = {.runs = 0};
			view_world = UINT64_C(1) << bit++;
			if (!chosen(name))
				continue;
			double from_s = cpu_s();
			uint64_t from = view_steps, before = world->found();
			bool good = try_one(name ? steps : steps / dialects(), seed, &kill);
			ran++;
			failed += !good;
			if (!quiet)
				printf("%s.%s: %" PRIu64 " runs, %" PRIu64 " steps, %" PRIu64 " judged, %.2f s\n", world->name,
				       world->dialects[dialect], kill.runs, view_steps - from, world->found() - before, cpu_s() - from_s);
			if (!good)
				printf("FAILED %s: %s\n\treplay with: -w %s -t %" PRIu64 "\n", kill.world, kill.reason, kill.world,
				       kill.seed);
			else if (world->found() == before)
				printf("FAILED %s.%s: nothing was judged\n", world->name, world->dialects[dialect]), failed++;
		}
	}
	if (!ran)
		printf("FAILED: there is no world %s\n", name);
	return failed + !ran;
}

static int replay(const char *name, uint64_t seed)
{
	for (unsigned w = 0; w < NWORLDS; w++) {
		world = worlds[w];
		for (dialect = 0; world->dialects[dialect]; dialect++) {
			if (!chosen(name))
				continue;
			view_trace = true;
			const char *reason = view_run(seed, begin, world->after);
			printf("%s\n", reason ? reason : "nothing failed");
			return !!reason;
		}
	}
	return 2;
}

int main(int argc, char **argv)
{
	uint64_t steps = 1000000, seed = 1, traced = 0, counted = 0;
	const char *name = NULL, *survivors = NULL, *only = NULL;
	bool list = false, trace = false;
	for (int c; (c = getopt(argc, argv, "n:s:w:t:lm:M:c:")) != -1;) {
		switch (c) {
		case 'n': steps = strtoull(optarg, NULL, 0); break;
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'w': name = optarg; break;
		case 't': traced = strtoull(optarg, NULL, 0), trace = true; break;
		case 'l': list = true; break;
		case 'm': survivors = optarg; break;
		case 'M': only = optarg; break;
		case 'c': counted = strtoull(optarg, NULL, 0); break;
		default: return 2;
		}
	}
	for (unsigned w = 0; w < NWORLDS; w++)
		worlds[w]->init();
	if (trace)
		return replay(name, traced);
	bool mutants = survivors, quiet = mutants || list;
	int failed = run_all(name, quiet ? 1000000 : steps, seed, quiet);
	if (!failed && list)
		view_sites_print(argv[0]);
	counted_runs = counted;
	if (!failed && mutants)
		failed = view_mutants(&(struct view_budget){steps, survivors, argv[0], only});
	return failed != 0;
}
