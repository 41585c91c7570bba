# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
$(eval $(call needs,libmariadb,ctp-mysql,libmariadb-dev,tools/ctp-mysql.c $(wildcard formats/mysql/*.c) t/fuzz/mysqlanswers.c))
