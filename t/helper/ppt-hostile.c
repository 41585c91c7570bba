/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-hostile.c - a program whose ppt buffers give ctp-ppt false data: description, segment and ring.
 *
 * Its name for a lie is its operand; see `lies`. It acts as a client does when it attaches, once, and ends at SIGTERM.
 */
#include "ppt-byhand.h"
#include <stdlib.h>
#include <sys/mman.h>

#define SYMBOL __attribute__((used, visibility("default")))
#define JSON(offset, back) JSON_WITH("", offset, back)
#define JSON_WITH(options, offset, back) \
	BYHAND_JSON("Liar", 64, options, "ETimeClockMonotonic", "", \
		BYHAND_FRAME("mark",                                                                                                   \
			BYHAND_ELEMENT("n", "false", BYHAND_INT),                                                                      \
			BYHAND_FRONT BYHAND_MEMBER("n", offset, 4, 4, BYHAND_INT) BYHAND_MEMBER("x", 8, 8, 8, BYHAND_DOUBLE) BYHAND_BACK(back)))
#define TYPED(name) \
	BYHAND_FRAME(name, BYHAND_ELEMENT("x", "false", BYHAND_DOUBLE), \
		BYHAND_FRONT BYHAND_TYPE BYHAND_MEMBER("x", 8, 8, 8, BYHAND_DOUBLE) BYHAND_BACK(16))
#define JSON_TYPES BYHAND_JSON("Liar", 64, "", "ETimeClockMonotonic", "", TYPED("one") "," TYPED("two"))

extern int _ppt_stat_Liar, _ppt_hmem_Liar;
extern const char *_ppt_json_Liar;
SYMBOL int _ppt_stat_Liar, _ppt_hmem_Liar;
SYMBOL const char *_ppt_json_Liar = JSON(4, 16);

enum { STRIDE = 24 };
static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

