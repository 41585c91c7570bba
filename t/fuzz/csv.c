/*
 * Any bytes as CSV, to a stream and to the full form: that must not crash, and from then on nothing may change any more. What
 * the full form says comes back byte for byte, and none of its rows is rejected.
 */
#include "../csvmem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct csvmem stream, first, second;
	struct ctp_source_stats stats;
	struct ctp_err err;
	if (!csvmem_from(data, size, &stream, &stats, &err))
		return 0;
	csvmem_to(&stream, &first);
	csvmem_must(csvmem_from(first.data, first.len, &stream, &stats, &err), err.text);
	csvmem_must(!stats.rejected, "a row of the full form is rejected");
	csvmem_to(&stream, &second);
	csvmem_must(first.len == second.len && !memcmp(first.data, second.data, first.len), "the full form did not come back");
	return 0;
}
