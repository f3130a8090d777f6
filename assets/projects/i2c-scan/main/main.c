/*
 * Scans the I2C bus, asks the sensor at 0x76 who it is, and reports its temperature.
 */
#include "esp_check.h"
#include "esp_log.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "i2c_bus.h"
#include "i2c_scan.h"

static const char *TAG = "main";

#define SENSOR_ADDRESS 0x76
#define CHIP_BMP280    0x58
#define CHIP_BME280    0x60

#define REG_CALIBRATION 0x88
#define REG_CONTROL     0xF4
#define REG_TEMPERATURE 0xFA

/* Measure temperature and pressure over and over, one sample each. */
#define CONTROL_NORMAL 0x27

#define PERIOD_MS 1000

/* Factory values of the sensor's thermometer. */
typedef struct {
    uint16_t t1;
    int16_t t2;
    int16_t t3;
} calibration_t;

static esp_err_t read_calibration(i2c_master_dev_handle_t sensor, calibration_t *calibration)
{
    uint8_t raw[6];
    ESP_RETURN_ON_ERROR(i2c_bus_read(sensor, REG_CALIBRATION, raw, sizeof raw), TAG,
                        "cannot read the calibration");
    calibration->t1 = (uint16_t)(raw[1] << 8 | raw[0]);
    calibration->t2 = (int16_t)(raw[3] << 8 | raw[2]);
    calibration->t3 = (int16_t)(raw[5] << 8 | raw[4]);
    return ESP_OK;
}

/* Hundredths of a degree Celsius from a raw value, as the data sheet computes them. */
static int32_t to_centidegrees(const calibration_t *calibration, int32_t raw)
{
    const int32_t t1 = calibration->t1;
    const int32_t linear = (((raw >> 3) - (t1 << 1)) * calibration->t2) >> 11;
    const int32_t offset = (raw >> 4) - t1;
    const int32_t square = (((offset * offset) >> 12) * calibration->t3) >> 14;
    return ((linear + square) * 5 + 128) >> 8;
}

static esp_err_t read_temperature(i2c_master_dev_handle_t sensor, const calibration_t *calibration,
                                  int32_t *centidegrees)
{
    uint8_t raw[3];
    ESP_RETURN_ON_ERROR(i2c_bus_read(sensor, REG_TEMPERATURE, raw, sizeof raw), TAG,
                        "cannot read the temperature");
    const int32_t value = (int32_t)raw[0] << 12 | (int32_t)raw[1] << 4 | raw[2] >> 4;
    *centidegrees = to_centidegrees(calibration, value);
    return ESP_OK;
}

/* Reports the temperature for as long as the sensor answers. */
static esp_err_t report(void)
{
    i2c_master_dev_handle_t sensor;
    calibration_t calibration;
    ESP_RETURN_ON_ERROR(i2c_bus_add(SENSOR_ADDRESS, &sensor), TAG, "cannot add the sensor");
    ESP_RETURN_ON_ERROR(read_calibration(sensor, &calibration), TAG, "no calibration");
    ESP_RETURN_ON_ERROR(i2c_bus_write(sensor, REG_CONTROL, CONTROL_NORMAL), TAG,
                        "cannot start measuring");
    for (;;) {
        vTaskDelay(pdMS_TO_TICKS(PERIOD_MS));
        int32_t centidegrees;
        ESP_RETURN_ON_ERROR(read_temperature(sensor, &calibration, &centidegrees), TAG,
                            "the sensor stopped answering");
        ESP_LOGI(TAG, "temp=%.1f", centidegrees / 100.0);
    }
}

void app_main(void)
{
    ESP_ERROR_CHECK(i2c_bus_init());
    ESP_LOGI(TAG, "%d devices on the bus", i2c_scan_run());

    uint8_t id;
    const esp_err_t err = i2c_scan_chip_id(SENSOR_ADDRESS, &id);
    if (err != ESP_OK) {
        ESP_LOGE(TAG, "no chip id from 0x%02X: %s", SENSOR_ADDRESS, esp_err_to_name(err));
        return;
    }
    ESP_LOGI(TAG, "chip id of 0x%02X (register 0xD0): 0x%02X", SENSOR_ADDRESS, id);
    if (id != CHIP_BME280 && id != CHIP_BMP280) {
        ESP_LOGW(TAG, "this is no BME280 or BMP280; its temperature is not read");
        return;
    }
    report();
}
