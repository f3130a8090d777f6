// Virtual board: the Arduino core's start, time, pins and chip.
#include "Arduino.h"
#include "driver/gpio.h"
#include "esp_chip_info.h"
#include "esp_heap_caps.h"
#include "esp_mac.h"
#include "esp_random.h"
#include "esp_rom_sys.h"
#include "nvs_flash.h"

#define LOOP_STACK 8192

EspClass ESP;

static void loop_task(void *unused) {
    (void)unused;
    setup();
    for (;;) {
        loop();
    }
}

extern "C" void app_main(void) {
    nvs_flash_init();
    xTaskCreatePinnedToCore(loop_task, "loopTask", LOOP_STACK, nullptr, 1, nullptr, 1);
}

unsigned long millis(void) { return (unsigned long)(uint32_t)(esp_timer_get_time() / 1000); }
unsigned long micros(void) { return (unsigned long)(uint32_t)esp_timer_get_time(); }
void delay(uint32_t milliseconds) { vTaskDelay(pdMS_TO_TICKS(milliseconds)); }
void delayMicroseconds(uint32_t microseconds) { esp_rom_delay_us(microseconds); }
void yield(void) { vTaskDelay(0); }

void pinMode(uint8_t pin, uint8_t mode) {
    if (!GPIO_IS_VALID_GPIO((int)pin)) {
        log_e("Invalid IO %u selected", (unsigned)pin);
        return;
    }
    gpio_config_t config = {};
    config.pin_bit_mask = 1ULL << pin;
    config.mode = (mode & OUTPUT) == OUTPUT ? GPIO_MODE_INPUT_OUTPUT : GPIO_MODE_INPUT;
    config.pull_up_en = (mode & PULLUP) != 0 ? GPIO_PULLUP_ENABLE : GPIO_PULLUP_DISABLE;
    config.pull_down_en = (mode & PULLDOWN) != 0 ? GPIO_PULLDOWN_ENABLE : GPIO_PULLDOWN_DISABLE;
    config.intr_type = GPIO_INTR_DISABLE;
    if (gpio_config(&config) != ESP_OK) {
        log_e("IO %u cannot be set up for that", (unsigned)pin);
    }
}

void digitalWrite(uint8_t pin, uint8_t level) {
    if (GPIO_IS_VALID_GPIO((int)pin)) {
        gpio_set_level((gpio_num_t)pin, level != LOW);
    }
}

int digitalRead(uint8_t pin) {
    return GPIO_IS_VALID_GPIO((int)pin) ? gpio_get_level((gpio_num_t)pin) : LOW;
}

static gpio_int_type_t trigger_of(int mode) {
    switch (mode) {
    case RISING:
        return GPIO_INTR_POSEDGE;
    case FALLING:
        return GPIO_INTR_NEGEDGE;
    case ONLOW:
        return GPIO_INTR_LOW_LEVEL;
    case ONHIGH:
        return GPIO_INTR_HIGH_LEVEL;
    default:
        return GPIO_INTR_ANYEDGE;
    }
}

static void call_without_argument(void *handler) { ((void (*)(void))handler)(); }

void attachInterruptArg(uint8_t pin, void (*handler)(void *), void *arg, int mode) {
    static bool installed;
    if (!installed) {
        gpio_install_isr_service(0);
        installed = true;
    }
    gpio_set_intr_type((gpio_num_t)pin, trigger_of(mode));
    gpio_isr_handler_add((gpio_num_t)pin, handler, arg);
    gpio_intr_enable((gpio_num_t)pin);
}

void attachInterrupt(uint8_t pin, void (*handler)(void), int mode) {
    attachInterruptArg(pin, call_without_argument, (void *)handler, mode);
}

void detachInterrupt(uint8_t pin) {
    gpio_intr_disable((gpio_num_t)pin);
    gpio_isr_handler_remove((gpio_num_t)pin);
}

static bool seeded;

void randomSeed(unsigned long seed) {
    srandom((unsigned int)seed);
    seeded = seed != 0;
}

long random(long high) {
    if (high <= 0) {
        return 0;
    }
    const unsigned long drawn = seeded ? (unsigned long)::random() : (unsigned long)esp_random();
    return (long)(drawn % (unsigned long)high);
}

long random(long low, long high) { return low >= high ? low : low + random(high - low); }

long map(long value, long from_low, long from_high, long to_low, long to_high) {
    const long span = from_high - from_low;
    if (span == 0) {
        log_e("Invalid input range, min == max");
        return -1;
    }
    return (value - from_low) * (to_high - to_low) / span + to_low;
}

void EspClass::restart() { esp_restart(); }
uint32_t EspClass::getFreeHeap() { return esp_get_free_heap_size(); }
uint32_t EspClass::getMinFreeHeap() { return esp_get_minimum_free_heap_size(); }
uint32_t EspClass::getHeapSize() { return (uint32_t)heap_caps_get_total_size(MALLOC_CAP_8BIT); }

uint64_t EspClass::getEfuseMac() {
    uint8_t mac[8] = {0};
    uint64_t value = 0;
    esp_efuse_mac_get_default(mac);
    memcpy(&value, mac, 6);
    return value;
}

uint8_t EspClass::getChipRevision() {
    esp_chip_info_t info;
    esp_chip_info(&info);
    return (uint8_t)(info.revision / 100);
}

uint8_t EspClass::getChipCores() {
    esp_chip_info_t info;
    esp_chip_info(&info);
    return info.cores;
}
