#include "i2c_bus.h"

#include "esp_check.h"
#include "esp_log.h"

static const char *TAG = "i2c_bus";

/* A device that does not answer must not hold the firmware up. */
#define TIMEOUT_MS 50

static i2c_master_bus_handle_t s_bus;

esp_err_t i2c_bus_init(void)
{
    const i2c_master_bus_config_t config = {
        .i2c_port = I2C_NUM_0,
        .sda_io_num = I2C_BUS_SDA,
        .scl_io_num = I2C_BUS_SCL,
        .clk_source = I2C_CLK_SRC_DEFAULT,
        .glitch_ignore_cnt = 7,
        .flags.enable_internal_pullup = true,
    };
    ESP_RETURN_ON_ERROR(i2c_new_master_bus(&config, &s_bus), TAG, "cannot set up the port");
    ESP_LOGI(TAG, "ready: SDA on GPIO %d, SCL on GPIO %d, %d Hz", I2C_BUS_SDA, I2C_BUS_SCL,
             I2C_BUS_HZ);
    return ESP_OK;
}

bool i2c_bus_has(uint8_t address)
{
    return i2c_master_probe(s_bus, address, TIMEOUT_MS) == ESP_OK;
}

esp_err_t i2c_bus_add(uint8_t address, i2c_master_dev_handle_t *device)
{
    const i2c_device_config_t config = {
        .dev_addr_length = I2C_ADDR_BIT_LEN_7,
        .device_address = address,
        .scl_speed_hz = I2C_BUS_HZ,
    };
    return i2c_master_bus_add_device(s_bus, &config, device);
}

esp_err_t i2c_bus_remove(i2c_master_dev_handle_t device)
{
    return i2c_master_bus_rm_device(device);
}

esp_err_t i2c_bus_read(i2c_master_dev_handle_t device, uint8_t reg, uint8_t *data, size_t length)
{
    /* The register's number and the answer in one transfer, without a stop in between. */
    return i2c_master_transmit_receive(device, &reg, 1, data, length, TIMEOUT_MS);
}

esp_err_t i2c_bus_write(i2c_master_dev_handle_t device, uint8_t reg, uint8_t value)
{
    const uint8_t data[] = {reg, value};
    return i2c_master_transmit(device, data, sizeof data, TIMEOUT_MS);
}
