/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-cacheray-say.h - lines on stderr about problems with a trace. A part of ctp-cacheray.c. Uses neither stdio nor a locale. */
#ifndef CTP_CACHERAY_SAY_H
#define CTP_CACHERAY_SAY_H

static const char *reason_of(int error)
{
	switch (error) {
	case 0: return "";
	case EACCES: return ": Permission denied";
	case EDQUOT: return ": Disk quota exceeded";
	case EFBIG: return ": File too large";
	case EIO: return ": Input/output error";
	case EISDIR: return ": Is a directory";
	case EMFILE: return ": Too many open files";
	case ENAMETOOLONG: return ": File name too long";
	case ENOENT: return ": No such file or directory";
	case ENOMEM: return ": There are no more addresses for it";
	case ENOSPC: return ": No space left on device";
	case ENOTDIR: return ": Not a directory";
	case EROFS: return ": Read-only file system";
	case ESTALE: return ": It was taken away";
	}
	return ": The system does not let it";
}

/* One line on stderr. */
static void tell(const char *path, const char *what, int error, const char *then)
{
	char line[PATH_MAX + 200];
	struct quiet q = quiet_begin();
	size_t n = 0;
	const char *parts[] = {"ctp-cacheray: ", path, ": ", what, reason_of(error), then, "\n"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (const char *c = parts[i]; *c && n < sizeof line; c++)
			line[n++] = *c;
	if (syscall(SYS_write, STDERR_FILENO, line, n) < 0 && (errno == EPIPE || errno == EFBIG))
		take_back(errno == EPIPE ? SIGPIPE : SIGXFSZ);
	quiet_end(&q);
}

/* Without this line the program would run untraced and not say so. */
static void say_error(const char *path, const char *what, int error)
{
	tell(path, what, error, log_.tail ? ": this process is not traced any more" : ": this process is not traced");
}

static void say(const char *path, const char *what) { say_error(path, what, 0); }

#endif
