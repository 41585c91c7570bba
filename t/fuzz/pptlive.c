/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pptlive.c - whatever a process with a ppt buffer has in its memory and its ring, and however that changes between two looks,
 * the code of ctp-ppt attach survives it.
 *
 * The input is a description and a list of steps: what the process writes to its variables, to the control block and to the ring, as a
 * client does it or not; which processes have the segment; pages that cannot be read; time that passes; and what an agent does. The
 * process, its segments and the clock are the fuzzer's, so that a find is reproducible. The accounts must hold: each frame of the
 * ring is taken or lost, nothing is written to the process except its two variables and control blocks that it has for writing,
 * and no foreign segment is removed. Covers: formats/ppt/ppt-attach.c formats/ppt/ppt-ring.c formats/ppt/ppt-trace.c
 * formats/ppt/ppt-memory.c
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "ppt-byhand.h"
#include "textmem.h"
#include "ppt/ppt-symbols.h"
#include "ppt/ppt-trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	VARIABLES = 0x1000, /* stat, hmem, the pointer to the description */
	JSON_AT = 0x10000, JSON_ROOM = 0x10000,
	SEGMENTS_AT = 0x1000000, SEGMENT_ROOM = 0x1000000, /* in the process, by id */
	SEGMENTS = 16, STEPS = 400, PROCESS = 1000, STATES = 4,
};

/* --- the process --------------------------------------------------------------------------------------------------------- */

static uint64_t fake_ns;
static struct segment {
	uint8_t *at; /* null: there is none */
	size_t bytes;
	bool foreign, mapped, writable;
} segments[SEGMENTS]; /* of id 1 and so on */
static struct {
	uint32_t variables[4]; /* stat, hmem, and the pointer */
	char json[JSON_ROOM];
	size_t json_len;
	bool lost, gone, readonly;
	struct ctp_ppt_shm_state state;
} process;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!fake_ns)
		return (int)syscall(SYS_clock_gettime, clock, t);
	fake_ns += 500;
	*t = (struct timespec){(time_t)(fake_ns / 1000000000), (long)(fake_ns % 1000000000)};
	return 0;
}

static struct segment *segment_of(int id) { return id > 0 && id <= SEGMENTS && segments[id - 1].at ? &segments[id - 1] : NULL; }
static uint64_t base_of(int id) { return SEGMENTS_AT + (uint64_t)(id - 1) * SEGMENT_ROOM; }

/* Bytes of the process from an address on, as many as are there; null: none. */
static uint8_t *bytes_at(uint64_t at, size_t *len)
{
	if (at >= VARIABLES && at < VARIABLES + sizeof process.variables) {
		*len = VARIABLES + sizeof process.variables - at;
		return (uint8_t *)process.variables + (at - VARIABLES);
	}
	if (at >= JSON_AT && at < JSON_AT + process.json_len) {
		*len = JSON_AT + process.json_len - at;
		return (uint8_t *)process.json + (at - JSON_AT);
	}
	uint64_t nth = (at - SEGMENTS_AT) / SEGMENT_ROOM, in = (at - SEGMENTS_AT) % SEGMENT_ROOM;
	struct segment *s = at >= SEGMENTS_AT && nth < SEGMENTS ? segment_of((int)nth + 1) : NULL;
	if (!s || !s->mapped || in >= s->bytes)
		return NULL;
	*len = s->bytes - in;
	return s->at + in;
}

static ssize_t fake_pread(void *to, size_t n, uint64_t at)
{
	size_t len;
	const uint8_t *from = bytes_at(at, &len);
	if (process.gone)
		return 0;
	if (!from) {
		errno = EIO;
		return -1;
	}
	memcpy(to, from, n < len ? n : len);
	return (ssize_t)(n < len ? n : len);
}

