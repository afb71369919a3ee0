#!/usr/bin/env bash

# Counts what stands on a shelf.
count() {
  echo "$1: $2"
}

# sell takes one thing off.
sell() {
  count "$1" "$(($2 - 1))"
}
