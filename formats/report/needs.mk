# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The texts of the rules are those of their manual page, so that there is one copy of them.
$O/tree/rule-texts.h: doc/ctp-rules.7 formats/report/rule-texts.awk
	$(call say,AWK)mkdir -p $(@D) && awk -f formats/report/rule-texts.awk $< >$@
$O/formats/report/report-rules.o: $O/tree/rule-texts.h
