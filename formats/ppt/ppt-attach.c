/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-attach.c - the variables stat and hmem of a client, and the segments that they name.
 *
 * A client looks at hmem when it saves a frame. It attaches a segment where it has none, lets go of it where hmem is 0, and does not
 * notice a change from one to another: so a new segment waits until the old one was let go of.
 */
#include "ppt/ppt-attach.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

enum { EMPTY_LOOKS = 100 }; /* a client writes its slots first, but without a fence after that */
enum { REFUSALS_MAX = 3, SHARED_LOOKS = 8 }; /* children that become other programs have it for a moment */

static uint64_t hmem_at(const struct ctp_ppt_attach *a) { return a->buffer->at[CTP_PPT_HMEM]; }
static uint64_t stat_at(const struct ctp_ppt_attach *a) { return a->buffer->at[CTP_PPT_STAT]; }
static struct ctp_ppt_control *control_of(const struct ctp_ppt_attach *a) { return a->shm.at; }

/* --- other agents ---------------------------------------------------------------------------------------------------------- */

static bool is_alive(pid_t pid) { return pid > 0 && pid != getpid() && (!kill(pid, 0) || errno == EPERM); }

/*
 * An agent has its segment attached as long as it runs. So a process with the agent's number and without the segment is another
 * process. If no process has that number, but somebody besides the target has the segment, the agent may run in another PID
 * namespace; unless the process that has ended created the segment itself.
 */
static enum ctp_ppt_use use_of(const struct ctp_ppt_memory *m, pid_t pid, int id)
{
	struct ctp_ppt_shm_state shm = id ? ctp_ppt_shm_look(id) : (struct ctp_ppt_shm_state){0};
	struct ctp_ppt_shm_map map;
	if (!pid && !id)
		return CTP_PPT_FREE;
	if (!id)
		return is_alive(pid) ? CTP_PPT_USED : CTP_PPT_ABANDONED;
	if (!shm.exists)
		return CTP_PPT_ABANDONED;
	pid_t agent = pid ? pid : shm.creator;
	if (is_alive(agent))
		return shm.attached > 1 || ctp_ppt_shm_find(m, agent, id, &map) ? CTP_PPT_USED : CTP_PPT_ABANDONED;
	return shm.attached > 1 && shm.creator != agent ? CTP_PPT_USED : CTP_PPT_ABANDONED;
}

bool ctp_ppt_attach_user(const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b, struct ctp_ppt_user *user)
{
	uint32_t stat, hmem;
	*user = (struct ctp_ppt_user){0};
	if (!ctp_ppt_memory_peek(m, b->at[CTP_PPT_STAT], &stat) || !ctp_ppt_memory_peek(m, b->at[CTP_PPT_HMEM], &hmem))
		return false;
	user->pid = (pid_t)stat;
	user->id = (int)hmem;
	user->use = use_of(m, user->pid, user->id);
	return true;
}

/* --- segments -------------------------------------------------------------------------------------------------------------- */

static void put_counters(const struct ctp_ppt_attach *a, struct ctp_ppt_control *c)
{
	size_t entry = CTP_PPT_CONTROL_ENTRY + (a->attr_bytes ? a->attr_bytes : CTP_PPT_ATTR_BYTES);
	for (uint32_t i = 0; i < a->ncounters; i++) {
		unsigned char *to = c->counters + i * entry;
		memcpy(to, &i, sizeof i);
		memcpy(to + CTP_PPT_CONTROL_ENTRY, a->counters->attr[i], CTP_PPT_ATTR_BYTES);
	}
	atomic_store_explicit(&c->ncounters, a->ncounters, memory_order_relaxed);
}

