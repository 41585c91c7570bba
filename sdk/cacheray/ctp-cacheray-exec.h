/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp-cacheray-exec.h - gives a process that calls exec another trace for its new program. A part of ctp-cacheray.c.
 *
 * The environment variable CACHERAY_EXEC is PID.START.N:PATTERN: the process with this id, which began START ticks after the
 * system, has N traces with the names of CACHERAY_OUT. Another process has another id, or began at another time. If the program got
 * a new environment without the variable, a file that this process may have left counts as its trace.
 */
#ifndef CTP_CACHERAY_EXEC_H
#define CTP_CACHERAY_EXEC_H

#define EXEC_NAME "CACHERAY_EXEC"
enum { STAT_BYTES = 1024, START_FIELD = 20 /* after the name of the program */, NUMBER_CHARS = 24 };

static char exec_note[sizeof EXEC_NAME + 3 * NUMBER_CHARS + PATH_MAX];

/* In ticks since the start of the system; 0: not known. */
static unsigned long process_start(void)
{
	char text[STAT_BYTES + 1], *at;
	unsigned long start = 0;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, STAT_BYTES);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (int i = 0; at && i < START_FIELD; i++)
		at = strchr(at + 1, ' ');
	for (at += at != NULL; at && *at >= '0' && *at <= '9'; at++)
		start = start * 10 + (unsigned long)(*at - '0');
	return start;
}

static char *put_text(char *to, const char *text)
{
	size_t n = strlen(text);
	copy(to, text, n + 1);
	return to + n;
}

static char *put_digits(char *to, unsigned long n, char after)
{
	char digits[NUMBER_CHARS], *d = put_number(digits + sizeof digits, n);
	size_t len = (size_t)(digits + sizeof digits - d);
	copy(to, d, len);
	to[len] = after;
	to[len + 1] = '\0';
	return to + len + 1;
}

/* Writes the note up to its number; returns where the number goes. */
static char *begin_note(char *note)
{
	note = put_digits(put_text(note, EXEC_NAME "="), (unsigned long)getpid(), '.');
	return put_digits(note, process_start(), '.');
}

/* How many traces this process already has. */
static unsigned execs_before(void)
{
	char own[sizeof EXEC_NAME + 3 * NUMBER_CHARS];
	const char *note = getenv(EXEC_NAME), *of = own + sizeof EXEC_NAME;
	unsigned n = 0;
	size_t len = (size_t)(begin_note(own) - of);
	if (!note || strncmp(note, of, len))
		return 0;
	for (note += len; *note >= '0' && *note <= '9' && n < EXECS; note++)
		n = n * 10 + (unsigned)(*note - '0');
	return *note == ':' && !strcmp(note + 1, out_pattern) ? n : 0;
}

/* Stores the note in its place in the environment, or in a free one. */
static void put_note(void)
{
	size_t n = 0;
	for (; environ && environ[n]; n++) {
		if (strncmp(environ[n], EXEC_NAME "=", sizeof EXEC_NAME))
			continue;
		environ[n] = exec_note;
		return;
	}
	char **more = regions_map((n + 2) * sizeof *more);
	if (!more)
		return;
	for (size_t i = 0; i < n; i++)
		more[i] = environ[i];
	more[n] = exec_note;
	environ = more;
}

static void note_exec(unsigned traces)
{
	put_text(put_digits(begin_note(exec_note), traces, ':'), out_pattern);
	put_note();
}

/*
 * --- without the note
 * -------------------------------------------------------------------------------------------------------------
 */

/* Whether the file has changed since this process began, within the precision of ticks. */
static bool is_young(const struct stat *st)
{
	struct timespec now, up;
	uint64_t second = 1000000000, tick = second / (uint64_t)sysconf(_SC_CLK_TCK);
	if (clock_gettime(CLOCK_REALTIME, &now) || clock_gettime(CLOCK_BOOTTIME, &up))
		return true;
	uint64_t booted = (uint64_t)(now.tv_sec - up.tv_sec) * second + (uint64_t)now.tv_nsec - (uint64_t)up.tv_nsec;
	uint64_t changed = (uint64_t)st->st_ctim.tv_sec * second + (uint64_t)st->st_ctim.tv_nsec;
	return changed + tick >= booted + process_start() * tick;
}

/* Whether the file begins with a record of the first thread of this process, and has no end: the program was replaced. */
static bool may_be_own(int fd)
{
	static const uint8_t zeros[FIXED_BYTES + 1];
	uint8_t rec[FIXED_BYTES + 1], last[sizeof rec];
	uint64_t thread;
	struct stat st;
	if (fstat(fd, &st) || st.st_size < (off_t)sizeof rec || pread(fd, rec, sizeof rec, 0) != (ssize_t)sizeof rec ||
	    pread(fd, last, sizeof last, st.st_size - (off_t)sizeof last) != (ssize_t)sizeof last)
		return false;
	copy(&thread, rec + 1 + sizeof(void *) + ((rec[0] & 0x3f) <= WRITE), sizeof thread);
	return thread == (uint64_t)getpid() && !memcmp(last, zeros, sizeof zeros) && is_young(&st);
}

#endif
