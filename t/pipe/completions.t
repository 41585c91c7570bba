#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# bash, zsh and fish complete every option that -h has, the values of an option, traces, and the command that ctp-collect runs.
# Not under sanitizers: the shells read what make made from -h.
. t/helper/tap.sh
here=$PWD
case $O in /*) made=$O/completions ;; *) made=$here/$O/completions ;; esac
[ -d "$made/bash" ] || skip_all 'there are no completions; make says why'

mkdir "$tmp/work" "$tmp/work/folder" "$tmp/bin" || exit
: >"$tmp/work/a.ctp" && : >"$tmp/work/b.ctp.zst" && : >"$tmp/work/c.txt" && : >"$tmp/work/d.csv"
printf '#!/bin/sh\n' >"$tmp/bin/xyzzy-run" && chmod +x "$tmp/bin/xyzzy-run"
PATH=$tmp/bin:$(cd "$BIN" && pwd):$PATH # fish completes what it finds

# --- the shells: LINE on standard input, and what it may become, each "LINE: WORD [tab description]" -----------------------------

in_bash() {
	cat >"$tmp/bash.sh" <<'END'
. /usr/share/bash-completion/bash_completion
made=$1
cd "$2" || exit
compopt() { :; }
while IFS= read -r line; do
	COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=() split=${line//=/ = }
	read -ra COMP_WORDS <<<"$split"
	case $split in *' ') COMP_WORDS+=('') ;; esac
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	case ${COMP_WORDS[COMP_CWORD - 1]} in =) [[ ${COMP_WORDS[COMP_CWORD]} ]] || unset 'COMP_WORDS[COMP_CWORD--]' ;; esac
	tool=${COMP_WORDS[0]}
	. "$made/bash/$tool"
	name=_${tool//-/_}
	$name "$tool" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	for word in "${COMPREPLY[@]}"; do printf '%s: %s\n' "$line" "$word"; done
done
END
	bash --norc "$tmp/bash.sh" "$made" "$tmp/work"
}

# compadd notes what it adds. Nothing is inserted and no list is shown, because a long one asks a question first.
in_zsh() {
	cat >"$tmp/rc.zsh" <<END
PROMPT= ; fpath=('$made/zsh' \$fpath) ; out='$tmp/zsh.out' ; cd '$tmp/work'
autoload -Uz compinit && compinit -u -d '$tmp/zcompdump'
END
	cat >>"$tmp/rc.zsh" <<'END'
bindkey '^I' complete-word
zstyle ':completion:*' list-grouped false
compadd() {
	case ${@[1,(i)(-|--)]} in *-(O|A|D)\ *) builtin compadd "$@"; return ;; esac
	local -a found texts
	local i name
	(( $@[(I)-d] )) && name=${@[$(( ${@[(i)-d]} + 1 ))]} && [[ $name != \(* ]] && texts=("${(@P)name}")
	builtin compadd -A found -D texts "$@"
	for ((i = 1; i <= $#found; i++)) { print -r -- "$BUFFER: $found[i]"$'\t'"$texts[i]" >>$out }
	builtin compadd "$@"
}
quiet() { compstate[insert]= compstate[list]= }
comppostfuncs=(quiet)
said() { print -r -- "(said)"; BUFFER= }
zle -N said && bindkey '^X^N' said
print -r -- '(rea''dy)'
END
	cat >"$tmp/outer.zsh" <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "source $1"
zpty -r z got '*(ready)*'
while IFS= read -r line; do
	zpty -n -w z "$line"$'\t\x18\x0e'
	zpty -r z got '*(said)*'
done
zpty -d z
END
	: >"$tmp/zsh.out"
	TERM=dumb zsh -f "$tmp/outer.zsh" "$tmp/rc.zsh"
	cat "$tmp/zsh.out"
}

in_fish() {
	cat >"$tmp/all.fish" <<'END'
set -p fish_complete_path $argv[1]/fish
cd $argv[2]
while read -l line
	for word in (complete -C "$line")
		printf '%s: %s\n' $line $word
	end
end
END
	HOME=$tmp fish --no-config "$tmp/all.fish" "$made" "$tmp/work"
}

# --- what is asked -------------------------------------------------------------------------------------------------------------

help_options() { sed 's/   */\n/g' | sed -n 's/^\(-[A-Za-z]\|--[a-z-]*\)\( .*\)\{0,1\}$/\1/p'; }
for tool in "$BIN"/ctp-*; do
	name=${tool##*/}
	if [ "$name" = ctp-ppt ]; then
		# Its help has a part for each command, and one for all.
		"$tool" --help | awk '/^ctp-ppt / { command = $2 } /^All/ { command = "" } { print command ":" $0 }' >"$tmp/parts"
		for command in list describe attach decode encode; do
			sed -n "s/^$command://p; s/^://p" "$tmp/parts" | help_options | sed "s/^/$name $command -: /"
		done
	else
		"$tool" --help | help_options | sed "s/^/$name -: /"
	fi
done >"$tmp/options"
ok 'there are options' test "$(wc -l <"$tmp/options")" -gt 150
sed 's/: .*//' "$tmp/options" | sort -u >"$tmp/asked"
cat >>"$tmp/asked" <<'END'
ctp-ppt 
ctp-stat 
ctp-stat ./
ctp-diff 
ctp-diff a.ctp -- 
ctp-fromcsv 
ctp-toctf -o 
ctp-tohtml --baseline 
ctp-report --sort r
ctp-report --folded=r
ctp-collect --dialect 
ctp-fromcacheray -b 
ctp-toparquet --partition 
ctp-collect -o 
ctp-collect --lossl
ctp-collect xyzzy-r
ctp-collect --ring 5 -o c.txt --lossless=3 -- xyzzy-r
ctp-collect -q ctp-report --sort r
END

words() { sed -n "s/^$1: //p" "$tmp/$shell" | sed 's/	.*//; s/ $//' | sort -u | tr '\n' ' '; } # LINE, as a pattern
check() { # SHELL PROGRAM: what it printed
	shell=$1
	if ! command -v "$1" >/dev/null || [ "${2:-}" ] && [ ! -e "${2:-}" ]; then
		skip "completions of $1: there is no ${2:-$1}"
		return
	fi
	"in_$1" <"$tmp/asked" >"$tmp/$1" 2>"$tmp/$1.err"
	is "$1 says nothing on stderr" "$(cat "$tmp/$1.err")" ''
	sed 's/	.*//; s/ $//' "$tmp/$1" | sort -u >"$tmp/got"
	is "$1: each option that -h has" "$(sort -u "$tmp/options" | comm -23 - "$tmp/got")" ''
	is "$1: the commands of ctp-ppt" "$(words 'ctp-ppt ')" 'attach decode describe encode list '
	like "$1: traces" "$(words 'ctp-stat ')" '^a.ctp b.ctp.zst (folder/? )?$'
	like "$1: traces in a folder" "$(words 'ctp-stat .\/')" '^((\./)?(a.ctp|b.ctp.zst|folder/?) )+$'
	like "$1: traces of two sides" "$(words 'ctp-diff ')" '^a.ctp b.ctp.zst (folder/? )?$'
	like "$1: traces after --" "$(words 'ctp-diff a.ctp -- ')" 'a.ctp b.ctp.zst (folder/? )?$'
	like "$1: other files that a tool reads" "$(words 'ctp-fromcsv ')" '^d.csv (folder/? )?$'
	like "$1: folders" "$(words 'ctp-toctf -o ')" '^folder/? $'
	like "$1: a trace as an argument" "$(words 'ctp-tohtml --baseline ')" '^a.ctp b.ctp.zst (folder/? )?$'
	is "$1: values" "$(words 'ctp-report --sort r')" 'runnable running '
	like "$1: values of an optional argument" "$(words 'ctp-report --folded=r')" '^(--folded=)?runnable (--folded=)?running $'
	is "$1: values that are in the synopsis" "$(words 'ctp-collect --dialect ')" 'auto plain seqlock '
	is "$1: values of a short option" "$(words 'ctp-fromcacheray -b ')" 'big little '
	is "$1: values with a comma" "$(words 'ctp-toparquet --partition ')" 'date host host,date '
	like "$1: any file to write to" "$(words 'ctp-collect -o ')" 'c.txt d.csv'
	like "$1: the rest of a long option" "$(words 'ctp-collect --lossl')" '^--lossless (--lossless= )?$'
	like "$1: a command to run" "$(words 'ctp-collect xyzzy-r')" '^xyzzy-run $'
	like "$1: and after options" "$(words 'ctp-collect --ring 5 -o c.txt --lossless=3 -- xyzzy-r')" '^xyzzy-run $'
}
own() { # what the command completes, if its completion is found
	is "$shell: the options of that command are its own" "$(words 'ctp-collect -q ctp-report --sort r')" 'runnable running '
}
described() {
	like "$shell: options have descriptions" "$(grep '^ctp-stat -: -j' "$tmp/$shell")" '	.*print one JSON object'
}

check bash /usr/share/bash-completion/bash_completion
check zsh && { [ ! -s "$tmp/zsh" ] || { own; described; }; }
check fish && { [ ! -s "$tmp/fish" ] || { own; described; }; }
done_testing