/* The block, then the ring, which begins at most one slot after the end of the block. */
static enum ctp_status make_segment(struct ctp_ppt_attach *a, struct ctp_err *err)
{
	size_t bytes = CTP_PPT_CONTROL_MAX + (a->slots + (size_t)1) * a->layout->stride;
	/* The offset of the second counter must be known, and only an attached client shows it. */
	a->probing = a->counters->n > 1 && !a->attr_bytes;
	a->ncounters = a->probing ? 0 : a->counters->n;
	if (ctp_ppt_shm_new(&a->shm, bytes, a->user, err))
		return CTP_FAILED;
	struct ctp_ppt_control *c = control_of(a);
	atomic_store_explicit(&c->bytes, CTP_PPT_CONTROL_MAX - (a->attr_bytes == CTP_PPT_ATTR_BYTES ? 48 : 0), memory_order_relaxed);
	atomic_store_explicit(&c->ours, ctp_ppt_control_mark(hmem_at(a)), memory_order_relaxed);
	put_counters(a, c);
	return CTP_OK;
}

/* --- segments of other agents --------------------------------------------------------------------------------------------- */

/* After a failed peek or poke. EIO: the process runs, and has unmapped the variables. CTP_EOF: the process has ended. */
static enum ctp_status gone(const struct ctp_ppt_attach *a, struct ctp_err *err)
{
	if (errno == EIO)
		return ctp_err_set(err, "%s: the program has closed it: its library was unloaded", a->buffer->label);
	if (ctp_ppt_memory_lost(a->memory))
		return ctp_err_set(err, "%s: the memory of the process does not answer: a page of it does not come", a->buffer->label);
	ctp_err_set(err, "%s: the process has %s", a->buffer->label,
	            ctp_ppt_memory_replaced(a->memory) ? "become another program" : "ended");
	return CTP_EOF;
}

/*
 * Prepares a segment for the client to let go of, so that its closing loop leaves descriptor 0 alone. Only the process says which
 * segment that is, and we may be root: so we do not attach it, but write to it where the process itself can write to it, in its own
 * memory.
 */
static void free_map(struct ctp_ppt_attach *a, const struct ctp_ppt_shm_map *map)
{
	uint64_t ours_at = map->base + offsetof(struct ctp_ppt_control, ours), n_at = map->base + offsetof(struct ctp_ppt_control, ncounters);
	uint32_t ours, n;
	a->freed = (struct ctp_ppt_shm){.id = map->id};
	if (!map->writable || map->bytes < sizeof(struct ctp_ppt_control) || !ctp_ppt_memory_peek(a->memory, ours_at, &ours) ||
	    !ctp_ppt_memory_peek(a->memory, n_at, &n) || !ctp_ppt_control_closing(&ours, &n))
		return;
	ctp_ppt_memory_poke(a->memory, n_at, n);
	ctp_ppt_memory_poke(a->memory, ours_at, ours);
}

/* A segment of an agent like us that the client still has, although its variables do not name it. */
static void free_stale(struct ctp_ppt_attach *a)
{
	struct ctp_ppt_shm_map maps[CTP_PPT_SHM_MAPS_MAX];
	size_t n = ctp_ppt_shm_maps(a->memory, a->memory->pid, -1, maps, CTP_PPT_SHM_MAPS_MAX);
	uint32_t ours;
	for (size_t i = 0; i < n && !a->freed.id; i++)
		if (ctp_ppt_memory_peek(a->memory, maps[i].base + offsetof(struct ctp_ppt_control, ours), &ours) &&
		    (ours & ~(uint32_t)CTP_PPT_CONTROL_CLOSING) == ctp_ppt_control_mark(hmem_at(a)))
			free_map(a, &maps[i]);
}

/*
 * A segment that hmem names. It is left alone if the process does not have it. If its agent has ended, and the process can write to
 * it and could remove it itself, it is removed: it is gone when the client has let go of it. (Ours are marked for removal when they
 * are made.)
 */
static void free_left(struct ctp_ppt_attach *a, const struct ctp_ppt_user *user)
{
	struct ctp_ppt_shm_map map;
	struct ctp_ppt_shm_state shm = ctp_ppt_shm_look(user->id);
	if (!ctp_ppt_shm_find(a->memory, a->memory->pid, user->id, &map))
		return;
	free_map(a, &map);
	if (user->use == CTP_PPT_ABANDONED && user->pid && shm.creator == user->pid && map.writable &&
	    (shm.owner == a->user || shm.maker == a->user))
		shmctl(user->id, IPC_RMID, NULL);
}

