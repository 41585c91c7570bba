/*
 * ppt-joined.c - a program for ctp-ppt to attach to, made with sdk/ppt: two threads, a buffer with counters and one that can be resized.
 *
 * What a frame holds follows from its n, as in ppt-client.c. Prints "ready", and at SIGTERM how many descriptors it has.
 */
#include "ppt.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

PPT_BUFFER(Work, 512, monotonic, (request, (int, n), (double, x), (interval_time, busy), (interval_counter, ev)), (tick, (time, at), (int, n)));
PPT_BUFFER_RESIZABLE(Stretch, 16, monotonic, (mark, (time, at), (int, n), (double, x)));

static volatile sig_atomic_t ended;
static long rate = 1000;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static void save(int n)
{
	struct ppt_Work_request r = {.n = n, .x = n / 2.0};
	ppt_Work_request_busy_start(&r);
	ppt_Work_request_ev_start(&r);
	struct ppt_Stretch_mark m = {.n = n, .x = n / 2.0};
	ppt_Stretch_mark_at_now(&m);
	ppt_Stretch_mark_save(&m);
	ppt_Work_request_ev_end(&r);
	ppt_Work_request_busy_end(&r);
	ppt_Work_request_save(&r);
	struct ppt_Work_tick t = {.n = n};
	ppt_Work_tick_at_now(&t);
	ppt_Work_tick_save(&t);
}

static void *work(void *arg)
{
	for (int n = (int)(intptr_t)arg; !ended; n += 2) {
		save(n);
		if (rate)
			nanosleep(&(struct timespec){0, 1000000000 / rate}, NULL);
	}
	return NULL;
}

static int descriptors(void)
{
	int n = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int before = descriptors();
	if (argc > 1)
		rate = atol(argv[1]);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
	for (intptr_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	save(0); /* lets go of what an agent has left in the last moment */
	printf("descriptors: %s\n", descriptors() == before ? "as before" : "more");
	return 0;
}
