#include "level.h"

#include "driver/gpio.h"

/* From the lowest switch to the highest. */
static const gpio_num_t PINS[] = {GPIO_NUM_4, GPIO_NUM_5, GPIO_NUM_18};

#define PIN_COUNT ((int)(sizeof PINS / sizeof PINS[0]))

esp_err_t level_init(void)
{
    gpio_config_t config = {
        .mode = GPIO_MODE_INPUT,
        .pull_up_en = GPIO_PULLUP_ENABLE,
        .pull_down_en = GPIO_PULLDOWN_DISABLE,
        .intr_type = GPIO_INTR_DISABLE,
    };
    for (int i = 0; i < PIN_COUNT; i++) {
        config.pin_bit_mask |= 1ULL << PINS[i];
    }
    return gpio_config(&config);
}

esp_err_t level_read(int *percent)
{
    int floating = 0;
    for (int i = 0; i < PIN_COUNT; i++) {
        if (gpio_get_level(PINS[i]) == 0) {
            if (floating != i) {
                return ESP_ERR_INVALID_STATE;
            }
            floating++;
        }
    }
    *percent = floating * 100 / PIN_COUNT;
    return ESP_OK;
}