static void say_left(const struct ctp_ppt_attach *a, const struct ctp_ppt_user *user, const struct ctp_notice *notice)
{
	if (user->use == CTP_PPT_USED)
		ctp_notice_say(notice, "%s: taken from process %d, which is attached", a->buffer->label, (int)user->pid);
	else if (user->pid)
		ctp_notice_say(notice, "%s: process %d was attached, and has died without letting go; recovered", a->buffer->label, (int)user->pid);
	else
		ctp_notice_say(notice, "%s: an agent has left a segment; recovered", a->buffer->label);
}

enum ctp_status ctp_ppt_attach_begin(struct ctp_ppt_attach *a, bool force, const struct ctp_notice *notice, struct ctp_err *err)
{
	struct ctp_ppt_user user;
	if (!ctp_ppt_attach_user(a->memory, a->buffer, &user))
		return gone(a, err);
	if (user.use == CTP_PPT_USED && !force)
		return ctp_err_set(err, "%s: process %d is attached to it; --force takes it away from that one", a->buffer->label, (int)user.pid);
	errno = 0;
	if (!ctp_ppt_memory_poke(a->memory, stat_at(a), (uint32_t)getpid()))
		return errno && errno != EIO && errno != ETIMEDOUT ? ctp_err_sys(err, "%s: cannot be written to", a->buffer->label) : gone(a, err);
	a->claimed = true;
	a->stage = CTP_PPT_FREEING;
	if (user.use != CTP_PPT_FREE)
		say_left(a, &user, notice);
	if (user.id) {
		free_left(a, &user);
		if (!ctp_ppt_memory_poke(a->memory, hmem_at(a), 0))
			return gone(a, err);
	} else {
		free_stale(a);
	}
	return CTP_OK;
}

/* --- on the way in --------------------------------------------------------------------------------------------------------- */

static bool is_let_go(const struct ctp_ppt_attach *a, const struct ctp_ppt_shm *shm)
{
	struct ctp_ppt_shm_map map;
	return ctp_ppt_shm_look(shm->id).attached <= (shm->at ? 1 : 0) || !ctp_ppt_shm_find(a->memory, a->memory->pid, shm->id, &map);
}

static enum ctp_status publish(struct ctp_ppt_attach *a, struct ctp_err *err)
{
	uint32_t stat;
	assert(a->claimed && a->shm.id);
	if (!ctp_ppt_memory_peek(a->memory, stat_at(a), &stat))
		return gone(a, err);
	if (stat != (uint32_t)getpid())
		return ctp_err_set(err, "%s: process %d has attached at the same time", a->buffer->label, (int)stat);
	if (!ctp_ppt_memory_poke(a->memory, hmem_at(a), (uint32_t)a->shm.id))
		return gone(a, err);
	a->published = true;
	a->stage = CTP_PPT_WAITING;
	return CTP_OK;
}

static enum ctp_status finish_freeing(struct ctp_ppt_attach *a, struct ctp_err *err)
{
	if (a->freed.id && !is_let_go(a, &a->freed))
		return CTP_OK;
	ctp_ppt_shm_free(&a->freed);
	return make_segment(a, err) ? CTP_FAILED : publish(a, err);
}

static enum ctp_status is_refused(struct ctp_ppt_attach *a, struct ctp_err *err)
{
	uint32_t hmem;
	bool readable = ctp_ppt_memory_peek(a->memory, hmem_at(a), &hmem);
	/* It may have attached since the caller looked, and have ended then. */
	if (atomic_load_explicit(&control_of(a)->data_id_attached, memory_order_acquire))
		return CTP_OK;
	if (!readable)
		return gone(a, err);
	if (hmem == (uint32_t)a->shm.id)
		return CTP_OK;
	if (!hmem && ++a->refusals < REFUSALS_MAX) /* the 0 may have been meant for an earlier segment */
		return publish(a, err);
	if (!hmem)
		return ctp_err_set(err, "%s: the process cannot attach the segment: it may lack memory, or a sandbox forbids shmat", a->buffer->label);
	return ctp_err_set(err, "%s: another agent has attached at the same time", a->buffer->label);
}

/*
 * Of the client's perf_event_attr: the ring begins at S + (S mod stride), where S is the size of the control block. 0: not known.
 */
