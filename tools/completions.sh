#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# completions.sh DIR TOOL... - makes the completions of bash, zsh and fish in DIR from what each TOOL prints with --help.
#
#	completions.sh --table TOOL...   prints the table that they are made from
#
# An option is a word that begins a line of the help after two spaces, or follows three spaces. Its argument follows after one space,
# its description after more. The synopsis has the values of an argument as a|b, and an optional one in brackets. t/pipe/man.t
# compares the manual with the same help. Columns of the table, with tabs between them:
#
#	T TOOL COMMAND KIND TEXT                        a tool, or a command of a tool, and its operands
#	O TOOL COMMAND OPTION MODE ARGUMENT KIND TEXT   an option, in all commands if COMMAND is *; MODE is none, needed or optional
#
# A KIND is file, dir, pid, user, host, run (a command to run), any, files ending in .SUFFIX, or =a b c, which are all the values.
set -eu
LC_ALL=C
export LC_ALL

table() { # TOOL...
	for tool; do
		"$tool" --help | awk -v tool="${tool##*/}" "$parse"
	done
}

# shellcheck disable=SC2016 # awk's
parse='
function operands(text, command) {
	if (text ~ /COMMAND \[ARG\.\.\.\]/) return "run"
	if (text ~ /DIR\.\.\.$/) return "dir"
	if (text ~ /PID/) return "pid"
	if (tool == "ctp-fromcsv") return ".csv"
	if (tool == "ctp-fromjsonl") return ".jsonl"
	if (tool ~ /^ctp-from/ || command == "decode") return "file"
	if (text ~ / A\.\.\. -- B\.\.\.$/) return ".ctp"
	return text ~ /(FILE|TRACE)\.\.\.\]$/ ? ".ctp" : "any"
}
function kind(arg, text) {
	if (arg ~ /^[a-z0-9,]+(\|[a-z0-9,]+)+$/) { gsub(/\|/, " ", arg); return "=" arg }
	if (arg == "FILE" && text ~ /the trace FILE/) return ".ctp"
	if (arg ~ /^(FILE|PATH|SOCKET)$/) return "file"
	return arg ~ /^(DIR|PID|USER|HOST)$/ ? tolower(arg) : "any"
}
function clause(text) { sub(/( \([^)]*)?;.*/, "", text); return text } # the first, which is enough beside others
function option(text,    name, arg, mode, n, words, i, word) {
	name = text
	sub(/ .*/, "", name)
	text = substr(text, length(name) + 1)
	if (text ~ /^ [^ ]/) {
		arg = substr(text, 2)
		sub(/ .*/, "", arg)
		text = substr(text, length(arg) + 2)
	}
	sub(/^ */, "", text)
	mode = arg == "" ? "none" : "needed"
	n = split(synopsis, words, " ")
	for (i = 1; i <= n; i++) {
		word = words[i]
		sub(/^\[/, "", word)
		if (word == name && i < n && words[i + 1] ~ /\|./) arg = words[i + 1]
		if (index(word, name "[=") == 1) { arg = substr(word, length(name) + 3); mode = "optional" }
	}
	sub(/\]+$/, "", arg)
	seen[command, name] = 1
	printf "O\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", tool, command, name, mode, arg == "" ? "-" : arg, kind(arg, text), clause(text)
}
function begin(line) {
	synopsis = line
	getline text
	sub(/\.$/, "", text)
	printf "T\t%s\t%s\t%s\t%s\n", tool, command == "" ? "-" : command, operands(line, command), clause(text)
}
/^usage: / { command = "-"; sub(/^usage: [^ ]* /, ""); begin($0); next }
$1 == tool { command = $2; begin($0); next }
/^All commands:/ { command = "*"; next }
/^  -/ {
	line = substr($0, 3)
	while (match(line, /   +--?[A-Za-z]/)) {
		# What begins there is an option if it has text after it; the spaces before a description do not.
		option(substr(line, 1, RSTART - 1))
		line = substr(line, RSTART)
		sub(/^ */, "", line)
	}
	option(line)
}
END {
	if (command == "*" && !seen["*", "--help"] || command != "*" && !seen["-", "--help"]) {
		command = command == "*" ? "*" : "-"
		option("--help  print this help")
	}
	option("--version  print the version")
}'

