/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-page.c - the page, as make has joined it. */
#include "html/html.h"

__asm__(".pushsection .rodata\n"
        "\t.global ctp_html_page\n"
        "ctp_html_page:\n"
        "\t.incbin \"" CTP_HTML_PAGE "\"\n"
        "\t.byte 0\n"
        "\t.popsection\n");
