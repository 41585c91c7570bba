/*
 * ppt.h - the files of ppt, PPT1.
 *
 *	u32, big-endian: 0x50505431, "PPT1"
 *	u32, big-endian: length of the header
 *	header: JSON {frFormat, frDate, frComment, frDeltaTime, frCounters, frJson}; frJson is the buffer's `_json`
 *	frames, little-endian, layout->size bytes each, until the end
 *
 * A file is a section: its header first, then a record for each frame, as ppt-frames.h has them, in the order of the file.
 */
#ifndef CTP_PPT_H
#define CTP_PPT_H

#include "io/output.h"
#include "stream/sink.h"

#define CTP_PPT_MAGIC "PPT1"

/*
 * A source of files. Frames that come again are dropped by their number, and so are slots that were never written; frames that are torn
 * or of no known type are rejected; what is missing by the numbers is a loss. One notice for each file counts all that, and says where the
 * first damage is. verbose: also of a file without any. exact: with the extra fields, by which a file is made again byte for byte. tool: the
 * attribute.
 */
struct ctp_source *ctp_ppt_source(const char *tool, bool exact, bool verbose, struct ctp_err *err);

/*
 * A sink that writes a section as a file, and takes out over. buffer: the one whose section it is, as
 * ppt-chosen.h has it: FILE is the program or the library, or the PPT1 file; null: there must be only one. Sections
 * without a header of ppt are passed over. notice, which may be null, is told at the end how many frames there are, if some were lost or with
 * verbose. whole, which may be null: nothing of that section is missing, and the stream is not damaged; what other sections lack is not ours.
 */
struct ctp_sink *ctp_ppt_sink(struct ctp_output *out, const char *buffer, const struct ctp_notice *notice, bool verbose, bool *whole,
                              struct ctp_err *err);

#endif