# --- the shells ------------------------------------------------------------------------------------------------------------

# The beginning of each awk program below: reads the table of one tool.
# shellcheck disable=SC2016 # awk's
reading='
BEGIN { FS = "\t" }
$1 == "T" { tool = $2; kind_of[$3] = $4; text_of[$3] = $5; if ($3 != "-") commands[++ncommands] = $3 }
$1 == "O" { n++; cmd[n] = $3; opt[n] = $4; mode[n] = $5; arg[n] = $6; kind[n] = $7; text[n] = $8 }
function applies(i, command) { return cmd[i] == command || cmd[i] == "*" }
function quote(s) { gsub(/\047/, "\047\\\047\047", s); return "\047" s "\047" }
function rest(s) { return substr(s, 2) }
'

# With bash-completion, whose functions these are. A command to run has the completion of its own.
# shellcheck disable=SC2016 # awk's
bash_of=$reading'
function reply(k) {
	if (k ~ /^=/) return "COMPREPLY=($(compgen -W " quote(rest(k)) " -- \"$cur\"))"
	if (k ~ /^\./) return "_filedir " quote(rest(k) "?(.zst)")
	return k == "file" ? "_filedir" : k == "dir" ? "_filedir -d" : k == "pid" ? "_pids" : \
	       k == "user" ? "COMPREPLY=($(compgen -u -- \"$cur\"))" : \
	       k == "host" ? "_known_hosts_real -- \"$cur\"" : k == "run" ? "_command_offset $i" : ":"
}
function body(command, tabs,    i, words) {
	print tabs "case $prev in"
	for (i = 1; i <= n; i++)
		if (applies(i, command) && mode[i] != "none")
			print tabs opt[i] ") " (mode[i] == "optional" ? "$split && " : "") "{ " reply(kind[i]) "; return; } ;;"
	print tabs "esac"
	for (i = 1; i <= n; i++)
		if (applies(i, command))
			words = words " " opt[i] (mode[i] == "optional" ? " " opt[i] "=" : "")
	print tabs "if $split; then"
	print tabs "	return"
	print tabs "elif [[ $cur == -* ]]; then"
	print tabs "	COMPREPLY=($(compgen -W " quote(rest(words)) " -- \"$cur\"))"
	print tabs "	[[ ${COMPREPLY-} != *= ]] || compopt -o nospace"
	print tabs "else"
	print tabs "	" reply(kind_of[command])
	print tabs "fi"
}
function skip_options(command,    i, words) { # sets i to the first word of the command to run
	for (i = 1; i <= n; i++)
		if (applies(i, command) && mode[i] == "needed")
			words = words " | " opt[i]
	print "	local i"
	print "	for ((i = 1; i < COMP_CWORD; i++)); do"
	print "		case ${COMP_WORDS[i]} in"
	print "		--) ((i++)); break ;;"
	print "		=) ((i++)) ;;"
	print "		" substr(words, 4) ") [[ ${COMP_WORDS[i + 1]} == = ]] || ((i++)) ;;"
	print "		-*) ;;"
	print "		*) break ;;"
	print "		esac"
	print "	done"
	print "	((i >= COMP_CWORD)) || { _command_offset $i; return; }"
}
function subcommands(    i, words) {
	for (i = 1; i <= ncommands; i++)
		words = words " " commands[i]
	print "	local i"
	print "	for ((i = 2; i < COMP_CWORD; i++)); do"
	print "		[[ ${COMP_WORDS[i]} != -- ]] || { _command_offset $((i + 1)); return; }"
	print "	done"
	print "	if ((cword == 1)) && [[ $cur != -* ]]; then"
	print "		COMPREPLY=($(compgen -W " quote(rest(words)) " -- \"$cur\"))"
	print "		return"
	print "	fi"
	print "	case ${words[1]} in"
	for (i = 1; i <= ncommands; i++) {
		print "	" commands[i] ")"
		body(commands[i], "\t\t")
		print "		;;"
	}
	print "	*)"
	body("-", "\t\t")
	print "		;;"
	print "	esac"
}
END {
	name = "_" tool
	gsub(/-/, "_", name)
	print "# bash completion of " tool "(1), made by tools/completions.sh"
	print name "()\n{"
	print "	local cur prev words cword split"
	print "	_init_completion -s || return"
	if (kind_of["-"] == "run")
		skip_options("-")
	if (ncommands)
		subcommands()
	else
		body("-", "\t")
	print "} &&\n	complete -F " name " " tool
}'

