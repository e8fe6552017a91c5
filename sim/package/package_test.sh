#!/usr/bin/env bash
# Packs a build, checks the package and runs what is in it: package_test.sh CPACK BUILD. Exit code
# 77 where there is nothing to pack Debian packages with.
set -euo pipefail
for tool in dpkg-deb dpkg-shlibdeps man; do
    command -v "$tool" > /dev/null || { echo "no $tool"; exit 77; }
done
cpack=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*"; exit 1; }

cd "$2"
"$cpack" -G DEB -B "$folder" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip > "$folder/cpack.log" 2>&1 ||
    { cat "$folder/cpack.log"; exit 1; }
package=$(echo "$folder"/tilesim_*.deb)
if command -v lintian > /dev/null; then
    lintian --allow-root --fail-on error,warning "$package"
else
    echo "no lintian: the package is not checked by it"
fi

# Unpacked where nothing of the build is: the program finds its own files.
dpkg-deb -x "$package" "$folder/root"
usr=$folder/root/usr
cd "$folder"
export PATH=$usr/bin:$PATH
tilesim run "$usr/share/tilesim/configs/scenarios/xdna_functional.yaml" > run.txt
cp "$usr/share/tilesim/configs/devices/xdna2.yaml" "$usr/share/tilesim/configs/devices/mine.yaml"
tilesim describe mine > describe.txt  # a device that only this folder has
tilesim validate versal > validate.txt
for command in run sweep report; do
    man -l "$usr/share/man/man1/tilesim-$command.1.gz" 2>&1 | grep -q EXAMPLES ||
        fail "no examples in the page of $command"
done
bash -n "$usr/share/bash-completion/completions/tilesim"
[ -s "$usr/share/zsh/vendor-completions/_tilesim" ] || fail "no completion for zsh"
if [ -d "$usr/lib/python3/dist-packages/tilesim" ]; then
    dpkg-deb --field "$package" Depends | grep -qE 'python3 \(>= 3\.[0-9]+\), python3 \(<< 3\.[0-9]{2}' || fail "python3 is no dependency"
    PYTHONPATH=$usr/lib/python3/dist-packages python3 -B -c 'import tilesim; tilesim.describe("mine")'
fi
