// Virtual board: tasks as threads, and waiting.
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "vb.h"

#define STACK_BYTES (256u * 1024u)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t critical;
static TaskHandle_t tasks;
static __thread TaskHandle_t self;

void vb_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
#if !defined(__APPLE__)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

void vb_deadline(struct timespec *at, int64_t micros) {
#if defined(__APPLE__)
    clock_gettime(CLOCK_REALTIME, at);
#else
    clock_gettime(CLOCK_MONOTONIC, at);
#endif
    at->tv_sec += (time_t)(micros / 1000000);
    at->tv_nsec += (long)(micros % 1000000) * 1000;
    if (at->tv_nsec >= 1000000000L) {
        at->tv_sec++;
        at->tv_nsec -= 1000000000L;
    }
}

static void setup(void) {
    vb_cond_init(&changed);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&critical, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void vb_lock(void) {
    pthread_once(&once, setup);
    pthread_mutex_lock(&lock);
}

void vb_unlock(void) { pthread_mutex_unlock(&lock); }

void vb_wake_all(void) { pthread_cond_broadcast(&changed); }

TaskHandle_t vb_self(void) { return self; }

static void end_self(void) __attribute__((noreturn));
static void end_self(void) {
    // Called with the lock held.
    for (TaskHandle_t *at = &tasks; *at != NULL; at = &(*at)->next) {
        if (*at == self) {
            *at = self->next;
            break;
        }
    }
    self->finished = true;
    vb_unlock();
    pthread_exit(NULL);
}

static void stay_suspended(void) {
    while (self != NULL && self->suspended && !self->deleted) {
        pthread_cond_wait(&changed, &lock);
    }
    if (self != NULL && self->deleted) {
        end_self();
    }
}

bool vb_wait(vb_ready_t ready, void *arg, TickType_t ticks) {
    struct timespec at;
    if (ticks != portMAX_DELAY) {
        // The first tick is already under way, as on the chip.
        int64_t period = 1000000 / configTICK_RATE_HZ;
        int64_t within = ticks == 0 ? 0 : (int64_t)ticks * period - vb_micros() % period;
        vb_deadline(&at, within);
    }
    if (self != NULL) {
        self->blocked = true;
    }
    bool met;
    for (;;) {
        stay_suspended();
        met = ready(arg);
        if (met || ticks == 0) {
            break;
        }
        if (ticks == portMAX_DELAY) {
            pthread_cond_wait(&changed, &lock);
        } else if (pthread_cond_timedwait(&changed, &lock, &at) == ETIMEDOUT) {
            stay_suspended();
            met = ready(arg);
            break;
        }
    }
    if (self != NULL) {
        self->blocked = false;
    }
    return met;
}

static void *run(void *argument) {
    self = argument;
    vb_panic_install_thread();
    vb_lock();
    stay_suspended();
    vb_unlock();
    self->code(self->parameters);
    vb_raw("\nFreeRTOS: FreeRTOS Task \"%s\" should not return, Aborting now!\n", self->name);
    abort();
}

BaseType_t xTaskCreatePinnedToCore(TaskFunction_t code, const char *name, uint32_t stack_depth,
                                   void *parameters, UBaseType_t priority, TaskHandle_t *created,
                                   BaseType_t core) {
    TaskHandle_t task = calloc(1, sizeof *task);
    if (task == NULL) {
        return errCOULD_NOT_ALLOCATE_REQUIRED_MEMORY;
    }
    // The computer's C library needs more than the chip's, so this is the least.
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = STACK_BYTES + ((stack_depth + page - 1) / page) * page;
    char *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {
        free(task);
        return errCOULD_NOT_ALLOCATE_REQUIRED_MEMORY;
    }
    task->code = code;
    task->parameters = parameters;
    task->priority = priority;
    task->core = core;
    task->stack = memory + page;
    task->stack_bytes = bytes;
    strncpy(task->name, name != NULL ? name : "", sizeof task->name - 1);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, task->stack, bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    vb_lock();
    task->next = tasks;
    tasks = task;
    if (created != NULL) {
        *created = task;
    }
    int failed = pthread_create(&task->thread, &attributes, run, task);
    if (failed != 0) {
        tasks = task->next;
    }
    vb_unlock();
    pthread_attr_destroy(&attributes);
    return failed == 0 ? pdPASS : errCOULD_NOT_ALLOCATE_REQUIRED_MEMORY;
}

BaseType_t xTaskCreate(TaskFunction_t code, const char *name, uint32_t stack_depth,
                       void *parameters, UBaseType_t priority, TaskHandle_t *created) {
    return xTaskCreatePinnedToCore(code, name, stack_depth, parameters, priority, created,
                                   tskNO_AFFINITY);
}

void vTaskDelete(TaskHandle_t task) {
    vb_lock();
    TaskHandle_t target = task != NULL ? task : self;
    if (target == NULL) {
        vb_unlock();
        return;
    }
    target->deleted = true;
    if (target == self) {
        end_self();
    }
    // Another task ends at its next call that may wait.
    vb_wake_all();
    vb_unlock();
}

static bool never(void *unused) {
    (void)unused;
    return false;
}

void vTaskDelay(TickType_t ticks) {
    if (ticks == 0) {
        sched_yield();
        return;
    }
    vb_lock();
    vb_wait(never, NULL, ticks);
    vb_unlock();
}

BaseType_t xTaskDelayUntil(TickType_t *previous_wake, TickType_t increment) {
    TickType_t next = *previous_wake + increment;
    *previous_wake = next;
    int32_t left = (int32_t)(next - xTaskGetTickCount());
    if (left <= 0) {
        return pdFALSE;
    }
    vTaskDelay((TickType_t)left);
    return pdTRUE;
}

void vTaskSuspend(TaskHandle_t task) {
    vb_lock();
    TaskHandle_t target = task != NULL ? task : self;
    if (target != NULL) {
        target->suspended = true;
    }
    if (target == self) {
        stay_suspended();
    }
    vb_unlock();
}

void vTaskResume(TaskHandle_t task) {
    vb_lock();
    task->suspended = false;
    vb_wake_all();
    vb_unlock();
}

void vPortEnterCritical(void) {
    pthread_once(&once, setup);
    pthread_mutex_lock(&critical);
}
void vPortExitCritical(void) { pthread_mutex_unlock(&critical); }
void vTaskSuspendAll(void) { vPortEnterCritical(); }
BaseType_t xTaskResumeAll(void) {
    vPortExitCritical();
    return pdFALSE;
}

TickType_t xTaskGetTickCount(void) {
    return (TickType_t)(vb_micros() / (1000000 / configTICK_RATE_HZ));
}
TickType_t xTaskGetTickCountFromISR(void) { return xTaskGetTickCount(); }
TaskHandle_t xTaskGetCurrentTaskHandle(void) { return self; }
char *pcTaskGetName(TaskHandle_t task) {
    TaskHandle_t target = task != NULL ? task : self;
    return target != NULL ? target->name : (char *)"";
}
UBaseType_t uxTaskPriorityGet(TaskHandle_t task) {
    TaskHandle_t target = task != NULL ? task : self;
    return target != NULL ? target->priority : 0;
}
void vTaskPrioritySet(TaskHandle_t task, UBaseType_t priority) {
    TaskHandle_t target = task != NULL ? task : self;
    if (target != NULL) {
        target->priority = priority;
    }
}
UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task) {
    // Not measured: the stacks here are larger than the chip's.
    TaskHandle_t target = task != NULL ? task : self;
    return target != NULL ? (UBaseType_t)(target->stack_bytes - STACK_BYTES) : 0;
}
BaseType_t xTaskGetCoreID(TaskHandle_t task) {
    TaskHandle_t target = task != NULL ? task : self;
    return target != NULL ? target->core : 0;
}
BaseType_t xPortGetCoreID(void) {
    return self != NULL && self->core == 1 ? 1 : 0;
}
bool xPortInIsrContext(void) { return false; }
void vPortYield(void) { sched_yield(); }

