# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
$(eval $(call needs,sqlite3 >= 3.38,the extension for sqlite3,libsqlite3-dev,$(wildcard formats/vtable/*.c) t/fuzz/vtable.c))
$(eval $(call module,vtable,lib/ctp.so,$$(libdir)))
