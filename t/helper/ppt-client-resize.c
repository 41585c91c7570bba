/*
 * ppt-client-resize.c - a program for ctp-ppt to attach to, with a buffer that can be resized while attached: the document's, for
 * no generator makes one.
 *
 * The symbols have the document's spelling, __ppt_Grow_stat; the _json says {"contents":true,"tag":"EBufferResize"} in _eOptions.
 * hmem is the segment with the control block, which has the layout of generated clients, and data_block_hmem in it the one with the
 * slots, from its first byte on. Where data_block_hmem is another than data_block_hmem_attached, the next save lets go of the old
 * block, begins in slot 0 of the new one, and then says so: address and size first, data_block_hmem_attached last. Numbers go on.
 * One that cannot be attached leaves the old block in use. One thread; frames as in ppt-client.c.
 */
#include "ppt-byhand.h"
#include <stdlib.h>

static const char usage[] =
	"usage: ppt-client-resize [options]\n"
	"  -r N     calls of save a second (1000; 0: flat out)\n"
	"  -n N     ends after N calls (0: never)\n"
	"  -s N     ends after N frames were saved (0: never)\n"
	"  -q N     the first sequence number (1)\n";

#define SYMBOL __attribute__((used, visibility("default")))

extern int __ppt_Grow_stat, __ppt_Grow_hmem;
extern const char *__ppt_Grow_json;
SYMBOL int __ppt_Grow_stat, __ppt_Grow_hmem;
SYMBOL const char *__ppt_Grow_json = BYHAND_JSON("Grow", 64, "{\"contents\":true,\"tag\":\"EBufferResize\"}", "ETimeClockMonotonic", "",
	BYHAND_MARK);

static struct {
	struct byhand_control *control;
	struct byhand_mark *slots;
	uint64_t data_id, count, refused;
	int next, first;
	unsigned long saved, attaches, detaches, resizes;
} grow = { .next = 1 };
static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static bool attach_data(uint64_t id)
{
	struct shmid_ds ds;
	void *at = (void *)-1;
	if (id && id != grow.refused && !shmctl((int)id, IPC_STAT, &ds) && ds.shm_segsz >= sizeof(struct byhand_mark))
		at = shmat((int)id, NULL, 0);
	if (at == (void *)-1) {
		grow.refused = id;
		return false;
	}
	if (grow.slots)
		shmdt(grow.slots);
	grow.slots = at;
	grow.data_id = id;
	grow.count = ds.shm_segsz / sizeof(struct byhand_mark);
	grow.first = grow.next;
	grow.control->data_block = (uintptr_t)at;
	grow.control->data_block_sz = grow.count;
	__atomic_store_n(&grow.control->data_block_hmem_attached, id, __ATOMIC_RELEASE);
	return true;
}

static void attach(int id)
{
	void *at = shmat(id, NULL, 0);
	if (at == (void *)-1) {
		__ppt_Grow_hmem = 0;
		return;
	}
	grow.control = at;
	grow.refused = 0;
	if (!attach_data(__atomic_load_n(&grow.control->data_block_hmem, __ATOMIC_ACQUIRE))) {
		shmdt(grow.control);
		grow.control = NULL;
		__ppt_Grow_hmem = 0;
		return;
	}
	grow.attaches++;
}

static void detach(void)
{
	shmdt(grow.slots);
	shmdt(grow.control);
	grow.slots = NULL;
	grow.control = NULL;
	grow.detaches++;
}

static bool ready(void)
{
	int id = __atomic_load_n(&__ppt_Grow_hmem, __ATOMIC_ACQUIRE);
	if (!id && grow.control)
		detach();
	if (id && !grow.control)
		attach(id);
	if (!grow.control)
		return false;
	uint64_t data_id = __atomic_load_n(&grow.control->data_block_hmem, __ATOMIC_ACQUIRE);
	if (data_id != grow.data_id)
		grow.resizes += attach_data(data_id);
	return true;
}

static void save(int n)
{
	if (!ready())
		return;
	int seq = grow.next++;
	struct byhand_mark *slot = &grow.slots[((uint32_t)seq - (uint32_t)grow.first) % grow.count];
	__atomic_store_n(&slot->front, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->back, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&slot->front, seq, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	slot->n = n;
	slot->x = n / 2.0;
	slot->at = byhand_now(CLOCK_MONOTONIC);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&slot->back, seq, __ATOMIC_RELAXED);
	grow.saved++;
}

int main(int argc, char **argv)
{
	unsigned long rate = 1000, calls = 0, frames = 0;
	for (int o; (o = getopt(argc, argv, "r:n:s:q:")) != -1;)
		switch (o) {
		case 'r': rate = strtoul(optarg, NULL, 10); break;
		case 'n': calls = strtoul(optarg, NULL, 10); break;
		case 's': frames = strtoul(optarg, NULL, 10); break;
		case 'q': grow.next = (int)strtoul(optarg, NULL, 10); break;
		default: return fputs(usage, stderr), 2;
		}
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = end }, NULL);
	puts("ready");
	fflush(stdout);
	for (unsigned long i = 0; !ended && (!calls || i < calls) && (!frames || grow.saved < frames); i++) {
		save((int)i);
		if (rate)
			nanosleep(&(struct timespec){ rate == 1, rate == 1 ? 0 : (long)(1000000000 / rate) }, NULL);
	}
	printf("Grow: %lu saved, %lu attaches, %lu detaches, next %d, %lu resizes\n", grow.saved, grow.attaches, grow.detaches, grow.next,
	       grow.resizes);
	return 0;
}
