#include "till.hpp"

namespace shop {

// Written on another system.
int twice(const Shelf &shelf) {
  return 2 * shelf.count(); // é 日本 😀
}

} // namespace shop
