/* ppt-client-lib.c - a library with a ppt buffer of its own in it, for ppt-client to load: Lib, 36 bytes of JSON in slots of 40. */
#include "ppt-byhand.h"

#define SYMBOL __attribute__((used, visibility("default")))

struct mark {
	int front, n;
	double x;
	struct byhand_time at;
	int back;
};
_Static_assert(offsetof(struct mark, back) == 32 && sizeof(struct mark) == 40, "where the JSON has it");

extern int _ppt_stat_Lib, _ppt_hmem_Lib;
extern const char *_ppt_json_Lib;
struct byhand *ppt_client_lib(void);
void ppt_client_lib_save(int n);

SYMBOL int _ppt_stat_Lib, _ppt_hmem_Lib;
SYMBOL const char *_ppt_json_Lib = BYHAND_JSON("Lib", 64, "", "ETimeClockMonotonicRaw", "",
	BYHAND_FRAME("mark",
		BYHAND_ELEMENT("n", "false", BYHAND_INT) "," BYHAND_ELEMENT("x", "false", BYHAND_DOUBLE) ","
		BYHAND_ELEMENT("at", "false", BYHAND_TIME),
		BYHAND_FRONT
		BYHAND_MEMBER("n", 4, 4, 4, BYHAND_INT)
		BYHAND_MEMBER("x", 8, 8, 8, BYHAND_DOUBLE)
		BYHAND_MEMBER("at", 16, 16, 16, BYHAND_TIME)
		BYHAND_BACK(32)));

static struct byhand lib = { .name = "Lib", .hmem = &_ppt_hmem_Lib, .stride = 40, .size = 36, .lock = PTHREAD_RWLOCK_INITIALIZER, .next = 1 };

SYMBOL struct byhand *ppt_client_lib(void)
{
	return &lib;
}

SYMBOL void ppt_client_lib_save(int n)
{
	struct mark m = { .n = n, .x = n / 2.0, .at = byhand_now(CLOCK_MONOTONIC_RAW) };
	byhand_save(&lib, &m);
}
