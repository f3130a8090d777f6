// Virtual board: FreeRTOS base definitions.
#pragma once
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "freertos/portmacro.h"
#include "esp_attr.h"
#include "esp_err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define configTICK_RATE_HZ CONFIG_FREERTOS_HZ
#define configMAX_PRIORITIES 25
#define configMINIMAL_STACK_SIZE 1536
#define configMAX_TASK_NAME_LEN 16
#define configSTACK_DEPTH_TYPE uint32_t
#define configASSERT(x) assert(x)
#define configNUM_CORES portNUM_PROCESSORS

#define pdFALSE ((BaseType_t)0)
#define pdTRUE ((BaseType_t)1)
#define pdFAIL pdFALSE
#define pdPASS pdTRUE
#define errQUEUE_EMPTY ((BaseType_t)0)
#define errQUEUE_FULL ((BaseType_t)0)
#define errCOULD_NOT_ALLOCATE_REQUIRED_MEMORY (-1)

#define pdMS_TO_TICKS(ms) ((TickType_t)(((uint64_t)(ms) * configTICK_RATE_HZ) / 1000U))
#define pdTICKS_TO_MS(ticks) ((TickType_t)((uint64_t)(ticks) * 1000U / configTICK_RATE_HZ))

void *pvPortMalloc(size_t size);
void vPortFree(void *memory);

#ifdef __cplusplus
}
#endif
