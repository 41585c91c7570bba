/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-planted.c - a program with ppt buffers that hold traps for ctp-ppt; it saves nothing.
 *
 *	foreign PID ID [ro|rw]   the variables of Held say that PID is attached by the segment ID; ro, rw: so has this program
 *	large                    nothing: Large1 to Large4 have frames of 1 MiB
 *	json FILE                the description of Held is in a page of FILE
 *	variables FILE           the variables of Held are
 *	code FILE                nothing: a page of FILE is mapped as code
 *	arguments FILE           the arguments of the process are, as /proc shows them
 *
 * It prints "ready", and ends at SIGTERM.
 */
#include "ppt-byhand.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* In a page of their own, also where that is 64 KiB. */
__asm__(".pushsection .data\n"
	".balign 65536\n"
	".globl _ppt_stat_Held, _ppt_hmem_Held\n"
	".type _ppt_stat_Held, %object\n"
	".type _ppt_hmem_Held, %object\n"
	".size _ppt_stat_Held, 4\n"
	".size _ppt_hmem_Held, 4\n"
	"_ppt_stat_Held: .long 0\n"
	"_ppt_hmem_Held: .long 0\n"
	".balign 65536\n"
	".popsection\n");
extern int _ppt_stat_Held, _ppt_hmem_Held;
extern const char *_ppt_json_Held;

#define SYMBOL __attribute__((used, visibility("default")))
SYMBOL const char *_ppt_json_Held = BYHAND_JSON("Held", 64, "", "ETimeClockMonotonic", "", BYHAND_MARK);

#define LARGE(name)                                                                                                                    \
	extern int _ppt_stat_##name, _ppt_hmem_##name;                                                                                 \
	extern const char *_ppt_json_##name;                                                                                           \
	SYMBOL int _ppt_stat_##name, _ppt_hmem_##name;                                                                                 \
	SYMBOL const char *_ppt_json_##name = BYHAND_JSON(#name, 64, "", "ETimeClockMonotonic", "",                                    \
		BYHAND_FRAME("block", BYHAND_ELEMENT("n", "false", BYHAND_INT),                                                        \
			BYHAND_FRONT BYHAND_MEMBER("n", 4, 4, 4, BYHAND_INT) BYHAND_BACK(1048572)))
LARGE(Large1);
LARGE(Large2);
LARGE(Large3);
LARGE(Large4);

static void *map(const char *file, void *at, int prot)
{
	int fd = open(file, O_RDONLY);
	void *page = fd < 0 ? MAP_FAILED : mmap(at, 4096, PROT_READ | prot, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);
	if (page == MAP_FAILED) {
		perror(file);
		exit(1);
	}
	return page;
}

/* /proc/PID/cmdline is there from now on. False: this system does not let us. */
static bool move_arguments(char *to)
{
	unsigned long long n[52] = {0};
	FILE *in = fopen("/proc/self/stat", "r");
	char line[1024], *at = in && fgets(line, sizeof line, in) ? strrchr(line, ')') : NULL;
	for (int i = 3; at && i < 52; i++) { /* its fields, as proc_pid_stat(5) numbers them; the third is a letter */
		at = strchr(at + 1, ' ');
		n[i] = at ? strtoull(at + 1, NULL, 10) : 0;
	}
	struct prctl_mm_map map = {
		.start_code = n[26], .end_code = n[27], .start_stack = n[28], .start_data = n[45], .end_data = n[46], .start_brk = n[47],
		.brk = (uintptr_t)sbrk(0), .arg_start = (uintptr_t)to, .arg_end = (uintptr_t)to + 100, .env_start = n[50], .env_end = n[51],
		.exe_fd = (uint32_t)-1,
	};
	return !prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
}

static void plant(const char *what, char **arg)
{
	if (!strcmp(what, "foreign")) {
		_ppt_stat_Held = atoi(arg[0]);
		_ppt_hmem_Held = atoi(arg[1]);
		if (arg[2] && shmat(_ppt_hmem_Held, NULL, strcmp(arg[2], "ro") ? 0 : SHM_RDONLY) == (void *)-1)
			exit(1);
	} else if (!strcmp(what, "json")) {
		_ppt_json_Held = map(arg[0], NULL, 0);
	} else if (!strcmp(what, "code")) {
		map(arg[0], NULL, PROT_EXEC);
	} else if (!strcmp(what, "variables")) {
		map(arg[0], &_ppt_stat_Held, PROT_WRITE);
	} else if (!strcmp(what, "arguments")) {
		if (!move_arguments(map(arg[0], NULL, 0)))
			perror("prctl");
	}
}

int main(int argc, char **argv)
{
	sigset_t term;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	if (argc > 1)
		plant(argv[1], argv + 2);
	puts("ready");
	fflush(stdout);
	sigwaitinfo(&term, NULL);
	return 0;
}
