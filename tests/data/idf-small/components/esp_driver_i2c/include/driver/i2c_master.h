#pragma once

/**
 * @brief Find out whether a device answers at an address
 *
 * @param bus_handle The bus
 * @param address The address of the device, seven bits
 * @param xfer_timeout_ms The longest time to wait, in milliseconds; -1 waits for ever
 * @return ESP_OK when it answers, ESP_ERR_NOT_FOUND when it does not, ESP_ERR_TIMEOUT when the bus is held
 */
esp_err_t i2c_master_probe(i2c_master_bus_handle_t bus_handle, uint16_t address, int xfer_timeout_ms);
