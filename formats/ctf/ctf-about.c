/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctf-about.c - a section's clock and command line, as CTF has them. */
#include "ctf/ctf-about.h"

#include "common/bytes.h"

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

char *ctp_ctf_argv(const struct ctp_section *sec)
{
	struct ctp_bytes line = {0};
	for (uint32_t i = 0; i < sec->nattrs; i++) {
		if (strcmp(sec->attrs[i].name, "argv[]"))
			continue;
		ctp_bytes_text(&line, line.len ? " " : "");
		ctp_bytes_word(&line, sec->attrs[i].value);
	}
	return ctp_bytes_take(&line);
}
