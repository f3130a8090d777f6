// Virtual board: the older I2C interface, its whole-transfer calls only.
#pragma once
#include "esp_err.h"
#include "freertos/FreeRTOS.h"
#include "hal/gpio_types.h"
#include "hal/i2c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    i2c_mode_t mode;
    int sda_io_num;
    int scl_io_num;
    bool sda_pullup_en;
    bool scl_pullup_en;
    union {
        struct {
            uint32_t clk_speed;
        } master;
    };
    uint32_t clk_flags;
} i2c_config_t;

esp_err_t i2c_param_config(i2c_port_t port, const i2c_config_t *config);
esp_err_t i2c_driver_install(i2c_port_t port, i2c_mode_t mode, size_t rx_buffer, size_t tx_buffer,
                             int flags);
esp_err_t i2c_driver_delete(i2c_port_t port);
esp_err_t i2c_master_write_to_device(i2c_port_t port, uint8_t address, const uint8_t *data,
                                     size_t length, TickType_t ticks);
esp_err_t i2c_master_read_from_device(i2c_port_t port, uint8_t address, uint8_t *data,
                                      size_t length, TickType_t ticks);
esp_err_t i2c_master_write_read_device(i2c_port_t port, uint8_t address, const uint8_t *write,
                                       size_t write_length, uint8_t *read, size_t read_length,
                                       TickType_t ticks);

#ifdef __cplusplus
}
#endif
