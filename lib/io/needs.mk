# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# zstd's files are recognised and read where this is there.
ifeq ($(call have,libzstd),yes)
cppflags += -DHAVE_ZSTD=1 $(shell $(PKG_CONFIG) --cflags libzstd)
libs     += $(shell $(PKG_CONFIG) --libs libzstd)
requires += libzstd
else
LEFT_OUT += '.zst files without a pipe through zstd (packages pkg-config and libzstd-dev add them)'
endif