# An entry of the case in one function for all tools.
# shellcheck disable=SC2016 # awk's
zsh_of=$reading'
function action(k) {
	if (k ~ /^=/) return "(" rest(k) ")"
	if (k ~ /^\./) return "_files -g \"*" k "(|.zst)(-.)\""
	return k == "file" ? "_files" : k == "dir" ? "_files -/" : k == "pid" ? "_pids" : k == "user" ? "_users" : \
	       k == "host" ? "_hosts" : " "
}
function plain(s) { gsub(/\\|:|\[|\]/, "\\\\&", s); return s }
function spec(i,    s) {
	s = opt[i] ~ /^--(debug-dir|ignore|cache)$/ ? "*" : opt[i] ~ /^(-[hV]|--help|--version)$/ && mode[i] == "none" ? "(- *)" : ""
	s = s opt[i] (mode[i] == "none" ? "" : mode[i] == "optional" ? "=-" : opt[i] ~ /^--/ ? "=" : "+") "[" plain(text[i]) "]"
	if (mode[i] != "none")
		s = s (mode[i] == "optional" ? "::" : ":") plain(arg[i]) ":" action(kind[i])
	return quote(s)
}
function body(command, tabs,    i, k) {
	k = kind_of[command]
	print tabs "_arguments -s -S : \\"
	for (i = 1; i <= n; i++)
		if (applies(i, command))
			print tabs "	" spec(i) " \\"
	if (k == "run")
		print tabs "	\047(-)1:command: _command_names -e\047 \047*::arguments: _normal\047"
	else
		print tabs "	" quote("*:" (k ~ /^\./ ? "trace" : k) ":" action(k))
}
END {
	print tool ")"
	if (!ncommands) {
		body("-", "\t")
		print "	;;"
		exit
	}
	print "	if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then"
	print "		subcommands=("
	for (i = 1; i <= ncommands; i++)
		print "			" quote(commands[i] ":" plain(text_of[commands[i]]))
	print "		)"
	print "		_describe -t commands command subcommands"
	print "		return"
	print "	fi"
	print "	case $words[2] in"
	for (i = 1; i <= ncommands; i++) {
		print "	" commands[i] ")"
		print "		shift words"
		print "		(( CURRENT-- ))"
		body(commands[i], "\t\t")
		print "		;;"
	}
	print "	*)"
	body("-", "\t\t")
	print "		;;"
	print "	esac"
	print "	;;"
}'

