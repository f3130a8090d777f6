#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "esp_err.h"
#include "nvs.h"
#include "nvs_flash.h"

static char text[4000];
static uint8_t blob[10000];

static void tell_app(void)
{
    nvs_handle_t app;
    ESP_ERROR_CHECK(nvs_open("app", NVS_READWRITE, &app));
    int64_t big = 0;
    if (nvs_get_i64(app, "big", &big) == ESP_OK) {
        printf("big %" PRId64 "\n", big);
    }
    size_t length = sizeof blob;
    if (nvs_get_blob(app, "blob", blob, &length) == ESP_OK) {
        unsigned sum = 0;
        for (size_t at = 0; at < length; at++) {
            sum += blob[at];
        }
        printf("blob %u bytes, %u in all\n", (unsigned)length, sum);
    }
    length = sizeof text;
    if (nvs_get_str(app, "long", text, &length) == ESP_OK) {
        printf("long %u characters\n", (unsigned)strlen(text));
    }
    ESP_ERROR_CHECK(nvs_set_u8(app, "told", 1));
    ESP_ERROR_CHECK(nvs_commit(app));
    nvs_close(app);
}

void app_main(void)
{
    ESP_ERROR_CHECK(nvs_flash_init());
    nvs_handle_t wifi;
    esp_err_t error = nvs_open("wifi", NVS_READONLY, &wifi);
    if (error == ESP_OK) {
        size_t length = sizeof text;
        ESP_ERROR_CHECK(nvs_get_str(wifi, "ssid", text, &length));
        printf("ssid %s\n", text);
        uint8_t channel = 0;
        printf("channel %s\n", esp_err_to_name(nvs_get_u8(wifi, "channel", &channel)));
        nvs_close(wifi);
    } else {
        printf("wifi: %s\n", esp_err_to_name(error));
    }
    tell_app();
    printf("settings told\n");
}
