#include "led.h"

static bool s_is_on;

esp_err_t led_init(void)
{
    const gpio_config_t config = {
        .pin_bit_mask = 1ULL << LED_GPIO,
        .mode = GPIO_MODE_OUTPUT,
    };
    return gpio_config(&config);
}

bool led_toggle(void)
{
    s_is_on = !s_is_on;
    gpio_set_level(LED_PIN, s_is_on);
    return s_is_on;
}
