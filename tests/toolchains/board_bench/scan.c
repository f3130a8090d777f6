#include <stdio.h>
#include "driver/i2c_master.h"
#include "esp_log.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

static const char *TAG = "scan";

void app_main(void)
{
    i2c_master_bus_config_t config = {
        .i2c_port = I2C_NUM_0,
        .sda_io_num = GPIO_NUM_21,
        .scl_io_num = GPIO_NUM_22,
        .clk_source = I2C_CLK_SRC_DEFAULT,
        .glitch_ignore_cnt = 7,
        .flags.enable_internal_pullup = true,
    };
    i2c_master_bus_handle_t bus;
    ESP_ERROR_CHECK(i2c_new_master_bus(&config, &bus));
    for (uint16_t address = 0x08; address < 0x78; address++) {
        if (i2c_master_probe(bus, address, 20) == ESP_OK) {
            ESP_LOGI(TAG, "found 0x%02x", address);
        }
    }

    i2c_device_config_t sensor_config = {
        .dev_addr_length = I2C_ADDR_BIT_LEN_7, .device_address = 0x76, .scl_speed_hz = 400000};
    i2c_master_dev_handle_t sensor;
    ESP_ERROR_CHECK(i2c_master_bus_add_device(bus, &sensor_config, &sensor));
    uint8_t reg = 0xD0;
    uint8_t id;
    ESP_ERROR_CHECK(i2c_master_transmit_receive(sensor, &reg, 1, &id, 1, -1));
    ESP_LOGI(TAG, "chip id 0x%02x", id);

    uint8_t measure[] = {0xF4, 0x25};
    ESP_ERROR_CHECK(i2c_master_transmit(sensor, measure, sizeof measure, -1));
    vTaskDelay(pdMS_TO_TICKS(10));
    uint8_t calibration[6];
    uint8_t raw[3];
    reg = 0x88;
    ESP_ERROR_CHECK(i2c_master_transmit_receive(sensor, &reg, 1, calibration, 6, -1));
    reg = 0xFA;
    ESP_ERROR_CHECK(i2c_master_transmit_receive(sensor, &reg, 1, raw, 3, -1));
    // The data sheet's integer formula.
    int32_t t1 = calibration[0] | calibration[1] << 8;
    int32_t t2 = (int16_t)(calibration[2] | calibration[3] << 8);
    int32_t t3 = (int16_t)(calibration[4] | calibration[5] << 8);
    int32_t adc = raw[0] << 12 | raw[1] << 4 | raw[2] >> 4;
    int32_t v1 = (((adc >> 3) - (t1 << 1)) * t2) >> 11;
    int32_t v2 = ((((adc >> 4) - t1) * ((adc >> 4) - t1)) >> 12) * t3 >> 14;
    ESP_LOGI(TAG, "temperature %d centidegrees", (int)(((v1 + v2) * 5 + 128) >> 8));

    i2c_device_config_t nobody_config = {.device_address = 0x50, .scl_speed_hz = 100000};
    i2c_master_dev_handle_t nobody;
    ESP_ERROR_CHECK(i2c_master_bus_add_device(bus, &nobody_config, &nobody));
    esp_err_t failed = i2c_master_transmit(nobody, &reg, 1, 100);
    ESP_LOGI(TAG, "nobody: %s", esp_err_to_name(failed));
    ESP_LOGI(TAG, "scan done");
}
