#pragma once

#include "shelf.hpp"

namespace shop {

// sell takes one thing off a shelf, if there is one.
bool sell(Shelf &shelf);

// total counts what stands on two shelves.
int total(const Shelf &left, const Shelf &right);

} // namespace shop
