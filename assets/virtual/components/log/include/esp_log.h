// Virtual board: logging in the ESP32's format.
#pragma once
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include "sdkconfig.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    ESP_LOG_NONE = 0,
    ESP_LOG_ERROR = 1,
    ESP_LOG_WARN = 2,
    ESP_LOG_INFO = 3,
    ESP_LOG_DEBUG = 4,
    ESP_LOG_VERBOSE = 5,
} esp_log_level_t;

#ifndef LOG_LOCAL_LEVEL
#define LOG_LOCAL_LEVEL CONFIG_LOG_MAXIMUM_LEVEL
#endif

#define LOG_COLOR(color) "\033[0;" color "m"
#define LOG_COLOR_E LOG_COLOR("31")
#define LOG_COLOR_W LOG_COLOR("33")
#define LOG_COLOR_I LOG_COLOR("32")
#define LOG_COLOR_D
#define LOG_COLOR_V
#define LOG_RESET_COLOR "\033[0m"
#define LOG_FORMAT(letter, format) \
    LOG_COLOR_##letter #letter " (%" PRIu32 ") %s: " format LOG_RESET_COLOR "\n"

typedef int (*vprintf_like_t)(const char *, va_list);

void esp_log_level_set(const char *tag, esp_log_level_t level);
esp_log_level_t esp_log_level_get(const char *tag);
vprintf_like_t esp_log_set_vprintf(vprintf_like_t func);
uint32_t esp_log_timestamp(void);
uint32_t esp_log_early_timestamp(void);
void esp_log_write(esp_log_level_t level, const char *tag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void esp_log_writev(esp_log_level_t level, const char *tag, const char *format, va_list args);
void esp_log_buffer_hex_internal(const char *tag, const void *buffer, uint16_t length,
                                 esp_log_level_t level);
void esp_log_buffer_char_internal(const char *tag, const void *buffer, uint16_t length,
                                  esp_log_level_t level);
void esp_log_buffer_hexdump_internal(const char *tag, const void *buffer, uint16_t length,
                                     esp_log_level_t level);

#define ESP_LOG_LEVEL(level, tag, format, ...)                                                 \
    do {                                                                                       \
        if ((level) == ESP_LOG_ERROR) {                                                        \
            esp_log_write(ESP_LOG_ERROR, tag, LOG_FORMAT(E, format), esp_log_timestamp(), tag, \
                          ##__VA_ARGS__);                                                      \
        } else if ((level) == ESP_LOG_WARN) {                                                  \
            esp_log_write(ESP_LOG_WARN, tag, LOG_FORMAT(W, format), esp_log_timestamp(), tag,  \
                          ##__VA_ARGS__);                                                      \
        } else if ((level) == ESP_LOG_DEBUG) {                                                 \
            esp_log_write(ESP_LOG_DEBUG, tag, LOG_FORMAT(D, format), esp_log_timestamp(), tag, \
                          ##__VA_ARGS__);                                                      \
        } else if ((level) == ESP_LOG_VERBOSE) {                                               \
            esp_log_write(ESP_LOG_VERBOSE, tag, LOG_FORMAT(V, format), esp_log_timestamp(),    \
                          tag, ##__VA_ARGS__);                                                 \
        } else {                                                                               \
            esp_log_write(ESP_LOG_INFO, tag, LOG_FORMAT(I, format), esp_log_timestamp(), tag,  \
                          ##__VA_ARGS__);                                                      \
        }                                                                                      \
    } while (0)
#define ESP_LOG_LEVEL_LOCAL(level, tag, format, ...)                   \
    do {                                                               \
        if (LOG_LOCAL_LEVEL >= (level)) {                              \
            ESP_LOG_LEVEL(level, tag, format, ##__VA_ARGS__);          \
        }                                                              \
    } while (0)

#define ESP_LOGE(tag, format, ...) ESP_LOG_LEVEL_LOCAL(ESP_LOG_ERROR, tag, format, ##__VA_ARGS__)
#define ESP_LOGW(tag, format, ...) ESP_LOG_LEVEL_LOCAL(ESP_LOG_WARN, tag, format, ##__VA_ARGS__)
#define ESP_LOGI(tag, format, ...) ESP_LOG_LEVEL_LOCAL(ESP_LOG_INFO, tag, format, ##__VA_ARGS__)
#define ESP_LOGD(tag, format, ...) ESP_LOG_LEVEL_LOCAL(ESP_LOG_DEBUG, tag, format, ##__VA_ARGS__)
#define ESP_LOGV(tag, format, ...) ESP_LOG_LEVEL_LOCAL(ESP_LOG_VERBOSE, tag, format, ##__VA_ARGS__)
#define ESP_EARLY_LOGE ESP_LOGE
#define ESP_EARLY_LOGW ESP_LOGW
#define ESP_EARLY_LOGI ESP_LOGI
#define ESP_DRAM_LOGE ESP_LOGE
#define ESP_DRAM_LOGI ESP_LOGI

#define ESP_LOG_BUFFER_HEX_LEVEL(tag, buffer, length, level)                      \
    do {                                                                          \
        if (LOG_LOCAL_LEVEL >= (level)) {                                         \
            esp_log_buffer_hex_internal(tag, buffer, length, level);              \
        }                                                                         \
    } while (0)
#define ESP_LOG_BUFFER_CHAR_LEVEL(tag, buffer, length, level)                     \
    do {                                                                          \
        if (LOG_LOCAL_LEVEL >= (level)) {                                         \
            esp_log_buffer_char_internal(tag, buffer, length, level);             \
        }                                                                         \
    } while (0)
#define ESP_LOG_BUFFER_HEXDUMP(tag, buffer, length, level)                        \
    do {                                                                          \
        if (LOG_LOCAL_LEVEL >= (level)) {                                         \
            esp_log_buffer_hexdump_internal(tag, buffer, length, level);          \
        }                                                                         \
    } while (0)
#define ESP_LOG_BUFFER_HEX(tag, buffer, length) \
    ESP_LOG_BUFFER_HEX_LEVEL(tag, buffer, length, ESP_LOG_INFO)
#define ESP_LOG_BUFFER_CHAR(tag, buffer, length) \
    ESP_LOG_BUFFER_CHAR_LEVEL(tag, buffer, length, ESP_LOG_INFO)

#ifdef __cplusplus
}
#endif
