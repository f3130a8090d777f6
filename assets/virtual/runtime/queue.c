// Virtual board: queues, semaphores, mutexes and event groups.
#include <stdlib.h>
#include <string.h>
#include "freertos/event_groups.h"
#include "freertos/semphr.h"
#include "vb.h"

struct QueueDefinition {
    UBaseType_t length;
    UBaseType_t item_size;
    UBaseType_t count;
    UBaseType_t first;
    bool is_mutex;
    TaskHandle_t holder;
    UBaseType_t depth;
    uint8_t items[];
};

static bool has_item(void *queue) { return ((QueueHandle_t)queue)->count > 0; }
static bool has_space(void *queue) {
    return ((QueueHandle_t)queue)->count < ((QueueHandle_t)queue)->length;
}

QueueHandle_t xQueueCreate(UBaseType_t length, UBaseType_t item_size) {
    assert(length > 0);
    QueueHandle_t queue = calloc(1, sizeof *queue + (size_t)length * item_size);
    if (queue != NULL) {
        queue->length = length;
        queue->item_size = item_size;
    }
    return queue;
}

void vQueueDelete(QueueHandle_t queue) { free(queue); }

static void put(QueueHandle_t queue, const void *item, bool front) {
    UBaseType_t slot;
    if (front) {
        queue->first = (queue->first + queue->length - 1) % queue->length;
        slot = queue->first;
    } else {
        slot = (queue->first + queue->count) % queue->length;
    }
    if (queue->item_size > 0) {
        memcpy(queue->items + (size_t)slot * queue->item_size, item, queue->item_size);
    }
    queue->count++;
    vb_wake_all();
}

static BaseType_t send(QueueHandle_t queue, const void *item, TickType_t ticks, bool front) {
    assert(queue);
    assert(!(item == NULL && queue->item_size != 0));
    vb_lock();
    bool room = vb_wait(has_space, queue, ticks);
    if (room) {
        put(queue, item, front);
    }
    vb_unlock();
    return room ? pdTRUE : errQUEUE_FULL;
}

static BaseType_t receive(QueueHandle_t queue, void *item, TickType_t ticks, bool keep) {
    assert(queue);
    vb_lock();
    bool got = vb_wait(has_item, queue, ticks);
    if (got) {
        if (queue->item_size > 0 && item != NULL) {
            memcpy(item, queue->items + (size_t)queue->first * queue->item_size, queue->item_size);
        }
        if (!keep) {
            queue->first = (queue->first + 1) % queue->length;
            queue->count--;
            vb_wake_all();
        }
    }
    vb_unlock();
    return got ? pdTRUE : errQUEUE_EMPTY;
}

BaseType_t xQueueSend(QueueHandle_t queue, const void *item, TickType_t ticks) {
    return send(queue, item, ticks, false);
}
BaseType_t xQueueSendToBack(QueueHandle_t queue, const void *item, TickType_t ticks) {
    return send(queue, item, ticks, false);
}
BaseType_t xQueueSendToFront(QueueHandle_t queue, const void *item, TickType_t ticks) {
    return send(queue, item, ticks, true);
}
BaseType_t xQueueOverwrite(QueueHandle_t queue, const void *item) {
    vb_lock();
    queue->count = 0;
    put(queue, item, false);
    vb_unlock();
    return pdPASS;
}
BaseType_t xQueueReceive(QueueHandle_t queue, void *item, TickType_t ticks) {
    return receive(queue, item, ticks, false);
}
BaseType_t xQueuePeek(QueueHandle_t queue, void *item, TickType_t ticks) {
    return receive(queue, item, ticks, true);
}
BaseType_t xQueueReset(QueueHandle_t queue) {
    vb_lock();
    queue->count = 0;
    vb_wake_all();
    vb_unlock();
    return pdPASS;
}
UBaseType_t uxQueueMessagesWaiting(QueueHandle_t queue) {
    vb_lock();
    UBaseType_t count = queue->count;
    vb_unlock();
    return count;
}
UBaseType_t uxQueueSpacesAvailable(QueueHandle_t queue) {
    return queue->length - uxQueueMessagesWaiting(queue);
}
static void not_woken(BaseType_t *woken) {
    if (woken != NULL) {
        *woken = pdFALSE;
    }
}
BaseType_t xQueueSendFromISR(QueueHandle_t queue, const void *item, BaseType_t *woken) {
    not_woken(woken);
    return send(queue, item, 0, false);
}
BaseType_t xQueueSendToBackFromISR(QueueHandle_t queue, const void *item, BaseType_t *woken) {
    return xQueueSendFromISR(queue, item, woken);
}
BaseType_t xQueueReceiveFromISR(QueueHandle_t queue, void *item, BaseType_t *woken) {
    not_woken(woken);
    return receive(queue, item, 0, false);
}

