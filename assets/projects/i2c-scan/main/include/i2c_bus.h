/*
 * The I2C bus: one master port with its devices.
 *
 * Nothing in here knows what a device is for.
 */
#ifndef I2C_BUS_H
#define I2C_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/i2c_master.h"
#include "esp_err.h"

/* Wiring and speed. Real boards want pull-ups of 2.2 to 10 kOhm on both lines. */
#define I2C_BUS_SDA GPIO_NUM_21
#define I2C_BUS_SCL GPIO_NUM_22
#define I2C_BUS_HZ  100000

/* Sets the port up. To be called once, before everything else. */
esp_err_t i2c_bus_init(void);

/* Whether a device acknowledges its 7-bit address. */
bool i2c_bus_has(uint8_t address);

/* Makes a handle for the device at a 7-bit address. */
esp_err_t i2c_bus_add(uint8_t address, i2c_master_dev_handle_t *device);

/* Gives the handle back. */
esp_err_t i2c_bus_remove(i2c_master_dev_handle_t device);

/* Reads registers that follow each other, beginning with `reg`. */
esp_err_t i2c_bus_read(i2c_master_dev_handle_t device, uint8_t reg, uint8_t *data, size_t length);

/* Writes one register. */
esp_err_t i2c_bus_write(i2c_master_dev_handle_t device, uint8_t reg, uint8_t value);

#endif /* I2C_BUS_H */
