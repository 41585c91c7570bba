# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The version that find_package(ctptools VERSION) asks for. Before 1.0 each minor version may change what it offers, from then on each
# major version.
set(PACKAGE_VERSION @VERSION@)
if(PACKAGE_VERSION VERSION_LESS 1.0)
	string(REGEX MATCH "^[0-9]+\\.[0-9]+" ctptools_series "${PACKAGE_VERSION}")
	set(ctptools_asked "${PACKAGE_FIND_VERSION_MAJOR}.${PACKAGE_FIND_VERSION_MINOR}")
else()
	string(REGEX MATCH "^[0-9]+" ctptools_series "${PACKAGE_VERSION}")
	set(ctptools_asked "${PACKAGE_FIND_VERSION_MAJOR}")
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
	set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION OR (PACKAGE_FIND_VERSION AND NOT ctptools_asked STREQUAL ctptools_series))
	set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
	set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
