/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-client-sdk.c - a program for ctp-ppt to attach to, made with sdk/ppt: the options of ppt-client.c, as far as they apply.
 *
 * The buffer Sdk has two types of frames, Mark has one. What a frame holds follows from its n: x is n / 2, f is n % 1000, b is
 * n % 256. Frame n of thread t is n = t * 2^24 + (0, 1, 2 ... modulo 2^24), and even ones of Sdk are requests. At SIGUSR1 Sdk is closed. At the
 * end, which may come by SIGTERM, it prints how many calls of save there were, and whether descriptor 0 is open.
 */
#include "ppt.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

PPT_BUFFER(Sdk, 512, monotonic,
           (request, (int, n), (float, f), (interval_time, d), (interval_counter, ev)),
           (tick, (double, x), (time, at), (int, n), (byte, b)));
PPT_BUFFER(Mark, 64, monotonic, (mark, (int, n), (double, x), (time, at)));

static const char usage[] =
	"usage: ppt-client-sdk [options]\n"
	"  -t N     threads (1)\n"
	"  -r N     calls of save a second, of each thread (1000; 0: flat out)\n"
	"  -n N     ends after N calls of each thread (0: never)\n"
	"  -i       idle: never calls save\n"
	"  -2       saves to Mark too\n"
	"  -f       forks all the time, and the children save frames with numbers below zero\n";

static struct {
	unsigned long threads, rate, calls;
	bool idle, two;
} opt = {.threads = 1, .rate = 1000};
static atomic_int ended, closes;
static unsigned long saves;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static void ask_to_close(int sig)
{
	(void)sig;
	closes = 1;
}

static void save(int n)
{
	if (atomic_load_explicit(&closes, memory_order_relaxed) && atomic_exchange(&closes, 0))
		ppt_Sdk_close();
	if (n % 2 == 0) {
		struct ppt_Sdk_request r = {.n = n, .f = (float)(n % 1000)};
		ppt_Sdk_request_d_start(&r);
		ppt_Sdk_request_ev_start(&r);
		ppt_Sdk_request_ev_end(&r);
		ppt_Sdk_request_d_end(&r);
		ppt_Sdk_request_save(&r);
	} else {
		struct ppt_Sdk_tick t = {.x = n / 2.0, .n = n, .b = (uint8_t)(n % 256)};
		ppt_Sdk_tick_at_now(&t);
		ppt_Sdk_tick_save(&t);
	}
	if (opt.two) {
		struct ppt_Mark_mark m = {.n = n, .x = n / 2.0};
		ppt_Mark_mark_at_now(&m);
		ppt_Mark_mark_save(&m);
	}
}

static void *work(void *arg)
{
	int first = (int)(uintptr_t)arg << 24;
	unsigned long calls = 0;
	for (; !ended && (!opt.calls || calls < opt.calls); calls++) {
		if (!opt.idle)
			save(first + (int)(calls & 0xffffff));
		if (opt.rate || opt.idle) {
			unsigned long ns = opt.idle ? 10000000 : 1000000000 / opt.rate;
			nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
		}
	}
	__atomic_add_fetch(&saves, calls, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[128];
	bool forks = false;
	for (int o; (o = getopt(argc, argv, "t:r:n:i2f")) != -1;)
		switch (o) {
		case 't': opt.threads = strtoul(optarg, NULL, 10); break;
		case 'r': opt.rate = strtoul(optarg, NULL, 10); break;
		case 'n': opt.calls = strtoul(optarg, NULL, 10); break;
		case 'i': opt.idle = true; break;
		case '2': opt.two = true; break;
		case 'f': forks = true; break;
		default: return fputs(usage, stderr), 2;
		}
	if (optind < argc || !opt.threads || opt.threads > 128)
		return fputs(usage, stderr), 2;
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ask_to_close}, NULL);
	for (unsigned long i = 0; i < opt.threads; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	puts("ready");
	fflush(stdout);
	while (forks && !ended) {
		pid_t pid = fork();
		if (!pid) {
			for (int n = 2; n < 100; n++)
				save(-n);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		usleep(1000);
	}
	for (unsigned long i = 0; i < opt.threads; i++)
		pthread_join(threads[i], NULL);
	printf("%lu calls\nfd 0: %s\n", saves, fcntl(0, F_GETFD) < 0 ? "closed" : "open");
	return 0;
}