static ssize_t fake_pwrite(const void *from, size_t n, uint64_t at)
{
	size_t len;
	uint8_t *to = bytes_at(at, &len);
	if (process.gone)
		return 0;
	if (!to || len < n || process.readonly) {
		errno = EIO;
		return -1;
	}
	bool variable = at == VARIABLES || at == VARIABLES + 4;
	uint64_t in = (at - SEGMENTS_AT) % SEGMENT_ROOM;
	must(n == 4 && (variable || at >= SEGMENTS_AT), "something else of the process is written to");
	must(variable || (in >= 48 && in < 56 && segment_of((int)((at - SEGMENTS_AT) / SEGMENT_ROOM) + 1)->writable), "a word of a segment is written to");
	memcpy(to, from, n);
	return (ssize_t)n;
}

/* --- what is included has these ------------------------------------------------------------------------------------------- */

static struct ctp_ppt_child fake;

static bool fake_call(struct ctp_ppt_child *c, ctp_ppt_child_fn *fn, int limit_ms)
{
	(void)limit_ms;
	errno = ETIMEDOUT;
	if (c->lost || (c->lost = process.lost))
		return false;
	fn(c->area);
	return true;
}

static int fake_kill(pid_t pid, int sig)
{
	must(!sig, "a process is killed");
	errno = pid % 3 ? ESRCH : EPERM;
	return pid % 5 ? -1 : 0;
}

static int fake_remove(int id)
{
	struct segment *s = segment_of(id);
	must(s && (!s->foreign || (s->mapped && s->writable)), "a segment is removed that the process cannot write to");
	return 0;
}

#define ctp_ppt_child_start(c, bytes) ((void)(c), false)
#define ctp_ppt_child_stop(c) ((void)(c))
#define ctp_ppt_child_call fake_call
#define pread(fd, to, n, at) ((void)(fd), fake_pread(to, n, (uint64_t)(at)))
#define pwrite(fd, from, n, at) ((void)(fd), fake_pwrite(from, n, (uint64_t)(at)))
#define kill fake_kill
#define shmctl(id, cmd, buf) fake_remove(id)
#include "ppt/ppt-memory.c"
#include "ppt/ppt-attach.c"

enum ctp_status ctp_ppt_shm_new(struct ctp_ppt_shm *shm, size_t bytes, uid_t user, struct ctp_err *err)
{
	(void)user;
	*shm = (struct ctp_ppt_shm){0};
	for (int i = 0; bytes <= SEGMENT_ROOM && i < SEGMENTS; i++)
		if (!segments[i].at) {
			segments[i] = (struct segment){.at = calloc(1, bytes), .bytes = bytes, .writable = true};
			must(segments[i].at, "no memory");
			*shm = (struct ctp_ppt_shm){.id = i + 1, .at = segments[i].at, .bytes = bytes};
			return CTP_OK;
		}
	return ctp_err_set(err, "no room for a segment");
}

void ctp_ppt_shm_free(struct ctp_ppt_shm *shm)
{
	struct segment *s = segment_of(shm->id);
	must(!shm->at || (s && !s->foreign), "a segment is freed that is not ours");
	if (shm->at) {
		free(s->at);
		*s = (struct segment){0};
	}
	*shm = (struct ctp_ppt_shm){0};
}

struct ctp_ppt_shm_state ctp_ppt_shm_look(int id)
{
	struct ctp_ppt_shm_state state = process.state;
	state.exists = segment_of(id);
	return state;
}

size_t ctp_ppt_shm_maps(const struct ctp_ppt_memory *m, pid_t pid, int id, struct ctp_ppt_shm_map *maps, size_t room)
{
	size_t n = 0;
	for (int i = 1; i <= SEGMENTS && n < room; i++) {
		struct segment *s = segment_of(i);
		if (!m->child->lost && (pid == PROCESS || pid % 2 == 0) && s && s->mapped && (id == -1 || id == i))
			maps[n++] = (struct ctp_ppt_shm_map){.id = i, .base = base_of(i), .bytes = s->bytes,
			                                     .writable = s->writable};
	}
	return n;
}