/* A gigabyte of text without an end, in two megabytes. */
static const char *endless(void)
{
	enum { PIECE = 2 << 20 };
	size_t all = (size_t)1 << 30;
	int fd = memfd_create("text", 0);
	char *at = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fd < 0 || ftruncate(fd, PIECE) || at == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < all; i += PIECE)
		if (mmap(at + i, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			exit(1);
	memset(at, ' ', PIECE);
	at[0] = '{';
	return at;
}

struct told {
	uint64_t id, data, slots;
};

static void tell_elsewhere(struct told *t) { t->data = 0x1000; }
static void tell_before(struct told *t) { t->data -= 4096; }
static void tell_beyond_end(struct told *t) { t->data += 1 << 30; }
static void tell_odd(struct told *t) { t->data += 1; }
static void tell_many(struct told *t) { t->slots = 1 << 30; }
static void tell_most(struct told *t) { t->slots = UINT64_MAX; }
static void tell_none(struct told *t) { t->slots = 0; }
static void tell_other(struct told *t) { t->id = 4711; }
static void tell_truth(struct told *t) { (void)t; }

static void write_nonsense(uint32_t *slots, size_t words)
{
	uint32_t random = 1;
	for (size_t i = 0; i < words; i++) {
		random = random * 1664525 + 1013904223;
		__atomic_store_n(&slots[i], random % 3 ? random : 1, __ATOMIC_RELAXED);
	}
}

static uint32_t at_random(uint32_t nth) { return nth * 2654435761u >> 1; }
static uint32_t backwards(uint32_t nth) { return 0x7fffffff - nth; }
static uint32_t in_jumps(uint32_t nth) { return nth * 1000003; }
static uint32_t in_turn(uint32_t nth) { return nth; }
static uint32_t in_fewer(uint32_t nth) { return nth; } /* after some, to the first slots alone */
static uint32_t from_elsewhere(uint32_t nth) { return nth <= 30 ? nth : nth + 0x12345678; } /* and in the slots of those numbers */

/* Whole, but for its number, or its type, which is there where the JSON has one: 7. */
static void write_frame(char *slot, uint32_t number)
{
	uint32_t *words = (uint32_t *)slot;
	__atomic_store_n(&words[4], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&words[0], number, __ATOMIC_RELEASE);
	for (int i = 1; i < 4; i++)
		__atomic_store_n(&words[i], 7, __ATOMIC_RELEASE);
	__atomic_store_n(&words[4], number, __ATOMIC_RELEASE);
}

static const struct lie {
	const char *name, *json;
	void (*tell)(struct told *);
	uint32_t (*number)(uint32_t nth);
} lies[] = {
	{"endless", NULL, NULL, NULL},
	{"null", (const char *)8, NULL, NULL},
	{"empty", "", NULL, NULL},
	{"text", "hello", NULL, NULL},
	{"deep", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", NULL, NULL},
	{"abi", "{\"abi\":\"2.0.0\"}", NULL, NULL},
	{"beyond", JSON(1000000000, 16), NULL, NULL},
	{"overlap", JSON(8, 16), NULL, NULL},
	{"resizable", JSON_WITH("{\"contents\":true,\"tag\":\"EBufferResize\"}", 4, 16), NULL, NULL},
	{"elsewhere", JSON(4, 16), tell_elsewhere, NULL},
	{"before", JSON(4, 16), tell_before, NULL},
	{"beyond-end", JSON(4, 16), tell_beyond_end, NULL},
	{"odd", JSON(4, 16), tell_odd, NULL},
	{"many", JSON(4, 16), tell_many, NULL},
	{"most", JSON(4, 16), tell_most, NULL},
	{"none", JSON(4, 16), tell_none, NULL},
	{"other", JSON(4, 16), tell_other, NULL},
	{"nonsense", JSON(4, 16), tell_truth, NULL},
	{"random", JSON(4, 16), tell_truth, at_random},
	{"backwards", JSON(4, 16), tell_truth, backwards},
	{"jumps", JSON(4, 16), tell_truth, in_jumps},
	{"gate", JSON(4, 16), tell_truth, from_elsewhere},
	{"shrinks", JSON(4, 16), tell_truth, in_fewer},
	{"type", JSON_TYPES, tell_truth, in_turn},
	{"exec", JSON(4, 16), tell_truth, NULL},
};

static void attach(const struct lie *lie)
{
	struct shmid_ds ds;
	int id = __atomic_load_n(&_ppt_hmem_Liar, __ATOMIC_RELAXED);
	char *at = id && !shmctl(id, IPC_STAT, &ds) ? shmat(id, NULL, 0) : (void *)-1;
	if (at == (void *)-1)
		return;
	struct byhand_control *c = (struct byhand_control *)at;
	size_t begin = 464 + 464 % STRIDE;
	struct told t = {.id = (uint64_t)id, .data = (uintptr_t)at + begin, .slots = (ds.shm_segsz - begin) / STRIDE};
	lie->tell(&t);
	c->data_block = t.data;
	c->data_block_sz = t.slots;
	__atomic_store_n(&c->data_block_hmem_attached, t.id, __ATOMIC_RELEASE);
	if (!strcmp(lie->name, "exec")) {
		nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
		execl("/proc/self/exe", "ppt-hostile", "empty", (char *)NULL);
		exit(1);
	}
	for (uint32_t nth = 1; !ended && __atomic_load_n(&_ppt_hmem_Liar, __ATOMIC_RELAXED); nth++) {
		if (!lie->number) {
			write_nonsense((uint32_t *)(at + begin), (ds.shm_segsz - begin) / 4);
			continue;
		}
		uint32_t number = lie->number(nth), index = lie->number == from_elsewhere ? number - 1 : nth - 1;
		if (lie->number == in_fewer && nth > 30)
			c->data_block_sz = t.slots = 16;
		write_frame(at + begin + index % t.slots * STRIDE, number);
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
	shmdt(at);
}

int main(int argc, char **argv)
{
	const struct lie *lie = NULL;
	for (size_t i = 0; argc == 2 && i < sizeof lies / sizeof *lies; i++)
		if (!strcmp(argv[1], lies[i].name))
			lie = &lies[i];
	if (!lie) {
		for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
			puts(lies[i].name);
		return argc > 1;
	}
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
	_ppt_json_Liar = lie->json ? lie->json : endless();
	puts("ready");
	fflush(stdout);
	while (!ended) {
		if (lie->tell)
			attach(lie);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return 0;
}
