// Virtual board: the log lines of the Arduino core; errors only, as boards are set up usually.
#pragma once
#include <stdio.h>
#include "esp_timer.h"

#ifndef CORE_DEBUG_LEVEL
#define CORE_DEBUG_LEVEL 1
#endif
#define ARDUHAL_LOG(least, letter, format, ...)                                             \
    do {                                                                                    \
        if (CORE_DEBUG_LEVEL >= (least)) {                                                  \
            arduhal_printf("[%6u][" letter "][%s:%u] %s(): " format "\r\n",                         \
                           (unsigned)(esp_timer_get_time() / 1000),                         \
                           arduhal_file(__FILE__), __LINE__, __func__, ##__VA_ARGS__);      \
        }                                                                                   \
    } while (0)
#define log_e(format, ...) ARDUHAL_LOG(1, "E", format, ##__VA_ARGS__)
#define log_w(format, ...) ARDUHAL_LOG(2, "W", format, ##__VA_ARGS__)
#define log_i(format, ...) ARDUHAL_LOG(3, "I", format, ##__VA_ARGS__)
#define log_d(format, ...) ARDUHAL_LOG(4, "D", format, ##__VA_ARGS__)
#define log_v(format, ...) ARDUHAL_LOG(5, "V", format, ##__VA_ARGS__)

// A class of its own name for `printf`, such as Print, must not catch these lines.
#define arduhal_printf(...) (void)(::printf)(__VA_ARGS__)

static inline const char *arduhal_file(const char *path) {
    const char *name = path;
    for (; *path != '\0'; path++) {
        if (*path == '/') {
            name = path + 1;
        }
    }
    return name;
}
