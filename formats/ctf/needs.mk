# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
$(eval $(call needs,babeltrace2,ctp-fromctf,libbabeltrace2-dev,\
  tools/ctp-fromctf.c $(addprefix formats/ctf/ctf-,read.c class.c field.c) t/unit/ctf-fields.c t/fuzz/foreign.c))
