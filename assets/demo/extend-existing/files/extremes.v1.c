#include "extremes.h"

#include "esp_log.h"

static const char *TAG = "extremes";

/* How many readings one line stands for. */
#define READINGS_PER_LINE 3

static int32_t s_lowest = INT32_MAX;
static int32_t s_highest = INT32_MIN;
static int s_readings

void extremes_take(int32_t centidegrees)
{
    if (centidegrees < s_lowest) {
        s_lowest = centidegrees;
    }
    if (centidegrees > s_highest) {
        s_highest = centidegrees;
    }
    s_readings++;
    if (s_readings % READINGS_PER_LINE == 0) {
        ESP_LOGI(TAG, "min=%.1f max=%.1f", s_lowest / 100.0, s_highest / 100.0);
    }
}
