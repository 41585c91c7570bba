# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
$(eval $(call needs,sqlite3 >= 3.38,ctp-sqlite,libsqlite3-dev,\
  tools/ctp-sqlite.c $(wildcard formats/sqlite/*.c) t/unit/sqlite-tree.c t/fuzz/tosqlite.c t/bench/sqlite-insert.c))
# In a tool the SQLite that is linked is called, in an extension the one that loaded it.
$O/formats/sqlite/%.o: extra := -DSQLITE_CORE
