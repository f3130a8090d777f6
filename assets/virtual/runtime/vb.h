// Virtual board: what the parts of the runtime share.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

struct tskTaskControlBlock {
    pthread_t thread;
    TaskFunction_t code;
    void *parameters;
    UBaseType_t priority;
    BaseType_t core;
    char name[configMAX_TASK_NAME_LEN];
    char *stack;
    size_t stack_bytes;
    uint32_t notify_value;
    bool notify_pending;
    bool deleted;
    bool finished;
    bool suspended;
    bool blocked;
    struct tskTaskControlBlock *next;
};

// One lock guards all kernel objects; waiting tasks are woken together and look again.
void vb_lock(void);
void vb_unlock(void);
void vb_wake_all(void);
typedef bool (*vb_ready_t)(void *arg);
// Called with the lock held. Returns whether `ready` became true within `ticks`. Ends the calling
// task when it was deleted meanwhile.
bool vb_wait(vb_ready_t ready, void *arg, TickType_t ticks);
TaskHandle_t vb_self(void);
int64_t vb_micros(void);
void vb_deadline(struct timespec *at, int64_t micros_from_now);
void vb_cond_init(pthread_cond_t *cond);

void vb_panic_install(void);
void vb_panic_install_thread(void);
void vb_timers_start(void);
void vb_raw(const char *format, ...) __attribute__((format(printf, 1, 2)));
void vb_reboot(int reason) __attribute__((noreturn));
void vb_abort_at(uintptr_t pc, const char *before) __attribute__((noreturn));

// The simulated bus: whether a device answers, and what it does.
bool vb_i2c_present(uint16_t address);
bool vb_i2c_write(uint16_t address, const uint8_t *data, size_t length);
bool vb_i2c_read(uint16_t address, uint8_t *data, size_t length);
