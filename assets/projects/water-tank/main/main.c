/*
 * Tells the level of a water tank once a second, and warns when it runs low.
 */
#include "esp_log.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "level.h"

static const char *TAG = "tank";

#define LOW_PERCENT 30

void app_main(void)
{
    ESP_ERROR_CHECK(level_init());
    for (;;) {
        vTaskDelay(pdMS_TO_TICKS(1000));
        const int percent = level_read();
        ESP_LOGI(TAG, "level=%d %%", percent);
        if (percent < LOW_PERCENT) {
            ESP_LOGW(TAG, "the tank runs low");
        }
    }
}
