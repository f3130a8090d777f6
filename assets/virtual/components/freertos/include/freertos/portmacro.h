// Virtual board: FreeRTOS port types. Tasks are threads of one process.
#pragma once
#include <stdint.h>
#include <stdbool.h>
#include "sdkconfig.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint8_t StackType_t;
typedef int BaseType_t;
typedef unsigned int UBaseType_t;
typedef uint32_t TickType_t;

#define portMAX_DELAY ((TickType_t)0xffffffffUL)
#define portTICK_PERIOD_MS ((TickType_t)(1000 / CONFIG_FREERTOS_HZ))
#define portNUM_PROCESSORS 2
#define portSTACK_GROWTH (-1)

typedef struct {
    uint32_t owner;
    uint32_t count;
} portMUX_TYPE;
#define portMUX_INITIALIZER_UNLOCKED {0, 0}
#define portMUX_INITIALIZE(mux) ((void)(mux))

void vPortEnterCritical(void);
void vPortExitCritical(void);
#define portENTER_CRITICAL(mux) ((void)(mux), vPortEnterCritical())
#define portEXIT_CRITICAL(mux) ((void)(mux), vPortExitCritical())
#define portENTER_CRITICAL_ISR(mux) portENTER_CRITICAL(mux)
#define portEXIT_CRITICAL_ISR(mux) portEXIT_CRITICAL(mux)
#define portENTER_CRITICAL_SAFE(mux) portENTER_CRITICAL(mux)
#define portEXIT_CRITICAL_SAFE(mux) portEXIT_CRITICAL(mux)
#define taskENTER_CRITICAL(mux) portENTER_CRITICAL(mux)
#define taskEXIT_CRITICAL(mux) portEXIT_CRITICAL(mux)
#define portDISABLE_INTERRUPTS() vPortEnterCritical()
#define portENABLE_INTERRUPTS() vPortExitCritical()

bool xPortInIsrContext(void);
BaseType_t xPortGetCoreID(void);
#define portYIELD() vPortYield()
#define taskYIELD() vPortYield()
#define portYIELD_FROM_ISR(...) ((void)0)
void vPortYield(void);

#ifdef __cplusplus
}
#endif
