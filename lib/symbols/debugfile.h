/*
 * debugfile.h - finds the files of a program or library on this machine: its code, and what says which line that came from.
 *
 * What is looked for comes from a stream that anybody may have written. So nothing is opened that is no regular file, and
 * nothing is used whose build-id is another: wrong lines are worse than none. A file without a build-id is taken at its word
 * only if the stream, too, says that there was none. Nothing is asked of the network.
 */
#ifndef CTP_DEBUGFILE_H
#define CTP_DEBUGFILE_H

#include <libelf.h>
#include <stdbool.h>

#include "symbols/module.h"

struct ctp_debugfile {
	Elf *elf; /* null: none */
	int fd;
	char *path;
	bool has_code, has_symbols, has_dwarf;
};

/*
 * code: the file that was mapped, whole or stripped. debug: what says the most of its source, which may be the same file; then
 * it is in code alone. Either may be missing. Both are for ctp_debugfile_close.
 */
void ctp_debugfile_find(const struct ctp_module_want *want, struct ctp_debugfile *code, struct ctp_debugfile *debug);
void ctp_debugfile_close(struct ctp_debugfile *file);

/* Its descriptor is closed; what was mapped stays. */
void ctp_debugfile_settle(struct ctp_debugfile *file);

#endif
