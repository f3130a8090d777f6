/*
 * One LED on one pin.
 */
#ifndef LED_H
#define LED_H

#include <stdbool.h>

#include "driver/gpio.h"
#include "esp_err.h"

#define LED_PIN GPIO_NUM_2

/* Sets the pin up; the LED is off. */
esp_err_t led_init(void);

/* Switches it over and tells whether it is on now. */
bool led_toggle(void);

#endif /* LED_H */
