#!/usr/bin/env bash
# Spark needs Java 17 or newer. Finds it, or installs Debian's when that is possible, or says what to do.
set -euo pipefail

major() { # the major version of a java binary, or nothing
    "$1" -version 2>&1 | sed -nE 's/.*version "([0-9]+).*/\1/p' | head -n 1
}

java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
found="$(major "$java" 2>/dev/null || true)"
if [ -n "$found" ] && [ "$found" -ge 17 ]; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing Java 17 (openjdk-17-jre-headless)"
    apt-get update -qq
    # Newer Debian releases have no 17 any more; their default is newer.
    apt-get install -y -qq openjdk-17-jre-headless >/dev/null || apt-get install -y -qq default-jre-headless >/dev/null
    exit 0
fi
echo "hmstats needs Java 17 or newer for Spark, found ${found:-none}: install one, or name it in JAVA_HOME." >&2
exit 1
