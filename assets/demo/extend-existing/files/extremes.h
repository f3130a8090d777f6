/*
 * The lowest and highest temperature since the start.
 */
#ifndef EXTREMES_H
#define EXTREMES_H

#include <stdint.h>

/* Takes a temperature, given in hundredths of a degree Celsius; logs both after every third. */
void extremes_take(int32_t centidegrees);

#endif /* EXTREMES_H */
