#!/usr/bin/env bash
source ./lib.sh

count tea 2
: "é 日本 😀"; sell tea 2
