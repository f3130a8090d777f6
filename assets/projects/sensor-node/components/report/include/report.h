/*
 * What the node prints about its readings.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdint.h>

#define REPORT_PERIOD_MS 1000

/* Prints a temperature, given in hundredths of a degree Celsius. */
void report_temperature(int32_t centidegrees);

#endif /* REPORT_H */
