/* ctf-about.c - what readers of CTF are told about a section. */
#include "ctf/ctf-about.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t ctp_ctf_clock_offset(const struct ctp_section *sec)
{
	/* At most half of what readers can hold: the times of a machine's clock need the rest. */
	bool usable = sec->has_wall && sec->wall_offset_ns > 0 && sec->wall_offset_ns < INT64_MAX / 2;
	return usable ? (uint64_t)sec->wall_offset_ns : 0;
}

uint64_t ctp_ctf_time_max(const struct ctp_section *sec)
{
	return INT64_MAX - 1 - ctp_ctf_clock_offset(sec); /* babeltrace2 does not take INT64_MAX itself */
}

static void put_arg(FILE *f, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
	const char *quote = *arg && arg[strspn(arg, plain)] == '\0' ? "" : "'";
	fputs(quote, f);
	for (; *arg; arg++)
		if (*arg == '\'')
			fputs("'\\''", f);
		else
			putc(*arg, f);
	fputs(quote, f);
}

char *ctp_ctf_argv(const struct ctp_section *sec)
{
	char *line = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&line, &len);
	if (!f)
		return NULL;
	for (uint32_t i = 0; i < sec->nattrs; i++) {
		if (strcmp(sec->attrs[i].name, "argv[]"))
			continue;
		fputs(ftell(f) > 0 ? " " : "", f);
		put_arg(f, sec->attrs[i].value);
	}
	if (!fclose(f))
		return line;
	free(line);
	return NULL;
}