/* --- the input ------------------------------------------------------------------------------------------------------------ */

struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* One of the numbers that a reader might stumble over, in a byte or two; or any. */
static uint64_t number(struct input *in, uint64_t near)
{
	unsigned how = byte(in);
	uint64_t any = 0;
	switch (how >> 5) {
	case 0: case 1: return how;
	case 2: return near + how % 32;
	case 3: return near - how % 32;
	case 4: return UINT64_MAX - how % 32;
	case 5: return UINT64_C(1) << (how % 32 + 32 * (byte(in) & 1));
	case 6: return near + ((uint64_t)byte(in) << how % 32);
	default:
		for (unsigned k = 0; k < 8; k++)
			any = any << 8 | byte(in);
		return any;
	}
}

static void choose_json(struct input *in, unsigned how)
{
	static const char *const jsons[] = {
		BYHAND_JSON("Fuzz", 64, "", "ETimeClockMonotonic", "", BYHAND_MARK),
		BYHAND_JSON("Fuzz", 64, "", "ETimeClockRealtime", "",
			BYHAND_FRAME("one", BYHAND_ELEMENT("x", "false", BYHAND_DOUBLE),
				BYHAND_FRONT BYHAND_TYPE BYHAND_MEMBER("x", 8, 8, 8, BYHAND_DOUBLE) BYHAND_BACK(16)) ","
			BYHAND_FRAME("two", BYHAND_ELEMENT("x", "false", BYHAND_DOUBLE),
				BYHAND_FRONT BYHAND_TYPE BYHAND_MEMBER("x", 8, 8, 8, BYHAND_DOUBLE) BYHAND_BACK(16))),
		BYHAND_JSON("Fuzz", 64, "", "ETimeClockMonotonic", "",
			BYHAND_FRAME("count", BYHAND_ELEMENT("ev", "true", BYHAND_COUNTER),
				BYHAND_FRONT BYHAND_INTERVAL_COUNTER("ev", 0, 8, 16) BYHAND_INTERVAL_COUNTER("ev", 1, 24, 32) BYHAND_BACK(40))),
	};
	size_t len = strlen(jsons[how % 3]) + 1;
	memcpy(process.json, jsons[how % 3], len);
	process.json_len = len;
	if (how & 4) { /* a few bytes of it are others */
		for (unsigned n = byte(in) % 8; n; n--) {
			unsigned at = byte(in);
			at |= byte(in) << 8;
			process.json[at % len] = (char)byte(in);
		}
	}
	uint64_t pointer = how & 8 ? number(in, JSON_AT) : JSON_AT;
	memcpy(&process.variables[2], &pointer, sizeof pointer);
}

/* --- steps ---------------------------------------------------------------------------------------------------------------- */

static struct ctp_ppt_trace trace;
static uint32_t next = 1, first = 1;

/* As a client attaches; or nearly so. */
static void client_attaches(struct input *in)
{
	unsigned how = byte(in);
	const struct ctp_ppt_shm *shm = &trace.at.shm;
	struct ctp_ppt_control *c = shm->at;
	if (!c)
		return;
	segments[shm->id - 1].mapped = !(how & 1);
	uint64_t stride = trace.layout->stride, begin = how & 2 ? 464 + 464 % stride : 416 + 416 % stride;
	uint64_t data = base_of(shm->id) + begin, slots = shm->bytes > begin ? (shm->bytes - begin) / stride : 0;
	c->data = how & 4 ? number(in, data) : data;
	c->slots = how & 8 ? number(in, slots) : slots;
	c->data_id_attached = how & 16 ? number(in, (uint64_t)shm->id) : (uint64_t)shm->id;
	first = next;
}

