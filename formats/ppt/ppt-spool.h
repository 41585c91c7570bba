/*
 * ppt-spool.h - the file of a section that could not be written to its end: what of it is whole.
 */
#ifndef CTP_PPT_SPOOL_H
#define CTP_PPT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Cuts the file behind its last whole packet. frames: so many are in those. */
enum ctp_status ctp_ppt_spool_cut(int fd, uint64_t *frames, struct ctp_err *err);

/* Frames in each section of a file that is cut, as far as a reader gets; of what is no file, none. n: more sections are not counted. */
void ctp_ppt_spool_count(const char *path, uint64_t *frames, size_t n);

#endif
