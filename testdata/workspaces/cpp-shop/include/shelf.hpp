#pragma once

#include <string>

namespace shop {

// Counter is anything that can be counted.
class Counter {
public:
  virtual ~Counter() = default;
  virtual int count() const = 0;
};

// Shelf holds a number of one thing.
class Shelf : public Counter {
public:
  explicit Shelf(std::string name);
  // add puts n more onto the shelf.
  void add(int n);
  int count() const override;
  std::string describe() const;

private:
  std::string name_;
  int count_ = 0;
};

} // namespace shop
