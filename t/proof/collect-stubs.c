/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * collect-stubs.c - what lib/collect calls and the worlds have no part in: there are no other processes, no signals,
 * no output, nothing to sample. What a look does, how long a rest is, and what a wait waits for is in world-wakeup.c.
 */
#include "collect/collect-loop.h"

#include "collect/attach.h"
#include "collect/proc-dir.h"
#include "collect/proc-users.h"

bool ctp_attach_kept(pid_t pid, const struct ctp_map_file *file) { return (void)pid, (void)file, false; }
void ctp_clock_pair_read(struct ctp_clock_pair *pair) { *pair = (struct ctp_clock_pair){0}; }
void ctp_clock_pair_write(const struct ctp_clock_pair *pair, struct ctp_writer *w, const struct ctp_class *cls)
{
	(void)pair, (void)w, (void)cls;
}
void ctp_collect_line(const struct ctp_collect_result *result, char line[CTP_COLLECT_LINE_MAX]) { (void)result, *line = 0; }
bool ctp_event_loop_deserted(struct ctp_event_loop *loop, const struct ctp_map_file *file) { return (void)loop, (void)file, false; }
bool ctp_event_loop_replaced(const struct ctp_event_loop *loop) { return (void)loop, false; }
bool ctp_event_loop_unused(struct ctp_event_loop *loop, const struct ctp_map_file *file) { return (void)loop, (void)file, false; }
void ctp_harvest_lives(struct ctp_harvest *h) { (void)h; }
void ctp_harvest_put(struct ctp_harvest *h, enum ctp_event event, uint64_t ts_ns, const uint64_t *values, size_t n)
{
	(void)h, (void)event, (void)ts_ns, (void)values, (void)n;
}
void ctp_harvest_settle(struct ctp_harvest *h) { (void)h; }
void ctp_harvest_mark(struct ctp_harvest *h) { (void)h; }
size_t ctp_harvest_unsettled(const struct ctp_harvest *h) { return (void)h, 0; }
bool ctp_memory_severed(void) { return false; }
bool ctp_memory_truncated(void) { return false; }
bool ctp_outqueue_tight(struct ctp_outqueue *q) { return (void)q, false; }
size_t ctp_outqueue_held(struct ctp_outqueue *q) { return (void)q, 0; }
bool ctp_proc_dir(pid_t pid, char dir[CTP_PROCDIR_BYTES]) { return (void)pid, (void)dir, false; }
bool ctp_proc_maps_has(pid_t pid, const struct ctp_map_file *file) { return (void)pid, (void)file, true; }
size_t ctp_proc_users_find(const struct ctp_map_file *file, pid_t *pids, size_t room) { return (void)file, (void)pids, (void)room, 0; }
bool ctp_proc_users_heir(const char *assignment) { return (void)assignment, false; }
bool ctp_sampler_between(const struct ctp_sampler *s) { return (void)s, false; }
uint64_t ctp_sampler_due_ns(const struct ctp_sampler *s) { return (void)s, UINT64_MAX; }
void ctp_sampler_look(struct ctp_sampler *s, bool stirred) { (void)s, (void)stirred; }
void ctp_targets_refresh(struct ctp_targets *t) { (void)t; }
void ctp_writer_flush(struct ctp_writer *w) { (void)w; }
size_t ctp_writer_pending(const struct ctp_writer *w) { return (void)w, 0; }
void ctp_writer_records(struct ctp_writer *w, const struct ctp_batch *batch) { (void)w, (void)batch; }
void ctp_writer_mark(struct ctp_writer *w, uint64_t ts_ns) { (void)w, (void)ts_ns; }
