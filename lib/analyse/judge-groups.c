/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-groups.c - groups; processes, and the time up to which a coroutine is known. */
#include "analyse/judge-groups.h"

#include <stdlib.h>

#include "base/array.h"

/* --- processes ------------------------------------------------------------------------------------------------------------ */

static struct ctp_judge_process *process(struct ctp_judge *j, uint64_t pid)
{
	for (uint32_t i = 0; i < j->nothers; i++)
		if (j->others[i].pid == pid)
			return &j->others[i];
	if (j->nothers == CTP_JUDGE_PROCESSES)
		return NULL;
	j->others[j->nothers].pid = pid;
	return &j->others[j->nothers++];
}

static void find_processes(struct ctp_judge *j)
{
	for (uint32_t i = 1; i < j->follow->threads->count; i++) {
		const struct ctp_thread *th = &j->follow->threads->list[i];
		bool other = th->pid && j->follow->pid && th->pid != j->follow->pid;
		struct ctp_judge_process *p = other ? process(j, th->pid) : NULL;
		if (!p)
			continue;
		p->did_ns = th->last_ns > p->did_ns ? th->last_ns : p->did_ns;
		p->seen_ns = th->seen_ns > p->seen_ns ? th->seen_ns : p->seen_ns;
	}
}

/* The process of the last run of a coroutine; null: the section's own. */
static const struct ctp_judge_process *process_of(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	static const struct ctp_judge_process beyond; /* beyond CTP_JUDGE_PROCESSES: nothing is known */
	uint64_t pid = j->follow->threads->list[co->thread].pid;
	if (!pid || !j->follow->pid || pid == j->follow->pid)
		return NULL;
	for (uint32_t i = 0; i < j->nothers; i++)
		if (j->others[i].pid == pid)
			return &j->others[i];
	return &beyond;
}

uint64_t ctp_judge_known_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_judge_process *p = process_of(j, co);
	uint64_t known_ns = !p ? j->end_ns : p->seen_ns > p->did_ns ? p->seen_ns : p->did_ns;
	return known_ns < j->end_ns ? known_ns : j->end_ns;
}

/* --- groups --------------------------------------------------------------------------------------------------------------- */

bool ctp_judge_init(struct ctp_judge *j)
{
	find_processes(j);
	return ctp_map_init(&j->map, CTP_REPORT_FINDINGS);
}

void ctp_judge_fini(struct ctp_judge *j)
{
	free(j->groups);
	ctp_map_fini(&j->map);
	free(j->places);
	free(j->spawns);
	free(j->active_ns);
}

static bool is_group(const void *groups, uint32_t number, const void *like)
{
	const struct ctp_group *g = &((const struct ctp_group *)groups)[number - 1], *want = like;
	bool same_sites = g->spawn == want->spawn && g->place == want->place;
	return g->rule == want->rule && g->key == want->key && (same_sites || g->key);
}

static struct ctp_group *group_of(struct ctp_judge *j, enum ctp_rule rule, uint32_t spawn, uint32_t place, uint64_t key)
{
	const struct ctp_group g = {.rule = rule, .spawn = spawn, .place = place, .key = key, .shortest_ns = UINT64_MAX,
	                            .from_ns = UINT64_MAX};
	uint64_t hash = ctp_map_pair(&j->map, key ? key : (uint64_t)spawn << 32 | place, rule);
	uint32_t *slot = ctp_map_slot(&j->map, hash, is_group, j->groups, &g);
	if (*slot)
		return &j->groups[*slot - 1];
	if (j->ngroups == CTP_REPORT_FINDINGS)
		return NULL;
	if (!CTP_ARRAY_RESERVE(j->groups, j->room, j->ngroups + 1, CTP_REPORT_FINDINGS)) {
		j->failed = true;
		return NULL;
	}
	j->groups[j->ngroups] = g;
	*slot = ++j->ngroups;
	return &j->groups[j->ngroups - 1];
}

struct ctp_group *ctp_judge_group(struct ctp_judge *j, enum ctp_rule rule, uint32_t spawn, uint32_t place)
{
	return group_of(j, rule, spawn, place, 0);
}

struct ctp_group *ctp_judge_circle(struct ctp_judge *j, enum ctp_rule rule, const struct ctp_coroutine *first, uint64_t key)
{
	return group_of(j, rule, first->spawn, ctp_follow_place(j->follow, first), key);
}

struct ctp_group *ctp_judge_object_group(struct ctp_judge *j, enum ctp_rule rule, uint64_t pid, const struct ctp_reason_of *reason)
{
	struct ctp_group *g = group_of(j, rule, 0, 0, reason->value ^ pid << 48);
	if (!g || g->object.what)
		return g;
	g->pid = pid;
	g->object = *reason;
	return g;
}
