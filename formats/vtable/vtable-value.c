/* vtable-value.c - the values of sqlite-value.h as an extension makes them: through the SQLite that has loaded it. */
#include "sqlite/sqlite-value.c"
