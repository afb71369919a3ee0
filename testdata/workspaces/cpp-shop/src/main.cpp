#include "till.hpp"

#include <iostream>

int main() {
  shop::Shelf tea("tea"), wide("日本 é 😀");
  tea.add(2);
  /* é 日本 😀 */ wide.add(3);
  if (!shop::sell(tea)) {
    return 1;
  }
  std::cout << "é 日本 😀 " << shop::total(tea, wide) << " of " << wide.count() << "\n";
  return shop::total(tea, wide) == 4 ? 0 : 1;
}
