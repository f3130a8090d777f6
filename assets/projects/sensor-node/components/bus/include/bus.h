/*
 * The I2C port of the node.
 */
#ifndef BUS_H
#define BUS_H

#include <stddef.h>
#include <stdint.h>

#include "driver/i2c_master.h"
#include "esp_err.h"

#define BUS_SDA GPIO_NUM_21
#define BUS_SCL GPIO_NUM_22
#define BUS_HZ  100000

/* Sets the port up. To be called once, before everything else. */
esp_err_t bus_init(void);

/* Makes a handle for the device at a 7-bit address. */
esp_err_t bus_add(uint8_t address, i2c_master_dev_handle_t *device);

/* Reads registers that follow each other, beginning with `reg`. */
esp_err_t bus_read(i2c_master_dev_handle_t device, uint8_t reg, uint8_t *data, size_t length);

/* Writes one register. */
esp_err_t bus_write(i2c_master_dev_handle_t device, uint8_t reg, uint8_t value);

#endif /* BUS_H */
