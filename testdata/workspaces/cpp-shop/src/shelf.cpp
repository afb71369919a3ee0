#include "shelf.hpp"

#include <utility>

namespace shop {

Shelf::Shelf(std::string name) : name_(std::move(name)) {}

void Shelf::add(int n) { count_ += n; }

int Shelf::count() const { return count_; }

std::string Shelf::describe() const { return name_ + ": " + std::to_string(count()); }

} // namespace shop
