#include "i2c_scan.h"

#include "esp_log.h"
#include "i2c_bus.h"

static const char *TAG = "i2c_scan";

/* Addresses below and above are reserved. */
#define FIRST_ADDRESS 0x08
#define LAST_ADDRESS  0x77

#define REG_CHIP_ID 0xD0

int i2c_scan_run(void)
{
    int found = 0;
    ESP_LOGI(TAG, "scanning 0x%02X to 0x%02X", FIRST_ADDRESS, LAST_ADDRESS);
    for (uint8_t address = FIRST_ADDRESS; address <= LAST_ADDRESS; address++) {
        if (i2c_bus_has(address)) {
            ESP_LOGI(TAG, "found a device at 0x%02X", address);
            found++;
        }
    }
    if (found == 0) {
        ESP_LOGW(TAG, "nobody answers; are the lines pulled up?");
    }
    return found;
}

esp_err_t i2c_scan_chip_id(uint8_t address, uint8_t *id)
{
    i2c_master_dev_handle_t device;
    esp_err_t err = i2c_bus_add(address, &device);
    if (err != ESP_OK) {
        return err;
    }
    err = i2c_bus_read(device, REG_CHIP_ID, id, 1);
    /* The handle goes back in any case; the first error is the one to report. */
    const esp_err_t removed = i2c_bus_remove(device);
    return err != ESP_OK ? err : removed;
}
