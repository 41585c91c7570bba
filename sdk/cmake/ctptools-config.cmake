# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# find_package(ctptools) gives these targets, if their files are there; find_package(ctptools COMPONENTS ctp) fails if libctp is not:
#
#	ctptools::headers	ctp.h, ctp.hpp, ctp-asio.hpp, ppt.h and ctp-cacheray.h; each file that includes them compiles the probe
#	ctptools::probe		the same headers with CTP_LIBRARY, and libctp-probe.a
#	ctptools::ctp		libctp, which reads and writes traces
#
# All paths are relative to this file, so the installed tree may be moved.
get_filename_component(ctptools_here "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(ctptools_lib "${ctptools_here}/../.." ABSOLUTE)
get_filename_component(ctptools_include "@INCLUDE@" ABSOLUTE BASE_DIR "${ctptools_here}")
if(NOT EXISTS "${ctptools_include}/ctp.h")
	set(ctptools_FOUND FALSE)
	set(ctptools_NOT_FOUND_MESSAGE "ctp.h is not in ${ctptools_include}: install ctptools again, or its whole tree")
	return()
endif()

if(NOT TARGET ctptools::headers)
	add_library(ctptools::headers INTERFACE IMPORTED)
	set_target_properties(ctptools::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${ctptools_include}")
endif()

if(NOT TARGET ctptools::probe AND EXISTS "${ctptools_lib}/libctp-probe.a")
	add_library(ctptools::probe STATIC IMPORTED)
	set_target_properties(ctptools::probe PROPERTIES
		IMPORTED_LOCATION "${ctptools_lib}/libctp-probe.a"
		INTERFACE_INCLUDE_DIRECTORIES "${ctptools_include}"
		INTERFACE_COMPILE_DEFINITIONS CTP_LIBRARY)
endif()

# The shared library if there is one. For the static one libctp.pc says what else is linked.
if(NOT TARGET ctptools::ctp)
	set(ctptools_needs "")
	if(EXISTS "${ctptools_lib}/libctp.so")
		add_library(ctptools::ctp SHARED IMPORTED)
		set_target_properties(ctptools::ctp PROPERTIES IMPORTED_LOCATION "${ctptools_lib}/libctp.so")
	elseif(EXISTS "${ctptools_lib}/libctp.a")
		add_library(ctptools::ctp STATIC IMPORTED)
		set_target_properties(ctptools::ctp PROPERTIES IMPORTED_LOCATION "${ctptools_lib}/libctp.a")
		file(STRINGS "${ctptools_lib}/pkgconfig/libctp.pc" ctptools_lines REGEX "^Libs(\\.private)?:")
		foreach(ctptools_line IN LISTS ctptools_lines)
			string(REGEX MATCHALL "-(l|pthread)[^ ]*" ctptools_words "${ctptools_line}")
			list(APPEND ctptools_needs ${ctptools_words})
		endforeach()
		list(REMOVE_ITEM ctptools_needs -lctp)
	endif()
	if(TARGET ctptools::ctp)
		set_target_properties(ctptools::ctp PROPERTIES
			INTERFACE_INCLUDE_DIRECTORIES "${ctptools_include}"
			INTERFACE_LINK_LIBRARIES "${ctptools_needs}")
	endif()
endif()

foreach(ctptools_component IN LISTS ctptools_FIND_COMPONENTS)
	if(TARGET "ctptools::${ctptools_component}")
		set("ctptools_${ctptools_component}_FOUND" TRUE)
	elseif(ctptools_FIND_REQUIRED_${ctptools_component})
		set(ctptools_FOUND FALSE)
		set(ctptools_NOT_FOUND_MESSAGE "the files of ctptools::${ctptools_component} are not in ${ctptools_lib}")
	endif()
endforeach()
