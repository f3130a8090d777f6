/*
 * Counts how often the button was pressed and says so.
 */
#include "esp_log.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "press_counter.h"

static const char *TAG = "main";

#define BUTTON GPIO_NUM_0

void app_main(void)
{
    ESP_ERROR_CHECK(press_counter_init(BUTTON));
    for (uint32_t told = 0;;) {
        vTaskDelay(pdMS_TO_TICKS(10));
        const uint32_t count = press_counter_poll();
        if (count != told) {
            ESP_LOGI(TAG, "pressed %u times", (unsigned)count);
            told = count;
        }
    }
}