static void save_frame(struct input *in)
{
	unsigned how = byte(in);
	struct ctp_ppt_ring *r = &trace.at.ring;
	if (trace.at.stage < CTP_PPT_ATTACHED || !r->data || !trace.at.shm.at)
		return;
	for (unsigned n = how >> 4; n != UINT32_MAX; n--, next++) {
		uint32_t value = how & 1 ? (uint32_t)number(in, next) : next, back = how & 2 ? (uint32_t)number(in, value) : value;
		char *slot = (char *)(uintptr_t)r->data + (uint64_t)((how & 4 ? value : next) - first) % r->slots * r->stride;
		memset(slot, (int)n, r->size);
		if (trace.layout->nframes > 1)
			memcpy(slot + 4, &(uint32_t){how & 8 ? byte(in) : 1 + n % 2}, 4);
		memcpy(slot + r->front, &value, 4);
		memcpy(slot + r->back, &back, 4);
	}
}

static void put_bytes(struct input *in)
{
	struct segment *s = segment_of(1 + (int)(byte(in) % SEGMENTS));
	unsigned at = byte(in), len = byte(in);
	at |= byte(in) << 8;
	for (; s && len && in->left; len--, at++)
		s->at[at % s->bytes] = (uint8_t)byte(in);
}

static void put_variable(struct input *in)
{
	unsigned how = byte(in);
	uint32_t now = how & 1 ? (uint32_t)trace.at.shm.id : (uint32_t)getpid();
	process.variables[how & 1] = how & 2 ? (uint32_t)number(in, now) : how & 4 ? now : 0;
}

static void put_segment(struct input *in)
{
	unsigned how = byte(in);
	struct segment *s = &segments[how % SEGMENTS];
	if (!s->at) {
		*s = (struct segment){.bytes = 1 + byte(in), .foreign = true};
		s->at = calloc(1, s->bytes);
		must(s->at, "no memory");
	}
	s->mapped = how & 16;
	s->writable = !s->foreign || how & 32;
}

static void put_state(struct input *in)
{
	unsigned how = byte(in);
	process.state.attached = how % STATES;
	process.state.last = how & 4 ? PROCESS : (pid_t)(how >> 3);
	process.state.creator = (pid_t)byte(in);
	process.state.let_go_s = how & 128 ? byte(in) : 0;
	process.state.owner = how & 64 ? 0 : 1;
}

static bool agent_step(struct input *in, unsigned op)
{
	struct ctp_err err = {0};
	struct ctp_ppt_attach *at = &trace.at;
	bool taken = at->stage >= CTP_PPT_ATTACHED && at->ring.data && trace.at.shm.at;
	switch (op % 8) {
	case 0:
	case 1:
		if (ctp_ppt_attach_step(at, &err))
			return must(*err.text, "an error without a text"), false;
		must(at->stage != CTP_PPT_ATTACHED || (at->ring.slots && at->ring.data), "a ring without slots");
		break;
	case 2:
	case 3:
		if (taken)
			ctp_ppt_trace_take(&trace, 1 + byte(in), false);
		break;
	case 4:
		if (at->stage == CTP_PPT_ATTACHED)
			ctp_ppt_attach_holds(at, &err);
		break;
	case 5: /* the client changes what it has said of its ring, and its slots with that */
		if (at->stage == CTP_PPT_ATTACHED) {
			((struct ctp_ppt_control *)at->shm.at)->slots = number(in, at->ring.slots);
			first = next;
		}
		break;
	default:
		if (taken) {
			ctp_ppt_attach_troubles(at);
			ctp_ppt_trace_publish(&trace);
		}
		break;
	}
	return true;
}

static bool step(struct input *in)
{
	unsigned op = byte(in);
	switch (op % 16) {
	case 0: put_bytes(in); break;
	case 1: client_attaches(in); break;
	case 2: case 3: save_frame(in); break;
	case 4: put_variable(in); break;
	case 5: put_segment(in); break;
	case 6: put_state(in); break;
	case 7: fake_ns += (uint64_t)(byte(in) + 1) << (op >> 4) * 2; break;
	case 8:
		process.lost = op == 0xf8;
		process.gone = op == 0xe8;
		process.readonly = op == 0xd8;
		break;
	case 9:
		next = (uint32_t)number(in, next);
		break;
	default: return agent_step(in, op >> 4);
	}
	return true;
}

