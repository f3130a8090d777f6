#include "press_counter.h"

#include <stdbool.h>

/* A contact bounces for some milliseconds; so many equal looks in a row count. */
#define STEADY_LOOKS 3

static gpio_num_t s_pin;
static uint32_t s_count;
static int s_looks;
static bool s_is_down;

esp_err_t press_counter_init(gpio_num_t pin)
{
    const gpio_config_t config = {
        .pin_bit_mask = 1ULL << pin,
        .mode = GPIO_MODE_INPUT,
        .pull_up_en = GPIO_PULLUP_ENABLE,
    };
    s_pin = pin;
    return gpio_config(&config);
}

uint32_t press_counter_poll(void)
{
    const bool is_down = gpio_get_level(s_pin) == 0;
    s_looks = is_down == s_is_down ? 0 : s_looks + 1;
    if (s_looks >= STEADY_LOOKS) {
        s_is_down = is_down;
        s_looks = 0;
        s_count += is_down ? 1 : 0;
    }
    return s_count;
}
