/*
 * The thermometer of a BME280 or BMP280.
 */
#ifndef BME280_H
#define BME280_H

#include <stdint.h>

#include "esp_err.h"

/* Finds the sensor at that address and starts it. ESP_ERR_NOT_SUPPORTED: another chip is there. */
esp_err_t bme280_init(uint8_t address);

/* Reads the temperature in hundredths of a degree Celsius. */
esp_err_t bme280_read(int32_t *centidegrees);

#endif /* BME280_H */
