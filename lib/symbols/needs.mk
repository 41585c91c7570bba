# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
ifeq ($(call have,'libdw >= 0.171'),yes)
cppflags += -DHAVE_LIBDW=1 $(shell $(PKG_CONFIG) --cflags libdw libelf)
libs     += $(shell $(PKG_CONFIG) --libs libdw libelf)
requires += libdw libelf
else
LEFT_OUT += 'functions and lines of addresses, which --symbols shows (packages pkg-config and libdw-dev add them)'
endif
