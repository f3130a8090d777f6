#include "report.h"

#include "esp_log.h"

static const char *TAG = "report";

void report_temperature(int32_t centidegrees)
{
    ESP_LOGI(TAG, "temp=%.1f C", centidegrees / 100.0);
}