SemaphoreHandle_t xSemaphoreCreateCounting(UBaseType_t max, UBaseType_t initial) {
    SemaphoreHandle_t semaphore = xQueueCreate(max, 0);
    if (semaphore != NULL) {
        semaphore->count = initial;
    }
    return semaphore;
}
SemaphoreHandle_t xSemaphoreCreateBinary(void) { return xSemaphoreCreateCounting(1, 0); }
SemaphoreHandle_t xSemaphoreCreateMutex(void) {
    SemaphoreHandle_t mutex = xSemaphoreCreateCounting(1, 1);
    if (mutex != NULL) {
        mutex->is_mutex = true;
    }
    return mutex;
}
SemaphoreHandle_t xSemaphoreCreateRecursiveMutex(void) { return xSemaphoreCreateMutex(); }
void vSemaphoreDelete(SemaphoreHandle_t semaphore) { vQueueDelete(semaphore); }

BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t ticks) {
    BaseType_t got = receive(semaphore, NULL, ticks, false);
    if (got && semaphore->is_mutex) {
        semaphore->holder = vb_self();
    }
    return got;
}
BaseType_t xSemaphoreGive(SemaphoreHandle_t semaphore) {
    assert(semaphore);
    if (semaphore->is_mutex) {
        assert(semaphore->holder == vb_self());
        semaphore->holder = NULL;
    }
    return send(semaphore, NULL, 0, false);
}
BaseType_t xSemaphoreTakeRecursive(SemaphoreHandle_t semaphore, TickType_t ticks) {
    if (semaphore->holder == vb_self()) {
        semaphore->depth++;
        return pdTRUE;
    }
    return xSemaphoreTake(semaphore, ticks);
}
BaseType_t xSemaphoreGiveRecursive(SemaphoreHandle_t semaphore) {
    if (semaphore->holder != vb_self()) {
        return pdFAIL;
    }
    if (semaphore->depth > 0) {
        semaphore->depth--;
        return pdTRUE;
    }
    return xSemaphoreGive(semaphore);
}
BaseType_t xSemaphoreTakeFromISR(SemaphoreHandle_t semaphore, BaseType_t *woken) {
    not_woken(woken);
    return receive(semaphore, NULL, 0, false);
}
BaseType_t xSemaphoreGiveFromISR(SemaphoreHandle_t semaphore, BaseType_t *woken) {
    not_woken(woken);
    return send(semaphore, NULL, 0, false);
}
UBaseType_t uxSemaphoreGetCount(SemaphoreHandle_t semaphore) {
    return uxQueueMessagesWaiting(semaphore);
}
TaskHandle_t xSemaphoreGetMutexHolder(SemaphoreHandle_t semaphore) { return semaphore->holder; }

struct EventGroupDef_t {
    EventBits_t bits;
};
struct awaited {
    EventGroupHandle_t group;
    EventBits_t bits;
    bool all;
};

EventGroupHandle_t xEventGroupCreate(void) { return calloc(1, sizeof(struct EventGroupDef_t)); }
void vEventGroupDelete(EventGroupHandle_t group) { free(group); }
EventBits_t xEventGroupSetBits(EventGroupHandle_t group, EventBits_t bits) {
    vb_lock();
    group->bits |= bits;
    EventBits_t now = group->bits;
    vb_wake_all();
    vb_unlock();
    return now;
}
BaseType_t xEventGroupSetBitsFromISR(EventGroupHandle_t group, EventBits_t bits,
                                     BaseType_t *woken) {
    not_woken(woken);
    xEventGroupSetBits(group, bits);
    return pdPASS;
}
EventBits_t xEventGroupClearBits(EventGroupHandle_t group, EventBits_t bits) {
    vb_lock();
    EventBits_t before = group->bits;
    group->bits &= ~bits;
    vb_unlock();
    return before;
}
EventBits_t xEventGroupGetBits(EventGroupHandle_t group) {
    return xEventGroupClearBits(group, 0);
}
static bool bits_are_set(void *argument) {
    struct awaited *awaited = argument;
    EventBits_t set = awaited->group->bits & awaited->bits;
    return awaited->all ? set == awaited->bits : set != 0;
}
EventBits_t xEventGroupWaitBits(EventGroupHandle_t group, EventBits_t bits,
                                BaseType_t clear_on_exit, BaseType_t wait_for_all,
                                TickType_t ticks) {
    struct awaited awaited = {group, bits, wait_for_all != pdFALSE};
    vb_lock();
    bool met = vb_wait(bits_are_set, &awaited, ticks);
    EventBits_t seen = group->bits;
    if (met && clear_on_exit) {
        group->bits &= ~bits;
    }
    vb_unlock();
    return seen;
}