UBaseType_t uxTaskGetNumberOfTasks(void) {
    UBaseType_t count = 0;
    vb_lock();
    for (TaskHandle_t at = tasks; at != NULL; at = at->next) {
        count++;
    }
    vb_unlock();
    return count;
}

TaskHandle_t xTaskGetHandle(const char *name) {
    vb_lock();
    TaskHandle_t at = tasks;
    while (at != NULL && strcmp(at->name, name) != 0) {
        at = at->next;
    }
    vb_unlock();
    return at;
}

eTaskState eTaskGetState(TaskHandle_t task) {
    if (task->finished || task->deleted) {
        return eDeleted;
    }
    if (task->suspended) {
        return eSuspended;
    }
    return task == self ? eRunning : task->blocked ? eBlocked : eReady;
}

BaseType_t xTaskNotify(TaskHandle_t task, uint32_t value, eNotifyAction action) {
    BaseType_t done = pdPASS;
    vb_lock();
    switch (action) {
    case eSetBits:
        task->notify_value |= value;
        break;
    case eIncrement:
        task->notify_value++;
        break;
    case eSetValueWithOverwrite:
        task->notify_value = value;
        break;
    case eSetValueWithoutOverwrite:
        if (task->notify_pending) {
            done = pdFAIL;
        } else {
            task->notify_value = value;
        }
        break;
    case eNoAction:
        break;
    }
    task->notify_pending = true;
    vb_wake_all();
    vb_unlock();
    return done;
}

BaseType_t xTaskNotifyFromISR(TaskHandle_t task, uint32_t value, eNotifyAction action,
                              BaseType_t *woken) {
    if (woken != NULL) {
        *woken = pdFALSE;
    }
    return xTaskNotify(task, value, action);
}
BaseType_t xTaskNotifyGive(TaskHandle_t task) { return xTaskNotify(task, 0, eIncrement); }
void vTaskNotifyGiveFromISR(TaskHandle_t task, BaseType_t *woken) {
    xTaskNotifyFromISR(task, 0, eIncrement, woken);
}

static bool has_count(void *task) { return ((TaskHandle_t)task)->notify_value != 0; }
static bool has_notice(void *task) { return ((TaskHandle_t)task)->notify_pending; }

uint32_t ulTaskNotifyTake(BaseType_t clear_on_exit, TickType_t ticks) {
    vb_lock();
    uint32_t value = 0;
    if (vb_wait(has_count, self, ticks)) {
        value = self->notify_value;
        self->notify_value = clear_on_exit ? 0 : value - 1;
    }
    self->notify_pending = false;
    vb_unlock();
    return value;
}

BaseType_t xTaskNotifyWait(uint32_t clear_on_entry, uint32_t clear_on_exit, uint32_t *value,
                           TickType_t ticks) {
    vb_lock();
    if (!self->notify_pending) {
        self->notify_value &= ~clear_on_entry;
    }
    bool got = vb_wait(has_notice, self, ticks);
    if (value != NULL) {
        *value = self->notify_value;
    }
    if (got) {
        self->notify_value &= ~clear_on_exit;
    }
    self->notify_pending = false;
    vb_unlock();
    return got ? pdTRUE : pdFALSE;
}
