/*
 * Asks every address of the I2C bus who answers, again and again.
 * The component needs `esp_driver_i2c` (ESP-IDF 5.3 and newer) or `driver` in REQUIRES.
 */
#include "esp_idf_version.h"
#include "esp_log.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "sdkconfig.h"

/* Set these to the board's wiring. */
#if CONFIG_IDF_TARGET_ESP32
#define I2C_SDA 21
#define I2C_SCL 22
#else
#define I2C_SDA 4
#define I2C_SCL 5
#endif

#define FIRST_ADDRESS 0x08
#define LAST_ADDRESS  0x77
#define TIMEOUT_MS    20
#define PERIOD_MS     2000

static const char *TAG = "i2c_scanner";

#if ESP_IDF_VERSION >= ESP_IDF_VERSION_VAL(5, 2, 0)
#include "driver/i2c_master.h"

static i2c_master_bus_handle_t s_bus;

static esp_err_t bus_init(void)
{
    const i2c_master_bus_config_t config = {
        .i2c_port = I2C_NUM_0,
        .sda_io_num = I2C_SDA,
        .scl_io_num = I2C_SCL,
        .clk_source = I2C_CLK_SRC_DEFAULT,
        .glitch_ignore_cnt = 7,
        .flags.enable_internal_pullup = true,
    };
    return i2c_new_master_bus(&config, &s_bus);
}

static esp_err_t probe(uint8_t address)
{
    return i2c_master_probe(s_bus, address, TIMEOUT_MS);
}
#else
#include "driver/i2c.h"

static esp_err_t bus_init(void)
{
    const i2c_config_t config = {
        .mode = I2C_MODE_MASTER,
        .sda_io_num = I2C_SDA,
        .scl_io_num = I2C_SCL,
        .sda_pullup_en = true,
        .scl_pullup_en = true,
        .master.clk_speed = 100000,
    };
    const esp_err_t err = i2c_param_config(I2C_NUM_0, &config);
    return err != ESP_OK ? err : i2c_driver_install(I2C_NUM_0, I2C_MODE_MASTER, 0, 0, 0);
}

static esp_err_t probe(uint8_t address)
{
    /* Reading a byte changes nothing in most devices. */
    uint8_t byte;
    return i2c_master_read_from_device(I2C_NUM_0, address, &byte, 1, pdMS_TO_TICKS(TIMEOUT_MS));
}
#endif

void app_main(void)
{
    ESP_ERROR_CHECK(bus_init());
    for (;;) {
        int count = 0;
        ESP_LOGI(TAG, "scanning the I2C bus");
        for (uint8_t address = FIRST_ADDRESS; address <= LAST_ADDRESS; address++) {
            if (probe(address) == ESP_OK) {
                ESP_LOGI(TAG, "found a device at 0x%02X", address);
                count++;
            }
        }
        ESP_LOGI(TAG, "scan done: %d devices", count);
        vTaskDelay(pdMS_TO_TICKS(PERIOD_MS));
    }
}
