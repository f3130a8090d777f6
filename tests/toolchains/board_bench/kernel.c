#include <stdio.h>
#include "esp_system.h"
#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/event_groups.h"
#include "freertos/queue.h"
#include "freertos/semphr.h"
#include "freertos/task.h"
#include "nvs_flash.h"

static QueueHandle_t queue;
static SemaphoreHandle_t mutex;
static EventGroupHandle_t events;
static volatile int ticks;
static TaskHandle_t main_task;

static void producer(void *parameter)
{
    for (int i = 0; i < 10; i++) {
        xQueueSend(queue, &i, portMAX_DELAY);
    }
    xEventGroupSetBits(events, (EventBits_t)(uintptr_t)parameter);
    xTaskNotify(main_task, 7, eSetValueWithOverwrite);
    vTaskDelete(NULL);
}

static void forever(void *parameter)
{
    for (;;) {
        vTaskDelay(1);
        *(volatile int *)parameter += 1;
    }
}

static void on_timer(void *arg)
{
    *(volatile int *)arg += 1;
}

void app_main(void)
{
    ESP_ERROR_CHECK(nvs_flash_init());
    nvs_handle_t handle;
    ESP_ERROR_CHECK(nvs_open("kernel", NVS_READWRITE, &handle));
    int32_t boots = 0;
    esp_err_t known = nvs_get_i32(handle, "boots", &boots);
    boots++;
    ESP_ERROR_CHECK(nvs_set_i32(handle, "boots", boots));
    ESP_ERROR_CHECK(nvs_commit(handle));
    if (known == ESP_OK) {
        printf("reset %d\n", (int)esp_reset_reason());
        printf("boots %d\n", (int)boots);
        return;
    }

    main_task = xTaskGetCurrentTaskHandle();
    queue = xQueueCreate(2, sizeof(int));
    mutex = xSemaphoreCreateMutex();
    events = xEventGroupCreate();
    xTaskCreate(producer, "producer", 2048, (void *)3, 5, NULL);
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        int item;
        if (xQueueReceive(queue, &item, pdMS_TO_TICKS(5000)) == pdTRUE) {
            sum += item;
        }
    }
    printf("sum %d\n", sum);
    int late;
    printf("late %d\n", (int)xQueueReceive(queue, &late, 1));
    printf("event %d\n", (int)xEventGroupWaitBits(events, 3, pdTRUE, pdTRUE, portMAX_DELAY));
    uint32_t value = 0;
    xTaskNotifyWait(0, 0, &value, portMAX_DELAY);
    printf("notified %d\n", (int)value);

    if (xSemaphoreTake(mutex, 0) && !xSemaphoreTake(mutex, 1) && xSemaphoreGive(mutex)) {
        printf("mutex ok\n");
    }

    esp_timer_handle_t timer;
    esp_timer_create_args_t args = {.callback = on_timer, .arg = (void *)&ticks, .name = "t"};
    ESP_ERROR_CHECK(esp_timer_create(&args, &timer));
    ESP_ERROR_CHECK(esp_timer_start_periodic(timer, 2000));
    while (ticks < 3) {
        vTaskDelay(1);
    }
    ESP_ERROR_CHECK(esp_timer_stop(timer));
    printf("timer 3\n");

    static volatile int loops;
    TaskHandle_t other;
    xTaskCreatePinnedToCore(forever, "forever", 2048, (void *)&loops, 1, &other, 1);
    while (loops < 2) {
        vTaskDelay(1);
    }
    vTaskDelete(other);
    esp_restart();
}
