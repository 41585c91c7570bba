#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# policy.sh PAGE - writes the page with a policy that names the hash of each of its scripts and styles, so that a browser runs and
# applies no other. The tags <script> and <style> are alone on their lines. Scripts with data have a type, and no browser runs them.
set -e

# The text between the n-th pair of such tags: what a browser hashes.
inside() {
	awk -v tag="$1" -v n="$2" '
		$0 == "</" tag ">" { inside = 0 }
		inside { print }
		$0 == "<" tag ">" && ++seen == n { inside = 1; print "" }' "$3"
}

# The 64 hexadecimal digits of a hash as base64: three of them are two letters, and one is left.
base64_of() {
	awk -v hex="$1" 'BEGIN {
		letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		for (i = 1; i <= length(hex); i += 3) {
			bits = 0
			for (k = i; k < i + 3; k++)
				bits = bits * 16 + (k <= length(hex) ? index("0123456789abcdef", substr(hex, k, 1)) - 1 : 0)
			text = text substr(letters, int(bits / 64) + 1, 1) (i < length(hex) ? substr(letters, bits % 64 + 1, 1) : "=")
		}
		print text
	}'
}

# The sources of the policy for a tag: a hash for each.
hashes() {
	count=$(grep -c "^<$1>\$" "$2")
	for n in $(seq "$count"); do
		sum=$(inside "$1" "$n" "$2" | sha256sum)
		printf " 'sha256-%s'" "$(base64_of "${sum%% *}")"
	done
}

scripts=$(hashes script "$1") styles=$(hashes style "$1")
sed -e "s| {script hashes}|$scripts|" -e "s| {style hashes}|$styles|" "$1"
