#include "esp_wifi.h"

void app_main(void)
{
    esp_wifi_scan_start(NULL, true);
}