static uint32_t find_attr_bytes(uint64_t offset, uint32_t stride)
{
	static const uint32_t sizes[] = {128, 112, 136, 120, 104, 96, 80, 72, 64};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint64_t s = sizeof(struct ctp_ppt_control) + CTP_PPT_CONTROL_COUNTERS * (uint64_t)(CTP_PPT_CONTROL_ENTRY + sizes[i]);
		if (s + s % stride == offset)
			return sizes[i];
	}
	return 0;
}

/* The process writes no more to the segment: none but us has it, or the memory of the process is gone. */
static bool has_let_go(const struct ctp_ppt_attach *a)
{
	uint32_t hmem;
	return ctp_ppt_shm_look(a->shm.id).attached <= 1 || !ctp_ppt_memory_peek(a->memory, hmem_at(a), &hmem);
}

/*
 * Where in our segment an address of the process is. A process that has let go since it attached, or has ended, does not show where
 * it had the segment. But a segment begins with a page, and the ring is in the first one. CTP_EOF: not yet known.
 */
static enum ctp_status find_offset(const struct ctp_ppt_attach *a, uint64_t data, uint64_t *offset)
{
	struct ctp_ppt_shm_map map;
	if (ctp_ppt_shm_find(a->memory, a->memory->pid, a->shm.id, &map)) {
		*offset = data - map.base;
		return data >= map.base ? CTP_OK : CTP_FAILED;
	}
	if (!has_let_go(a))
		return CTP_EOF;
	*offset = data % (uint64_t)sysconf(_SC_PAGESIZE);
	return find_attr_bytes(*offset, a->layout->stride) ? CTP_OK : CTP_FAILED;
}

/* The ring as the client describes it. Each word is read once, and refused if it leads out of our segment. CTP_EOF: not yet. */
static enum ctp_status find_ring(struct ctp_ppt_attach *a, uint64_t *offset, struct ctp_err *err)
{
	struct ctp_ppt_control *c = control_of(a);
	const struct ctp_ppt_layout *l = a->layout;
	const struct ctp_ppt_frame *f = l->frames;
	uint64_t data = atomic_load_explicit(&c->data, memory_order_relaxed);
	uint64_t slots = atomic_load_explicit(&c->slots, memory_order_relaxed);
	enum ctp_status found_at = CTP_EOF;
	if (data && slots)
		found_at = find_offset(a, data, offset);
	if (found_at == CTP_EOF)
		return CTP_EOF;
	if (found_at || *offset % sizeof(uint32_t) || *offset > a->shm.bytes || slots > UINT32_MAX ||
	    slots > (a->shm.bytes - *offset) / l->stride)
		return ctp_err_set(err, "%s: the process says that its %" PRIu64 " slots are at 0x%" PRIx64 ", which is not in the segment",
		                   a->buffer->label, slots, data);
	struct ctp_ppt_ring found = {.data = (char *)a->shm.at + *offset, .slots = (uint32_t)slots, .stride = l->stride,
	                             .size = l->size, .front = f->members[f->front].offset, .back = f->members[f->back].offset};
	if (found.stride % sizeof(uint32_t) || found.size % sizeof(uint32_t) || found.front % sizeof(uint32_t) ||
	    found.back % sizeof(uint32_t))
		return ctp_err_set(err, "%s: its frames of %" PRIu32 " bytes are not made of words", a->buffer->label, l->size);
	assert(found.slots && found.size <= found.stride);
	a->ring = found; /* only now: a ring that was refused is not read */
	return CTP_OK;
}

/* The client has attached without counters, which shows the size of its block. It attaches once more, with counters. */
static enum ctp_status stop_probing(struct ctp_ppt_attach *a, uint64_t offset, struct ctp_err *err)
{
	a->attr_bytes = find_attr_bytes(offset, a->layout->stride);
	if (a->attr_bytes < CTP_PPT_ATTR_BYTES)
		return ctp_err_set(err, "%s: where a second counter belongs is not known of this program; take one", a->buffer->label);
	ctp_ppt_attach_leave(a);
	a->freed = a->shm;
	a->shm = (struct ctp_ppt_shm){0};
	a->ring = (struct ctp_ppt_ring){0};
	a->stage = CTP_PPT_FREEING;
	return CTP_OK;
}

