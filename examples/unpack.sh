#!/bin/sh
# Unpacks the example data directories into the folder given (default: this one). They were written by real brokers;
# see README.md beside this file.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:-$here}
for archive in "$here"/*.tar.gz; do
    name=$(basename "$archive" .tar.gz)
    [ -d "$into/$name" ] && continue
    mkdir "$into/$name"
    tar xzf "$archive" -C "$into/$name"
done
