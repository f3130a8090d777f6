/*
 * What the node prints about its readings.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdint.h>

#define REPORT_PERIOD_MS 2000

/* Prints a temperature, given in hundredths of a degree Celsius, in Celsius and Fahrenheit. */
void report_temperature(int32_t centidegrees);

#endif /* REPORT_H */
