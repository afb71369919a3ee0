#include "till.hpp"

namespace shop {

// Written on another system.
int twice(Shelf &shelf) {
  /* é 日本 😀 */ shelf.add(0);
  return 2 * shelf.count();
}

} // namespace shop
