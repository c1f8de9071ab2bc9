#!/usr/bin/env bash
# promtool on the rules and their tests. promtool.sh RULES TESTS; 77: promtool is not installed.
set -euo pipefail
command -v promtool >/dev/null || { echo "promtool (package prometheus) is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$1" "$folder/trainward.rules.yml"
cp "$2" "$folder/rules_test.yml"
cd "$folder"
promtool check rules trainward.rules.yml
promtool test rules rules_test.yml
