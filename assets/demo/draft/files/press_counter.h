/*
 * Counts the presses of a button that pulls its pin low.
 */
#ifndef PRESS_COUNTER_H
#define PRESS_COUNTER_H

#include <stdint.h>

#include "driver/gpio.h"
#include "esp_err.h"

/* Sets the pin up as an input with a pull-up. */
esp_err_t press_counter_init(gpio_num_t pin);

/* Looks at the pin and returns the presses so far. To be called every 10 ms. */
uint32_t press_counter_poll(void);

#endif /* PRESS_COUNTER_H */
