#include "History.h"

void History::add(float value) {
  if (count == MOST) {
    for (size_t i = 1; i < MOST; i++) {
      values[i - 1] = values[i];
    }
    count--;
  }
  values[count++] = value;
}

float History::trend() const {
  return count < 2 ? 0 : values[count - 1] - values[0];
}
