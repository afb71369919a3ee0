#include "till.hpp"

namespace shop {

bool sell(Shelf &shelf) {
  if (shelf.count() == 0) {
    return false;
  }
  shelf.add(-1);
  return true;
}

int total(const Shelf &left, const Shelf &right) { return left.count() + right.count(); }

} // namespace shop
