/*
 * Reads the sensor once a period and reports what it says.
 */
#include "esp_log.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "bme280.h"
#include "bus.h"
#include "report.h"

static const char *TAG = "main";

#define SENSOR_ADDRESS 0x76

void app_main(void)
{
    ESP_ERROR_CHECK(bus_init());
    ESP_ERROR_CHECK(bme280_init(SENSOR_ADDRESS));
    ESP_LOGI(TAG, "one reading every %d ms", REPORT_PERIOD_MS);

    for (;;) {
        vTaskDelay(pdMS_TO_TICKS(REPORT_PERIOD_MS));
        int32_t centidegrees;
        const esp_err_t err = bme280_read(&centidegrees);
        if (err != ESP_OK) {
            ESP_LOGW(TAG, "no reading: %s", esp_err_to_name(err));
            continue;
        }
        report_temperature(centidegrees);
    }
}
