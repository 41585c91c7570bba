/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-outs.c - each buffer gets a file of its own, whatever its name is. */
#include "ppt/ppt-outs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static bool wait_is_over(void) { return false; }
static void tell(void *arg, size_t i, uint64_t kept, const char *why)
{
	(void)arg;
	diag("%zu is cut: %ju, %s", i, (uintmax_t)kept, why ? why : "");
}

static bool write_section(struct ctp_ppt_outs *outs, size_t i, struct ctp_err *err)
{
	struct ctp_section sec;
	struct ctp_writer *w = ctp_ppt_outs_writer(outs, i, err);
	if (!w)
		return false;
	ctp_section_init(&sec);
	ctp_writer_begin(w, &sec);
	ctp_writer_end(w, true);
	ctp_section_fini(&sec);
	return true;
}

/* An attacker who may write to the folder knows the name that the file will have. */
static void links(void)
{
	static const char *const name[] = {"trap"};
	struct ctp_ppt_outs outs;
	struct ctp_err err = {0};
	struct stat st;
	bool made = !symlink("victim", "trap") && !mkdir("away", 0700) && !symlink("away", "to-trap");
	ok(made && ctp_ppt_outs_open(&outs, "%b", false, name, 1, wait_is_over, &err) && strstr(err.text, "trap: is a link"),
	   "a link with the name of a buffer is not followed: %s", err.text);
	ctp_ppt_outs_close(&outs, tell, NULL, &err);
	ok(stat("victim", &st), "nothing is created at its target");
	ok(ctp_ppt_outs_open(&outs, "to-%b/file", false, name, 1, wait_is_over, &err) && strstr(err.text, "to-trap: is a link"),
	   "a link in the place of a folder is not followed: %s", err.text);
	ctp_ppt_outs_close(&outs, tell, NULL, &err);
	ok(!rmdir("away"), "nothing is created in its target");
	unlink("trap");
	unlink("to-trap");
}

int main(void)
{
	static const char *const names[] = {"a_b", "a/b", "../etc", "-", "a_b-2", "late/r", "late/r"};
	static const char *const files[] = {"a_b", "a_b-2", "_._etc", "_", "a_b-2-2", "late_r", "late_r-2"};
	enum { NAMES = sizeof names / sizeof *names };
	char dir[] = "/tmp/ppt-outs-XXXXXX";
	struct ctp_ppt_outs outs;
	struct ctp_err err = {0};
	if (!mkdtemp(dir) || chdir(dir))
		skip_all("no folder can be made in /tmp");
	enum ctp_status status = ctp_ppt_outs_open(&outs, "%b", false, names, NAMES, wait_is_over, &err);
	ok(!status, "outputs of several buffers are opened %s", err.text);
	bool good = true;
	for (size_t i = 0; i < NAMES && !status; i++)
		good &= write_section(&outs, i, &err);
	ok(good && !ctp_ppt_outs_close(&outs, tell, NULL, &err), "the outputs are written and closed %s", err.text);
	for (size_t i = 0; i < NAMES; i++) {
		struct stat st;
		ok(!stat(files[i], &st) && st.st_size, "%s has the file %s", names[i], files[i]);
		unlink(files[i]);
	}
	links();
	ok(!rmdir(dir), "there is no other file");
	return done_testing();
}
