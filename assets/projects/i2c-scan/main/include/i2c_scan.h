/*
 * Finds out who is on the bus.
 */
#ifndef I2C_SCAN_H
#define I2C_SCAN_H

#include <stdint.h>

#include "esp_err.h"

/* Asks every address that a device may have, logs those that answer, and returns their number. */
int i2c_scan_run(void);

/* Reads the chip id (register 0xD0) of a Bosch sensor at that address. */
esp_err_t i2c_scan_chip_id(uint8_t address, uint8_t *id);

#endif /* I2C_SCAN_H */
