/* limit.h - a bound on the memory of a process that runs code which believes its input. */
#ifndef CTP_LIMIT_H
#define CTP_LIMIT_H

#include <stdint.h>

/* From now on the process can have so many bytes of private memory more than it has now; what asks for more gets none. */
void ctp_limit_memory(uint64_t more_bytes);

#endif
