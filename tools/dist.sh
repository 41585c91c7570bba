#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# dist.sh VERSION DIR - makes the tarball of the tree DIR/ctptools-VERSION.tar.gz, from the top of the tree, and prints its SHA-256.
#
# The same tree gives the same bytes, whoever makes it and where: names are sorted, owners and modes are fixed, and each file has the
# time SOURCE_DATE_EPOCH, or that of the last commit. The file .dist in the tarball has this time and the names of the files, so that an
# unpacked tarball makes the same one again without git. gzip, because its output has not changed for years; that of xz depends on its
# version and its threads, for a quarter less.
set -eu
version=$1 dir=$2
LC_ALL=C
export LC_ALL
name=ctptools-$version

mkdir -p "$dir/dist"
if [ -e .git ]; then
	git ls-files >"$dir/dist/names"
	epoch=$(git log -1 --format=%ct)
elif [ -f .dist ]; then
	sed 1d .dist >"$dir/dist/names"
	epoch=$(sed -n '1s/^epoch //p' .dist)
else
	echo 'make dist: neither a clone nor an unpacked tarball: there is no .git and no .dist' >&2
	exit 1
fi
epoch=${SOURCE_DATE_EPOCH:-$epoch}
sort -o "$dir/dist/names" "$dir/dist/names"
{
	echo "epoch $epoch"
	cat "$dir/dist/names"
} >"$dir/dist/.dist"
tar -cf "$dir/dist/$name.tar" --format=gnu --mtime="@$epoch" --owner=root:0 --group=root:0 --numeric-owner --mode=u=rwX,go=rX \
	--no-recursion --transform="flags=rSh;s,^,$name/," --verbatim-files-from -T "$dir/dist/names" -C "$dir/dist" .dist
gzip -9n <"$dir/dist/$name.tar" >"$dir/dist/$name.tar.gz"
mv "$dir/dist/$name.tar.gz" "$dir"
rm -r "$dir/dist"
(cd "$dir" && sha256sum "$name.tar.gz")
