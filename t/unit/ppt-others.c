/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-others.c - whether another process is attached to the ring of a process that detaches: a child is, or none, whenever the
 * process detaches.
 *
 * The process is a child of this test, and does what a byte in a pipe says. shmctl(2) is the test's own, so that the process
 * detaches just after the number of attached processes was read.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ppt/ppt-attach.h"

#include "must.h"
#include "tap.h"

struct process {
	pid_t pid;
	int ask, answer; /* pipes */
};

/* The process that detaches its segment, and the number of shmctl calls until it does; 0: it does not. */
static struct {
	const struct process *process;
	unsigned after;
} letting_go;

static void order(const struct process *p, char what)
{
	char done;
	must(write(p->ask, &what, 1) == 1 && read(p->answer, &done, 1) == 1 && done == what,
	     "the process did not do as it was asked");
}

int shmctl(int id, int command, struct shmid_ds *ds)
{
	int result = (int)syscall(SYS_shmctl, id, command, ds);
	if (command == IPC_STAT && letting_go.after && !--letting_go.after)
		order(letting_go.process, 'd');
	return result;
}

/* 'd': detaches. 'f': forks a child, which keeps the segment. 'e': that child ends. */
static void live(int id, int asked, int answers)
{
	pid_t child = 0;
	void *at = shmat(id, NULL, 0);
	char what = 'a';
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(at != (void *)-1, "shmat");
	do {
		if (what == 'd')
			must(!shmdt(at), "shmdt");
		if (what == 'f' && !(child = fork())) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		if (what == 'e')
			must(!kill(child, SIGKILL) && waitpid(child, NULL, 0) == child, "the child did not end");
		must(write(answers, &what, 1) == 1, "no answer was written");
	} while (read(asked, &what, 1) == 1);
	_exit(0);
}

static struct process begin(int id)
{
	struct process p;
	int ask[2], answer[2];
	char ready;
	must(!pipe(ask) && !pipe(answer), "pipes");
	p = (struct process){.pid = fork(), .ask = ask[1], .answer = answer[0]};
	if (!p.pid) {
		close(ask[1]);
		close(answer[0]);
		live(id, ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	must(p.pid > 0 && read(p.answer, &ready, 1) == 1 && ready == 'a', "no process with the segment");
	return p;
}

static void end(const struct process *p)
{
	close(p->ask);
	close(p->answer);
	waitpid(p->pid, NULL, 0);
}

/* Attaches to a ring that no process's hmem names any more. */
static void with(void (*test)(struct ctp_ppt_attach *, const struct process *))
{
	struct ctp_err err = {0};
	struct ctp_ppt_memory memory;
	struct ctp_ppt_attach a = {.memory = &memory, .stage = CTP_PPT_LEAVING};
	if (ctp_ppt_shm_new(&a.shm, 4096, (uid_t)-1, &err))
		skip_all(err.text);
	struct process p = begin(a.shm.id);
	if (ctp_ppt_memory_open(&memory, p.pid, false, &err))
		skip_all(err.text);
	ctp_ppt_attach_others(&a); /* remembers the last process */
	test(&a, &p);
	ctp_ppt_memory_close(&memory);
	end(&p);
	ctp_ppt_shm_free(&a.shm);
}

static void test_alone(struct ctp_ppt_attach *a, const struct process *p)
{
	ok(!ctp_ppt_attach_others(a), "only the process is attached");
	order(p, 'd');
	ok(!ctp_ppt_attach_others(a), "when it has detached, no process is attached");
}

static void test_race(struct ctp_ppt_attach *a, const struct process *p)
{
	letting_go.process = p;
	letting_go.after = 1;
	ok(!ctp_ppt_attach_others(a), "a process that detaches between the two checks is not counted as two");
	is_u64(letting_go.after, 0, "  it has detached");
	is_u64(ctp_ppt_shm_look(a->shm.id).attached, 1, "  only the test is attached then");
}

static void test_child(struct ctp_ppt_attach *a, const struct process *p)
{
	order(p, 'f');
	ok(ctp_ppt_attach_others(a), "a child is attached besides the process");
	order(p, 'd');
	ok(ctp_ppt_attach_others(a), "the child is still attached when the process has detached");
	order(p, 'e');
	ok(ctp_ppt_attach_others(a), "a child that has just ended counts once more");
	ok(!ctp_ppt_attach_others(a), "after that no process is attached");
}

int main(void)
{
	with(test_alone);
	with(test_race);
	with(test_child);
	return done_testing();
}