# shellcheck disable=SC2016 # awk's
fish_of=$reading'
function fish_quote(s) { gsub(/\\/, "\\\\", s); gsub(/\047/, "\\\047", s); return "\047" s "\047" }
function action(k) {
	if (k ~ /^=/) return " -x -a " fish_quote(rest(k))
	if (k ~ /^\./) return " -x -k -a " fish_quote("(__ctp_files " rest(k) ")")
	if (k == "file") return " -r -F"
	k = k == "dir" ? "__fish_complete_directories" : k == "pid" ? "__fish_complete_pids" : \
	    k == "user" ? "__fish_complete_users" : k == "host" ? "__fish_print_hostnames" : ""
	return " -x" (k == "" ? "" : " -a \047(" k ")\047")
}
function complete(when, what) { print "complete -c " tool (when == "" ? "" : " -n " fish_quote(when)) what }
function operands(when, k) {
	if (k == "file") complete(when, " -F")
	else if (k == "run") complete(when, " -x -a \047(__ctp_collect_run)\047")
	else if (k != "any") complete(when, action(k))
}
function when_of(i) {
	if (kind_of["-"] == "run") return "not __ctp_collect_runs"
	return cmd[i] == "-" || cmd[i] == "*" ? "" : "__fish_seen_subcommand_from " cmd[i]
}
function files_function() {
	print "function __ctp_files -a suffix -d \047files that end in .SUFFIX or .SUFFIX.zst, then folders, or else all files\047"
	print "	set -l all (complete -C \"__fish_command_without_completions \"(commandline -ct))"
	print "	set -l found (string match -r \"^[^\\t]*\\.$suffix(?:\\.zst)?(?:\\t.*)?\\$\" -- $all)"
	print "	set -l folders (string match -r \"^[^\\t]*/(?:\\t.*)?\\$\" -- $all)"
	print "	set -q found[1] folders[1]; or set found $all"
	print "	printf \"%s\\n\" $found $folders"
	print "end"
}
function run_functions(    i, words) {
	for (i = 1; i <= n; i++)
		if (mode[i] == "needed")
			words = words " " opt[i]
	print "function __ctp_collect_rest -d \047the command to run, and its arguments, each on a line\047"
	print "	set -l words (commandline -opc) (commandline -ct)"
	print "	set -e words[1]"
	print "	while set -q words[2]; and string match -q -- \"-*\" $words[1]"
	print "		set -l word $words[1]"
	print "		set -e words[1]"
	print "		test \"$word\" = --; and break"
	print "		contains -- $word" words "; and set -e words[1]"
	print "	end"
	print "	printf \"%s\\n\" $words"
	print "end"
	print "function __ctp_collect_runs -d \047whether the command to run is there\047"
	print "	set -l words (__ctp_collect_rest)"
	print "	set -q words[2]; or contains -- -- (commandline -opc)"
	print "end"
	print "function __ctp_collect_run"
	print "	set -l words (__ctp_collect_rest)"
	print "	string match -q -- \"-*\" \"$words[1]\"; or complete -C \"$words\""
	print "end"
}
END {
	print "# fish completion of " tool "(1), made by tools/completions.sh"
	for (i in kind_of)
		needs_files = needs_files || kind_of[i] ~ /^\./
	if (needs_files)
		files_function()
	if (kind_of["-"] == "run")
		run_functions()
	complete("", " -f")
	for (i = 1; i <= ncommands; i++) {
		complete("__fish_use_subcommand", " -a " commands[i] " -d " fish_quote(text_of[commands[i]]))
		operands("__fish_seen_subcommand_from " commands[i], kind_of[commands[i]])
	}
	if (!ncommands)
		operands("", kind_of["-"])
	for (i = 1; i <= n; i++) {
		s = (opt[i] ~ /^--/ ? " -l " substr(opt[i], 3) : " -s " rest(opt[i])) " -d " fish_quote(text[i])
		if (mode[i] == "optional" && kind[i] ~ /^=/)
			s = s " -a " fish_quote(rest(kind[i]))
		complete(when_of(i), s (mode[i] == "needed" ? action(kind[i]) : ""))
	}
}'

if [ "$1" = --table ]; then
	shift
	table "$@"
	exit
fi
dir=$1
shift
mkdir -p "$dir/bash" "$dir/zsh" "$dir/fish"
{
	printf '#compdef'
	for tool; do printf ' %s' "${tool##*/}"; done
	printf '\n# zsh completion of ctptools(7), made by tools/completions.sh\nlocal -a subcommands\ncase $service in\n'
} >"$dir/_ctptools"
for tool; do
	name=${tool##*/}
	table "$tool" >"$dir/table"
	awk "$bash_of" "$dir/table" >"$dir/bash/$name"
	awk "$zsh_of" "$dir/table" >>"$dir/_ctptools"
	awk "$fish_of" "$dir/table" >"$dir/fish/$name.fish"
done
echo esac >>"$dir/_ctptools"
rm "$dir/table"
mv "$dir/_ctptools" "$dir/zsh"