/* --- all of it ------------------------------------------------------------------------------------------------------------ */

static void finish(unsigned how)
{
	struct ctp_err err;
	bool taken = trace.at.ring.data && trace.at.shm.at;
	if (how & 1)
		ctp_ppt_attach_leave(&trace.at);
	if (how & 1 && trace.at.stage == CTP_PPT_LEAVING)
		ctp_ppt_attach_step(&trace.at, &err);
	ctp_ppt_attach_release(&trace.at);
	if (taken) {
		ctp_ppt_trace_take(&trace, 2 * trace.at.ring.slots, true);
		ctp_ppt_trace_strays(&trace);
		ctp_ppt_trace_end(&trace, (struct ctp_ppt_outcome){.how = how % 6});
	}
	const struct ctp_ppt_ring *r = &trace.at.ring;
	must(trace.taken + trace.lost == r->frames + r->lost, "a frame is neither taken nor lost, or both");
	must(trace.torn <= trace.lost && r->overrun <= r->lost && trace.unverified <= r->frames, "losses of no kind");
	ctp_ppt_attach_end(&trace.at);
	ctp_ppt_trace_fini(&trace);
	for (int i = 0; i < SEGMENTS; i++) {
		must(!segments[i].at || segments[i].foreign, "a segment of the agent is left");
		free(segments[i].at);
	}
	memset(segments, 0, sizeof segments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem stream;
	static _Alignas(64) char area[CTP_PPT_MEMORY_AREA];
	static struct ctp_ppt_counters counters = {.names = {"a", "b", "c"}};
	struct input in = {data, size};
	struct ctp_err err = {0};
	struct ctp_ppt_buffer buffer = {.name = "Fuzz", .at = {VARIABLES, VARIABLES + 4, VARIABLES + 8}, .json_bytes = 8, .file = (char *)"/fuzz",
	                                .label = (char *)"Fuzz"};
	unsigned how = byte(&in), options = byte(&in);
	memset(&process.variables, 0, sizeof process.variables);
	process.lost = process.gone = process.readonly = false;
	process.state = (struct ctp_ppt_shm_state){.attached = 2, .last = PROCESS, .owner = 1};
	fake = (struct ctp_ppt_child){.area = area, .bytes = sizeof area, .fd = -1};
	struct ctp_ppt_memory memory = {.pid = PROCESS, .process = -1, .child = &fake};
	fake_ns = UINT64_C(1000000000000);
	next = first = 1;
	counters.n = options & 3;
	choose_json(&in, how);
	for (unsigned n = how >> 6; n && in.left; n--) { /* writes before the agent */
		put_segment(&in);
		put_variable(&in);
		put_state(&in);
	}
	if (!ctp_ppt_trace_init(&trace, &memory, &buffer, &counters, false, &err) && trace.layout->stride <= 1024) {
		struct ctp_writer *w = ctp_writer_new(textmem_append, &stream, &err);
		must(w, "no memory");
		stream.len = 0;
		trace.at.slots = 1 + (options >> 3);
		trace.at.user = 1;
		bool goes = !ctp_ppt_attach_begin(&trace.at, options & 4, NULL, &err);
		for (unsigned steps = 0; goes && in.left && steps < STEPS; steps++) {
			goes = step(&in);
			if (trace.at.stage == CTP_PPT_ATTACHED && !trace.writer)
				ctp_ppt_trace_begin(&trace, w, "fuzz");
		}
		finish(how);
		ctp_writer_free(w);
	} else {
		must(*err.text || trace.layout, "an error without a text");
		ctp_ppt_trace_fini(&trace);
		for (int i = 0; i < SEGMENTS; i++)
			free(segments[i].at);
		memset(segments, 0, sizeof segments);
	}
	fake_ns = 0;
	return 0;
}
