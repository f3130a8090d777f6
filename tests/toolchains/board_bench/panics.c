#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include "esp_err.h"
#include "nvs_flash.h"

static __attribute__((noinline)) int read_sensor(const volatile int *sensor)
{
    return sensor[4];
}

static __attribute__((noinline)) int recurse(volatile int depth)
{
    volatile char room[512];
    room[0] = (char)depth;
    return depth == -1 ? 0 : recurse(depth + 1) + room[0];
}

void app_main(void)
{
    ESP_ERROR_CHECK(nvs_flash_init());
    nvs_handle_t handle;
    ESP_ERROR_CHECK(nvs_open("panics", NVS_READWRITE, &handle));
    uint8_t boot = 0;
    nvs_get_u8(handle, "boot", &boot);
    ESP_ERROR_CHECK(nvs_set_u8(handle, "boot", boot + 1));
    void (*volatile nowhere)(void) = NULL;
    switch (boot) {
    case 0:
        abort();
    case 1:
        assert(boot == 99);
        break;
    case 2:
        ESP_ERROR_CHECK(ESP_ERR_NOT_FOUND);
        break;
    case 3:
        read_sensor(NULL);
        break;
    case 4:
        nowhere();
        break;
    default:
        recurse(0);
        break;
    }
}