static enum ctp_status finish_waiting(struct ctp_ppt_attach *a, struct ctp_err *err)
{
	uint64_t offset, id = atomic_load_explicit(&control_of(a)->data_id_attached, memory_order_acquire);
	if (!id)
		return is_refused(a, err);
	if (id != (uint64_t)a->shm.id)
		return ctp_err_set(err, "%s: the process says that it has attached %" PRIu64 ", and not %d", a->buffer->label, id,
		                   a->shm.id);
	enum ctp_status status = find_ring(a, &offset, err);
	if (status == CTP_EOF && !atomic_load_explicit(&control_of(a)->slots, memory_order_relaxed) && ++a->empty == EMPTY_LOOKS)
		return ctp_err_set(err, "%s: the process says that it has attached, and that its ring has 0 slots", a->buffer->label);
	if (status)
		return status == CTP_EOF ? is_refused(a, err) : CTP_FAILED;
	if (a->probing)
		return stop_probing(a, offset, err);
	a->stage = CTP_PPT_ATTACHED;
	return CTP_OK;
}

/* The client may have attached after the last look, and before hmem was 0. Without counters its frames are complete. */
static void finish_leaving(struct ctp_ppt_attach *a)
{
	struct ctp_err ignored;
	uint64_t offset;
	bool over = is_let_go(a, &a->shm);
	uint64_t id = atomic_load_explicit(&control_of(a)->data_id_attached, memory_order_acquire);
	if (!a->ring.slots && !a->counters->n && id == (uint64_t)a->shm.id)
		find_ring(a, &offset, &ignored);
	if (over)
		a->stage = CTP_PPT_OVER;
}

enum ctp_status ctp_ppt_attach_step(struct ctp_ppt_attach *a, struct ctp_err *err)
{
	switch (a->stage) {
	case CTP_PPT_FREEING:
		return finish_freeing(a, err);
	case CTP_PPT_WAITING:
		return finish_waiting(a, err);
	case CTP_PPT_LEAVING:
		finish_leaving(a);
		return CTP_OK;
	default:
		return CTP_OK;
	}
}

/* --- attached -------------------------------------------------------------------------------------------------------------- */

/* Both words as they were at one moment: stat is read before and after hmem, and is the same. False: errno. */
static bool peek_both(const struct ctp_ppt_attach *a, uint32_t *stat, uint32_t *hmem)
{
	enum { TRIES = 3 };
	uint32_t before;
	bool read = ctp_ppt_memory_peek(a->memory, stat_at(a), stat);
	for (int i = 0; read && i < TRIES; i++) {
		before = *stat;
		read = ctp_ppt_memory_peek(a->memory, hmem_at(a), hmem) && ctp_ppt_memory_peek(a->memory, stat_at(a), stat);
		if (before == *stat)
			break;
	}
	return read;
}

/*
 * An agent writes its number to stat before it changes hmem. A library that was loaded again has 0 in both. An agent that takes a
 * buffer from us marks our segment as closing, as we do.
 */
enum ctp_ppt_hold ctp_ppt_attach_holds(const struct ctp_ppt_attach *a, struct ctp_err *err)
{
	uint32_t stat, hmem;
	assert(a->stage == CTP_PPT_ATTACHED && a->published);
	errno = 0;
	if (!peek_both(a, &stat, &hmem)) {
		bool closed = errno == EIO;
		gone(a, err);
		return closed ? CTP_PPT_CLOSED : CTP_PPT_GONE;
	}
	if (stat == (uint32_t)getpid() && hmem == (uint32_t)a->shm.id)
		return CTP_PPT_HELD;
	if (stat == (uint32_t)getpid() && !hmem && a->layout->by_header) {
		ctp_err_set(err, "%s: the program has closed it", a->buffer->label);
		return CTP_PPT_CLOSED;
	}
	if (!stat && !hmem && !(atomic_load_explicit(&control_of(a)->ours, memory_order_relaxed) & CTP_PPT_CONTROL_CLOSING)) {
		ctp_err_set(err, "%s: the program has closed it: its library was loaded again", a->buffer->label);
		return CTP_PPT_CLOSED;
	}
	if (stat != (uint32_t)getpid() && stat)
		ctp_err_set(err, "%s: process %d has taken it over", a->buffer->label, (int)stat);
	else
		ctp_err_set(err, "%s: another agent has let go of it for us%s", a->buffer->label, stat ? ", or the program has closed it" : "");
	return CTP_PPT_TAKEN;
}

