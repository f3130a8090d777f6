#pragma once

#define ESP_ERR_NVS_BASE 0x1100 /*!< First number of the errors of this component */
#define ESP_ERR_NVS_NOT_ENOUGH_SPACE (ESP_ERR_NVS_BASE + 0x05) /*!< There is not enough space in the partition to keep the value */

/**
 * @brief Store a number of 32 bits under a key
 *
 * @param handle What nvs_open gave
 * @param key At most 15 characters
 * @param value The number
 * @return ESP_OK, or ESP_ERR_NVS_NOT_ENOUGH_SPACE when the partition is full
 */
esp_err_t nvs_set_i32(nvs_handle_t handle, const char *key, int32_t value);
