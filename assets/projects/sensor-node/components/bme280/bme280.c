#include "bme280.h"

#include "bus.h"
#include "esp_check.h"
#include "esp_log.h"

static const char *TAG = "bme280";

#define CHIP_BMP280 0x58
#define CHIP_BME280 0x60

#define REG_CALIBRATION 0x88
#define REG_CHIP_ID     0xD0
#define REG_CONTROL     0xF4
#define REG_TEMPERATURE 0xFA

/* Measure temperature and pressure over and over, one sample each. */
#define CONTROL_NORMAL 0x27

static i2c_master_dev_handle_t s_device;
static uint16_t s_t1;
static int16_t s_t2;
static int16_t s_t3;

esp_err_t bme280_init(uint8_t address)
{
    uint8_t id;
    uint8_t raw[6];
    ESP_RETURN_ON_ERROR(bus_add(address, &s_device), TAG, "cannot add the sensor");
    ESP_RETURN_ON_ERROR(bus_read(s_device, REG_CHIP_ID, &id, 1), TAG, "no answer");
    if (id != CHIP_BME280 && id != CHIP_BMP280) {
        return ESP_ERR_NOT_SUPPORTED;
    }
    ESP_RETURN_ON_ERROR(bus_read(s_device, REG_CALIBRATION, raw, sizeof raw), TAG,
                        "cannot read the calibration");
    s_t1 = (uint16_t)(raw[1] << 8 | raw[0]);
    s_t2 = (int16_t)(raw[3] << 8 | raw[2]);
    s_t3 = (int16_t)(raw[5] << 8 | raw[4]);
    return bus_write(s_device, REG_CONTROL, CONTROL_NORMAL);
}

esp_err_t bme280_read(int32_t *centidegrees)
{
    uint8_t raw[3];
    ESP_RETURN_ON_ERROR(bus_read(s_device, REG_TEMPERATURE, raw, sizeof raw), TAG,
                        "cannot read the temperature");
    const int32_t value = (int32_t)raw[0] << 12 | (int32_t)raw[1] << 4 | raw[2] >> 4;
    const int32_t linear = (((value >> 3) - ((int32_t)s_t1 << 1)) * s_t2) >> 11;
    const int32_t offset = (value >> 4) - s_t1;
    const int32_t square = (((offset * offset) >> 12) * s_t3) >> 14;
    *centidegrees = ((linear + square) * 5 + 128) >> 8;
    return ESP_OK;
}
