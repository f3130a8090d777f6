/* Smooths readings that jump, and prints both. */
#include <inttypes.h>
#include <stdint.h>

#include "esp_log.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "smooth.h"

static const char *TAG = "smooth";

void app_main(void)
{
    static const int32_t READINGS[] = {200, 204, 196, 300, 201, 199, 203, 198};
    smooth_t smooth;
    smooth_init(&smooth, 4);
    for (size_t i = 0;; i = (i + 1) % (sizeof READINGS / sizeof READINGS[0])) {
        ESP_LOGI(TAG, "reading=%" PRId32 " average=%" PRId32, READINGS[i], smooth_add(&smooth, READINGS[i]));
        vTaskDelay(pdMS_TO_TICKS(500));
    }
}
