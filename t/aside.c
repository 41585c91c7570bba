/* aside.c - work that hangs holds nobody up but itself. */
#include "collect/aside.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

static int gate[2], gone[2];

struct job {
	int in, out;
};

static void twice(void *arg)
{
	struct job *job = arg;
	job->out = 2 * job->in;
}

/* Until something comes through the gate; then it says so. */
static void hang(void *arg)
{
	struct job *job = arg;
	char c;
	ssize_t n = read(gate[0], &c, 1);
	job->out = 7;
	n = write(gone[1], &c, 1);
	(void)n;
}

static void let_go(void)
{
	char c = 0;
	if (write(gate[1], &c, 1) != 1 || read(gone[0], &c, 1) != 1)
		abort();
}

int main(void)
{
	struct ctp_aside *a = ctp_aside_new();
	struct job job = {.in = 4};
	if (!a || pipe(gate) || pipe(gone))
		abort();
	ok(ctp_aside_do(a, twice, &job, sizeof job) && job.out == 8, "work is done");
	job = (struct job){.in = 4, .out = 1};
	ok(!ctp_aside_do(a, hang, &job, sizeof job), "work that hangs is given up");
	ok(!ctp_aside_do(a, twice, &job, sizeof job), "and there is no other meanwhile");
	is_u64(job.out, 1, "a job that was not done is as it was");
	let_go();
	while (!ctp_aside_do(a, twice, &job, sizeof job))
		sched_yield();
	is_u64(job.out, 8, "once it is back, there is");
	ok(!ctp_aside_do(a, hang, &job, sizeof job), "it hangs again");
	ctp_aside_free(a);
	let_go();
	ok(true, "who asked has gone, and it comes back all the same");
	a = ctp_aside_new();
	ctp_aside_free(a);
	a = ctp_aside_new();
	ok(a && ctp_aside_do(a, twice, &job, sizeof job), "another");
	ctp_aside_free(a);
	ctp_aside_free(NULL);
	return done_testing();
}