unsigned ctp_ppt_attach_troubles(struct ctp_ppt_attach *a)
{
	uint64_t flags = atomic_load_explicit(&control_of(a)->client_flags, memory_order_relaxed);
	unsigned troubles = 0;
	if (a->ncounters && a->ring.begun) {
		bool none = a->stage == CTP_PPT_ATTACHED && !atomic_load_explicit(&control_of(a)->ncounters, memory_order_relaxed);
		troubles |= none || flags & CTP_PPT_CLIENT_UNOPENED ? CTP_PPT_UNCOUNTED : 0;
		troubles |= flags & CTP_PPT_CLIENT_CROWDED ? CTP_PPT_CROWDED : 0;
	}
	if (a->stage == CTP_PPT_ATTACHED && !(a->troubles & CTP_PPT_SHARED)) {
		a->shared = ctp_ppt_shm_look(a->shm.id).attached > 2 ? a->shared + 1 : 0; /* the process and we */
		troubles |= a->shared == SHARED_LOOKS ? CTP_PPT_SHARED : 0;
	}
	troubles &= ~a->troubles;
	a->troubles |= troubles;
	return troubles;
}

/*
 * The kernel keeps the number of the process that was the last to attach, fork or let go. So a child is noticed that has ended, or
 * become another program, since the last call. The process and we have the ring; only we, when the process has let go.
 */
bool ctp_ppt_attach_others(struct ctp_ppt_attach *a)
{
	struct ctp_ppt_shm_map map;
	struct ctp_ppt_shm_state now = ctp_ppt_shm_look(a->shm.id);
	bool was = now.last != a->memory->pid && now.last != getpid() && (now.last != a->last || now.let_go_s != a->last_s);
	a->last = now.last;
	a->last_s = now.let_go_s;
	/* Of two processes we are one. The target may let go while its mappings are read, so that the number is asked for again. */
	return was || now.attached > 2 || (now.attached == 2 && a->stage > CTP_PPT_ATTACHED &&
	       !ctp_ppt_shm_find(a->memory, a->memory->pid, a->shm.id, &map) && ctp_ppt_shm_look(a->shm.id).attached == 2);
}

/* --- on the way out -------------------------------------------------------------------------------------------------------- */

void ctp_ppt_attach_leave(struct ctp_ppt_attach *a)
{
	uint32_t hmem;
	bool ours = a->published && ctp_ppt_memory_peek(a->memory, hmem_at(a), &hmem) && hmem == (uint32_t)a->shm.id;
	if (ours)
		ctp_ppt_control_close(a->shm.at);
	/*
	 * Pairs with the client, which loads hmem and then ncounters: ncounters must be written before hmem, which the kernel
	 * copies.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	if (ours)
		ctp_ppt_memory_poke(a->memory, hmem_at(a), 0);
	a->stage = a->published ? CTP_PPT_LEAVING : CTP_PPT_OVER;
	a->published = false;
}

void ctp_ppt_attach_release(struct ctp_ppt_attach *a)
{
	uint32_t stat;
	if (a->published)
		ctp_ppt_attach_leave(a);
	if (a->claimed && ctp_ppt_memory_peek(a->memory, stat_at(a), &stat) && stat == (uint32_t)getpid())
		ctp_ppt_memory_poke(a->memory, stat_at(a), 0);
	a->claimed = false;
	a->stage = CTP_PPT_OVER;
	assert(!a->published);
}

void ctp_ppt_attach_end(struct ctp_ppt_attach *a)
{
	ctp_ppt_attach_release(a);
	assert(!a->claimed);
	ctp_ppt_shm_free(&a->freed);
	ctp_ppt_shm_free(&a->shm);
}
