// Virtual board: GPIO without wires.
#include <pthread.h>
#include "driver/gpio.h"
#include "esp_log.h"
#include "vb.h"

struct pin {
    gpio_mode_t mode;
    bool pull_up;
    bool pull_down;
    bool level;
    bool enabled;
    gpio_int_type_t type;
    gpio_isr_t handler;
    void *arg;
};

static const char *TAG = "gpio";
static struct pin pins[GPIO_PIN_COUNT];
static bool service;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static bool valid(gpio_num_t pin, const char *function) {
    if (GPIO_IS_VALID_GPIO(pin)) {
        return true;
    }
    ESP_LOGE(TAG, "%s: GPIO number error", function);
    return false;
}

static bool reads(const struct pin *pin) {
    if ((pin->mode & GPIO_MODE_INPUT) == 0) {
        return false;
    }
    if ((pin->mode & GPIO_MODE_OUTPUT) != 0) {
        return pin->level;
    }
    return pin->pull_up && !pin->pull_down;
}

esp_err_t gpio_set_direction(gpio_num_t pin, gpio_mode_t mode) {
    if (!valid(pin, __func__)) {
        return ESP_ERR_INVALID_ARG;
    }
    if ((mode & GPIO_MODE_OUTPUT) != 0 && !GPIO_IS_VALID_OUTPUT_GPIO(pin)) {
        ESP_LOGE(TAG, "io_num=%d can only be input", (int)pin);
        return ESP_ERR_INVALID_ARG;
    }
    pins[pin].mode = mode;
    return ESP_OK;
}

esp_err_t gpio_config(const gpio_config_t *config) {
    if (config == NULL || config->pin_bit_mask == 0 || config->pin_bit_mask >> GPIO_PIN_COUNT != 0) {
        ESP_LOGE(TAG, "gpio_config: GPIO_PIN mask error");
        return ESP_ERR_INVALID_ARG;
    }
    for (int n = 0; n < GPIO_PIN_COUNT; n++) {
        if ((config->pin_bit_mask >> n & 1) == 0) {
            continue;
        }
        esp_err_t set = gpio_set_direction((gpio_num_t)n, config->mode);
        if (set != ESP_OK) {
            return set;
        }
        pins[n].pull_up = config->pull_up_en == GPIO_PULLUP_ENABLE;
        pins[n].pull_down = config->pull_down_en == GPIO_PULLDOWN_ENABLE;
        pins[n].type = config->intr_type;
        pins[n].enabled = config->intr_type != GPIO_INTR_DISABLE;
    }
    return ESP_OK;
}

esp_err_t gpio_reset_pin(gpio_num_t pin) {
    if (!valid(pin, __func__)) {
        return ESP_ERR_INVALID_ARG;
    }
    pins[pin] = (struct pin){.mode = GPIO_MODE_DISABLE, .pull_up = true};
    return ESP_OK;
}

static bool fires(const struct pin *pin, bool before, bool now) {
    if (!pin->enabled || pin->handler == NULL || before == now) {
        return false;
    }
    switch (pin->type) {
    case GPIO_INTR_POSEDGE:
    case GPIO_INTR_HIGH_LEVEL:
        return now;
    case GPIO_INTR_NEGEDGE:
    case GPIO_INTR_LOW_LEVEL:
        return !now;
    case GPIO_INTR_ANYEDGE:
        return true;
    default:
        return false;
    }
}

esp_err_t gpio_set_level(gpio_num_t pin, uint32_t level) {
    if (!valid(pin, __func__) || !GPIO_IS_VALID_OUTPUT_GPIO(pin)) {
        return ESP_ERR_INVALID_ARG;
    }
    pthread_mutex_lock(&guard);
    bool before = reads(&pins[pin]);
    pins[pin].level = level != 0;
    struct pin now = pins[pin];
    pthread_mutex_unlock(&guard);
    if (service && fires(&now, before, reads(&now))) {
        now.handler(now.arg);
    }
    return ESP_OK;
}

int gpio_get_level(gpio_num_t pin) { return GPIO_IS_VALID_GPIO(pin) && reads(&pins[pin]) ? 1 : 0; }

esp_err_t gpio_set_pull_mode(gpio_num_t pin, gpio_pull_mode_t pull) {
    if (!valid(pin, __func__)) {
        return ESP_ERR_INVALID_ARG;
    }
    pins[pin].pull_up = pull == GPIO_PULLUP_ONLY || pull == GPIO_PULLUP_PULLDOWN;
    pins[pin].pull_down = pull == GPIO_PULLDOWN_ONLY || pull == GPIO_PULLUP_PULLDOWN;
    return ESP_OK;
}

#define SETTER(name, assignment)                  \
    esp_err_t name(gpio_num_t pin) {              \
        if (!valid(pin, __func__)) {              \
            return ESP_ERR_INVALID_ARG;           \
        }                                         \
        pins[pin].assignment;                     \
        return ESP_OK;                            \
    }
SETTER(gpio_pullup_en, pull_up = true)
SETTER(gpio_pullup_dis, pull_up = false)
SETTER(gpio_pulldown_en, pull_down = true)
SETTER(gpio_pulldown_dis, pull_down = false)
SETTER(gpio_intr_enable, enabled = true)
SETTER(gpio_intr_disable, enabled = false)

esp_err_t gpio_set_intr_type(gpio_num_t pin, gpio_int_type_t type) {
    if (!valid(pin, __func__)) {
        return ESP_ERR_INVALID_ARG;
    }
    pins[pin].type = type;
    return ESP_OK;
}

esp_err_t gpio_install_isr_service(int flags) {
    (void)flags;
    if (service) {
        ESP_LOGE(TAG, "gpio_install_isr_service: GPIO isr service already installed");
        return ESP_ERR_INVALID_STATE;
    }
    service = true;
    return ESP_OK;
}
void gpio_uninstall_isr_service(void) { service = false; }

esp_err_t gpio_isr_handler_add(gpio_num_t pin, gpio_isr_t handler, void *arg) {
    if (!service) {
        ESP_LOGE(TAG, "gpio_isr_handler_add: GPIO isr service is not installed, "
                      "call gpio_install_isr_service() first");
        return ESP_ERR_INVALID_STATE;
    }
    if (!valid(pin, __func__)) {
        return ESP_ERR_INVALID_ARG;
    }
    pins[pin].handler = handler;
    pins[pin].arg = arg;
    pins[pin].enabled = true;
    return ESP_OK;
}
esp_err_t gpio_isr_handler_remove(gpio_num_t pin) {
    if (!service) {
        return ESP_ERR_INVALID_STATE;
    }
    if (!valid(pin, __func__)) {
        return ESP_ERR_INVALID_ARG;
    }
    pins[pin].handler = NULL;
    return ESP_OK;
}
