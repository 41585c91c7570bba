# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
$(eval $(call needs,libpq,ctp-postgres,libpq-dev,tools/ctp-postgres.c $(wildcard formats/postgres/*.c) t/fuzz/pganswers.c))
