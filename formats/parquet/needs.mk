# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
$(eval $(call needs,libzstd,ctp-toparquet,libzstd-dev,\
  tools/ctp-toparquet.c $(wildcard formats/parquet/*.c) t/unit/parquet-sink.c t/fuzz/toparquet.c))
