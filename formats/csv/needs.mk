# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# libcsv reads; it has no file for pkg-config.
ifeq ($(shell echo '$(hash)include <csv.h>' | $(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 && echo yes),yes)
libs_csv ?= -lcsv
libs     += $(libs_csv)
else
LEFT_OUT += 'ctp-fromcsv (package libcsv-dev adds it)'
absent   += tools/ctp-fromcsv.c $(addprefix formats/csv/csv-,read.c rows.c infer.c) t/unit/csv-damage.c t/fuzz/csv.c t/fuzz/tocsv.c
endif
