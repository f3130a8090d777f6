#include "bus.h"

#define TIMEOUT_MS 50

static i2c_master_bus_handle_t s_bus;

esp_err_t bus_init(void)
{
    const i2c_master_bus_config_t config = {
        .i2c_port = I2C_NUM_0,
        .sda_io_num = BUS_SDA,
        .scl_io_num = BUS_SCL,
        .clk_source = I2C_CLK_SRC_DEFAULT,
        .glitch_ignore_cnt = 7,
        .flags.enable_internal_pullup = true,
    };
    return i2c_new_master_bus(&config, &s_bus);
}

esp_err_t bus_add(uint8_t address, i2c_master_dev_handle_t *device)
{
    const i2c_device_config_t config = {
        .dev_addr_length = I2C_ADDR_BIT_LEN_7,
        .device_address = address,
        .scl_speed_hz = BUS_HZ,
    };
    return i2c_master_bus_add_device(s_bus, &config, device);
}

esp_err_t bus_read(i2c_master_dev_handle_t device, uint8_t reg, uint8_t *data, size_t length)
{
    return i2c_master_transmit_receive(device, &reg, 1, data, length, TIMEOUT_MS);
}

esp_err_t bus_write(i2c_master_dev_handle_t device, uint8_t reg, uint8_t value)
{
    const uint8_t data[] = {reg, value};
    return i2c_master_transmit(device, data, sizeof data, TIMEOUT_MS);
}
