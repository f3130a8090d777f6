#include "report.h"

#include "esp_log.h"

static const char *TAG = "report";

void report_temperature(int32_t centidegrees)
{
    ESP_LOGI(TAG, "temp=%.1f C, %.1f F", centidegrees / 100.0, to_fahrenheit(centidegrees) / 100.0);
}
