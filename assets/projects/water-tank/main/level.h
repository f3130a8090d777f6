/*
 * The level of the tank, from three float switches that close when they float.
 */
#ifndef LEVEL_H
#define LEVEL_H

#include "esp_err.h"

/* Sets the inputs up. */
esp_err_t level_init(void);

/* Tells the level in percent. ESP_ERR_INVALID_STATE: a switch floats above one that does not. */
esp_err_t level_read(int *percent);

#endif /* LEVEL_H */
