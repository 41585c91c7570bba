/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* example.c - a server that ctp-ppt(1) can attach to: `example [REQUESTS]` serves this many requests, a thousand a second. */
#include <ppt.h>
#include <stdlib.h>

PPT_BUFFER(Server, 512, monotonic,
           (request, (int, status), (interval_time, busy), (interval_counter, work)),
           (tick, (time, at), (double, load)));

static int serve(int n)
{
	usleep(1000);
	return n % 10 ? 200 : 404;
}

int main(int argc, char **argv)
{
	struct ppt_Server_request r = {0};
	struct ppt_Server_tick t = {0};
	int requests = argc > 1 ? atoi(argv[1]) : 60000;
	for (int n = 1; n <= requests; n++) {
		ppt_Server_request_busy_start(&r);
		ppt_Server_request_work_start(&r);
		r.status = serve(n);
		ppt_Server_request_work_end(&r);
		ppt_Server_request_busy_end(&r);
		ppt_Server_request_save(&r);
		if (n % 100 == 0) {
			ppt_Server_tick_at_now(&t);
			t.load = (double)n / requests;
			ppt_Server_tick_save(&t);
		}
	}
	return 0;
}
