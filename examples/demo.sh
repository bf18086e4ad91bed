#!/bin/sh
# What `make demo` runs: examples on data directories written by real brokers.
set -u
PATH="$(cd "$BIN" && pwd):$PATH"
cd "$(dirname "$0")" || exit 2
sh unpack.sh || exit 2

show() {
    printf '\n$ %s\n' "$*"
    "$@" || [ $? -eq 1 ] || exit 2
}

show pagectl --version
show pagectl pages ls news
show pagectl pages outstanding news
show pagectl pages verify news
show pagectl messages decode news --outstanding --queue red.news --limit 3
show pagectl pages inspect news --page 12 --record 3
show pagectl pages verify torn
