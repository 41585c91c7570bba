/* ppt-kept.h - a file that could not be written to its end: what of it is whole. */
#ifndef CTP_PPT_KEPT_H
#define CTP_PPT_KEPT_H

#include <stdint.h>

/* Frames in the stream of a file that is cut, as far as a reader gets; of what is no file, none. */
uint64_t ctp_ppt_kept(const char *path);

#endif
