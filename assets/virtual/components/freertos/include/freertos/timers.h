// Virtual board: FreeRTOS software timers.
#pragma once
#include "freertos/FreeRTOS.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tmrTimerControl;
typedef struct tmrTimerControl *TimerHandle_t;
typedef void (*TimerCallbackFunction_t)(TimerHandle_t timer);

TimerHandle_t xTimerCreate(const char *name, TickType_t period, BaseType_t auto_reload, void *id,
                           TimerCallbackFunction_t callback);
BaseType_t xTimerStart(TimerHandle_t timer, TickType_t ticks);
BaseType_t xTimerStop(TimerHandle_t timer, TickType_t ticks);
BaseType_t xTimerReset(TimerHandle_t timer, TickType_t ticks);
BaseType_t xTimerChangePeriod(TimerHandle_t timer, TickType_t period, TickType_t ticks);
BaseType_t xTimerDelete(TimerHandle_t timer, TickType_t ticks);
BaseType_t xTimerIsTimerActive(TimerHandle_t timer);
void *pvTimerGetTimerID(TimerHandle_t timer);
const char *pcTimerGetName(TimerHandle_t timer);

#ifdef __cplusplus
}
#endif
