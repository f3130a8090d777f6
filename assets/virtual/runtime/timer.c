// Virtual board: esp_timer and FreeRTOS timers, served by one thread.
#include <stdlib.h>
#include <string.h>
#include "esp_timer.h"
#include "freertos/timers.h"
#include "vb.h"

struct esp_timer {
    esp_timer_cb_t callback;
    void *arg;
    int64_t due;
    int64_t period;
    bool active;
    struct esp_timer *next;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct esp_timer *timers;

int64_t esp_timer_get_time(void) { return vb_micros(); }

static struct esp_timer *next_due(void) {
    struct esp_timer *first = NULL;
    for (struct esp_timer *at = timers; at != NULL; at = at->next) {
        if (at->active && (first == NULL || at->due < first->due)) {
            first = at;
        }
    }
    return first;
}

static void serve(void *unused) {
    (void)unused;
    pthread_mutex_lock(&guard);
    for (;;) {
        struct esp_timer *timer = next_due();
        if (timer == NULL) {
            pthread_cond_wait(&changed, &guard);
            continue;
        }
        int64_t left = timer->due - vb_micros();
        if (left > 0) {
            struct timespec at;
            vb_deadline(&at, left);
            pthread_cond_timedwait(&changed, &guard, &at);
            continue;
        }
        if (timer->period > 0) {
            timer->due += timer->period;
        } else {
            timer->active = false;
        }
        esp_timer_cb_t callback = timer->callback;
        void *arg = timer->arg;
        pthread_mutex_unlock(&guard);
        callback(arg);
        pthread_mutex_lock(&guard);
    }
}

void vb_timers_start(void) {
    vb_cond_init(&changed);
    xTaskCreatePinnedToCore(serve, "esp_timer", 4096, NULL, 22, NULL, 0);
}

esp_err_t esp_timer_create(const esp_timer_create_args_t *args, esp_timer_handle_t *handle) {
    if (args == NULL || args->callback == NULL || handle == NULL) {
        return ESP_ERR_INVALID_ARG;
    }
    struct esp_timer *timer = calloc(1, sizeof *timer);
    if (timer == NULL) {
        return ESP_ERR_NO_MEM;
    }
    timer->callback = args->callback;
    timer->arg = args->arg;
    pthread_mutex_lock(&guard);
    timer->next = timers;
    timers = timer;
    pthread_mutex_unlock(&guard);
    *handle = timer;
    return ESP_OK;
}

static esp_err_t start(esp_timer_handle_t timer, uint64_t first, uint64_t period) {
    if (timer == NULL) {
        return ESP_ERR_INVALID_ARG;
    }
    pthread_mutex_lock(&guard);
    esp_err_t result = timer->active ? ESP_ERR_INVALID_STATE : ESP_OK;
    if (result == ESP_OK) {
        timer->due = vb_micros() + (int64_t)first;
        timer->period = (int64_t)period;
        timer->active = true;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&guard);
    return result;
}

esp_err_t esp_timer_start_once(esp_timer_handle_t timer, uint64_t timeout_us) {
    return start(timer, timeout_us, 0);
}
esp_err_t esp_timer_start_periodic(esp_timer_handle_t timer, uint64_t period_us) {
    return start(timer, period_us, period_us < 50 ? 50 : period_us);
}
esp_err_t esp_timer_stop(esp_timer_handle_t timer) {
    if (timer == NULL) {
        return ESP_ERR_INVALID_ARG;
    }
    pthread_mutex_lock(&guard);
    esp_err_t result = timer->active ? ESP_OK : ESP_ERR_INVALID_STATE;
    timer->active = false;
    pthread_mutex_unlock(&guard);
    return result;
}
esp_err_t esp_timer_restart(esp_timer_handle_t timer, uint64_t timeout_us) {
    bool periodic = timer != NULL && timer->period > 0;
    esp_err_t stopped = esp_timer_stop(timer);
    if (stopped != ESP_OK) {
        return stopped;
    }
    return periodic ? esp_timer_start_periodic(timer, timeout_us)
                    : esp_timer_start_once(timer, timeout_us);
}
bool esp_timer_is_active(esp_timer_handle_t timer) { return timer != NULL && timer->active; }
esp_err_t esp_timer_delete(esp_timer_handle_t timer) {
    if (timer == NULL) {
        return ESP_ERR_INVALID_ARG;
    }
    pthread_mutex_lock(&guard);
    if (timer->active) {
        pthread_mutex_unlock(&guard);
        return ESP_ERR_INVALID_STATE;
    }
    for (struct esp_timer **at = &timers; *at != NULL; at = &(*at)->next) {
        if (*at == timer) {
            *at = timer->next;
            break;
        }
    }
    pthread_mutex_unlock(&guard);
    free(timer);
    return ESP_OK;
}

struct tmrTimerControl {
    esp_timer_handle_t timer;
    TimerCallbackFunction_t callback;
    TickType_t period;
    BaseType_t reload;
    void *id;
    char name[configMAX_TASK_NAME_LEN];
};

static void fire(void *argument) {
    TimerHandle_t timer = argument;
    timer->callback(timer);
}

TimerHandle_t xTimerCreate(const char *name, TickType_t period, BaseType_t auto_reload, void *id,
                           TimerCallbackFunction_t callback) {
    TimerHandle_t timer = calloc(1, sizeof *timer);
    if (timer == NULL) {
        return NULL;
    }
    timer->callback = callback;
    timer->period = period;
    timer->reload = auto_reload;
    timer->id = id;
    strncpy(timer->name, name != NULL ? name : "", sizeof timer->name - 1);
    esp_timer_create_args_t args = {.callback = fire, .arg = timer, .name = timer->name};
    if (esp_timer_create(&args, &timer->timer) != ESP_OK) {
        free(timer);
        return NULL;
    }
    return timer;
}

BaseType_t xTimerStart(TimerHandle_t timer, TickType_t ticks) {
    (void)ticks;
    uint64_t micros = (uint64_t)timer->period * (1000000 / configTICK_RATE_HZ);
    esp_timer_stop(timer->timer);
    esp_err_t started = timer->reload ? esp_timer_start_periodic(timer->timer, micros)
                                      : esp_timer_start_once(timer->timer, micros);
    return started == ESP_OK ? pdPASS : pdFAIL;
}
BaseType_t xTimerReset(TimerHandle_t timer, TickType_t ticks) { return xTimerStart(timer, ticks); }
BaseType_t xTimerStop(TimerHandle_t timer, TickType_t ticks) {
    (void)ticks;
    esp_timer_stop(timer->timer);
    return pdPASS;
}
BaseType_t xTimerChangePeriod(TimerHandle_t timer, TickType_t period, TickType_t ticks) {
    timer->period = period;
    return xTimerStart(timer, ticks);
}
BaseType_t xTimerDelete(TimerHandle_t timer, TickType_t ticks) {
    xTimerStop(timer, ticks);
    esp_timer_delete(timer->timer);
    free(timer);
    return pdPASS;
}
BaseType_t xTimerIsTimerActive(TimerHandle_t timer) {
    return esp_timer_is_active(timer->timer) ? pdTRUE : pdFALSE;
}
void *pvTimerGetTimerID(TimerHandle_t timer) { return timer->id; }
const char *pcTimerGetName(TimerHandle_t timer) { return timer->name; }
