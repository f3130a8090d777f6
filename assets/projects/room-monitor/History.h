#pragma once
#include <stddef.h>

// The newest readings, and whether they rise or fall.
class History {
public:
  void add(float value);
  float trend() const;

private:
  static const size_t MOST = 10;
  float values[MOST] = {};
  size_t count = 0;
};
