#include "report.h"

#include "esp_log.h"

static const char *TAG = "report";

/* Hundredths of a degree Fahrenheit from hundredths of a degree Celsius. */
static int32_t to_fahrenheit(int32_t centidegrees)
{
    return centidegrees * 9 / 5 + 3200;
}

void report_temperature(int32_t centidegrees)
{
    ESP_LOGI(TAG, "temp=%.1f C, %.1f F", centidegrees / 100.0, to_fahrenheit(centidegrees) / 100.0);
}
