# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# rule-texts.awk PAGE - the texts of the rules in ctp-rules.7, for report-rules.c: a row {"name", "what it means", "what to do"} for
# each. The first paragraph of a rule's section says what the rule means, and the one after "To do" what to do.

function is_mark(word) { return word ~ /^[.,:;)]+$/ }

function add(word) { text = text (text == "" || is_mark(word) ? "" : " ") word }

# The words of a macro's line.
function macro(    i, last, word) {
	for (last = NF; last > 1 && is_mark($last); last--)
		;
	if ($1 == ".Xr") {
		add($2 "(" $3 ")")
	} else if ($1 == ".Ql") {
		word = $2
		for (i = 3; i <= last; i++)
			word = word " " $i
		add("\"" word "\"")
	} else {
		for (i = 2; i <= last; i++)
			add($1 == ".Fn" ? $i "()" : $i)
	}
	for (i = last + 1; i <= NF; i++)
		add($i)
}

# As a string of C that begins with a capital.
function quoted(s) {
	gsub(/\\&/, "", s)
	gsub(/["\\]/, "\\\\&", s)
	return "\"" toupper(substr(s, 1, 1)) substr(s, 2) "\""
}

function paragraph() {
	if (part == "means") means = text
	if (part == "to do") to_do = text
	part = text = ""
}

function finish() {
	paragraph()
	if (rule != "")
		printf "{\"%s\", %s, %s},\n", rule, quoted(means), quoted(to_do)
	rule = means = to_do = ""
}

/^\.Sh / { finish(); inside = $2 == "RULES"; next }
!inside { next }
/^\.Ss / { finish(); rule = $2; part = "means"; next }
/^\.(Pp|Bl|Bd)/ { paragraph(); next }
/^\.Sy To do :/ { part = "to do"; next }
part == "" { next }
/^\./ { macro(); next }
{ add($0) }
END { finish() }
