// Virtual board: I2C master. On the bus: a display at 0x3C, a sensor at 0x76.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "driver/i2c_types.h"
#include "esp_err.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    i2c_port_num_t i2c_port;
    gpio_num_t sda_io_num;
    gpio_num_t scl_io_num;
    union {
        i2c_clock_source_t clk_source;
    };
    uint8_t glitch_ignore_cnt;
    int intr_priority;
    size_t trans_queue_depth;
    struct {
        uint32_t enable_internal_pullup : 1;
        uint32_t allow_pd : 1;
    } flags;
} i2c_master_bus_config_t;

#define I2C_DEVICE_ADDRESS_NOT_USED (0xffff)
typedef struct {
    i2c_addr_bit_len_t dev_addr_length;
    uint16_t device_address;
    uint32_t scl_speed_hz;
    uint32_t scl_wait_us;
    struct {
        uint32_t disable_ack_check : 1;
    } flags;
} i2c_device_config_t;

typedef struct {
    const uint8_t *write_buffer;
    size_t buffer_size;
} i2c_master_transmit_multi_buffer_info_t;

esp_err_t i2c_new_master_bus(const i2c_master_bus_config_t *config,
                             i2c_master_bus_handle_t *bus);
esp_err_t i2c_del_master_bus(i2c_master_bus_handle_t bus);
esp_err_t i2c_master_get_bus_handle(i2c_port_num_t port, i2c_master_bus_handle_t *bus);
esp_err_t i2c_master_bus_add_device(i2c_master_bus_handle_t bus, const i2c_device_config_t *config,
                                    i2c_master_dev_handle_t *device);
esp_err_t i2c_master_bus_rm_device(i2c_master_dev_handle_t device);
esp_err_t i2c_master_probe(i2c_master_bus_handle_t bus, uint16_t address, int timeout_ms);
esp_err_t i2c_master_transmit(i2c_master_dev_handle_t device, const uint8_t *data, size_t length,
                              int timeout_ms);
esp_err_t i2c_master_multi_buffer_transmit(i2c_master_dev_handle_t device,
                                           i2c_master_transmit_multi_buffer_info_t *buffers,
                                           size_t count, int timeout_ms);
esp_err_t i2c_master_receive(i2c_master_dev_handle_t device, uint8_t *data, size_t length,
                             int timeout_ms);
esp_err_t i2c_master_transmit_receive(i2c_master_dev_handle_t device, const uint8_t *write,
                                      size_t write_length, uint8_t *read, size_t read_length,
                                      int timeout_ms);
esp_err_t i2c_master_bus_reset(i2c_master_bus_handle_t bus);
esp_err_t i2c_master_bus_wait_all_done(i2c_master_bus_handle_t bus, int timeout_ms);

#ifdef __cplusplus
}
#endif
