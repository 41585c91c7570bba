/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * visible.h - texts from strangers, for a terminal.
 *
 * A name in a trace may hold any byte. Shown as it is, an escape sequence would be obeyed, a newline would look like another line, and
 * a mark of direction would show the rest backwards. So all that has no shape of its own is spelled: \x1b, \u202e.
 */
#ifndef CTP_VISIBLE_H
#define CTP_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

enum { CTP_VISIBLE_MAX = 12 }; /* bytes of a character that is spelled */

/* A character by its number: a control, one that turns the direction of writing, has no width, or ends a line. */
bool ctp_visible_not(unsigned c);

/* The next character of a text, safe to show. Returns how many bytes are at `to`, 0 at the text's end; columns is its width. A backslash is doubled. */
unsigned ctp_visible_char(char to[CTP_VISIBLE_MAX], const char **text, unsigned *columns);

/* Spells a character, which is not printed; of a byte that is not part of UTF-8, the byte. Returns the length. */
unsigned ctp_visible_spell(char to[CTP_VISIBLE_MAX], unsigned c, bool is_byte);

/* As much of a text as there is room for, safe to show, with a NUL; backslashes are as they were. Returns its length. */
size_t ctp_visible(char *to, size_t room, const char *text);

#endif
