# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# With an older version, a server can have the password sent in clear text: MARIADB_OPT_RESTRICTED_AUTH is not there.
$(eval $(call needs,libmariadb >= 3.3.1,ctp-mysql,libmariadb-dev,tools/ctp-mysql.c $(wildcard formats/mysql/*.c) t/fuzz/mysqlanswers.c))
