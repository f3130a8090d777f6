// Virtual board: early returns with a log line.
#pragma once
#include "esp_err.h"
#include "esp_log.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ESP_RETURN_ON_ERROR(x, tag, format, ...)                                        \
    do {                                                                                \
        esp_err_t err_rc_ = (x);                                                        \
        if (__builtin_expect(err_rc_ != ESP_OK, 0)) {                                   \
            ESP_LOGE(tag, "%s(%d): " format, __FUNCTION__, __LINE__, ##__VA_ARGS__);    \
            return err_rc_;                                                             \
        }                                                                               \
    } while (0)
#define ESP_GOTO_ON_ERROR(x, label, tag, format, ...)                                   \
    do {                                                                                \
        esp_err_t err_rc_ = (x);                                                        \
        if (__builtin_expect(err_rc_ != ESP_OK, 0)) {                                   \
            ESP_LOGE(tag, "%s(%d): " format, __FUNCTION__, __LINE__, ##__VA_ARGS__);    \
            ret = err_rc_;                                                              \
            goto label;                                                                 \
        }                                                                               \
    } while (0)
#define ESP_RETURN_ON_FALSE(a, code, tag, format, ...)                                  \
    do {                                                                                \
        if (__builtin_expect(!(a), 0)) {                                                \
            ESP_LOGE(tag, "%s(%d): " format, __FUNCTION__, __LINE__, ##__VA_ARGS__);    \
            return code;                                                                \
        }                                                                               \
    } while (0)
#define ESP_GOTO_ON_FALSE(a, code, label, tag, format, ...)                             \
    do {                                                                                \
        if (__builtin_expect(!(a), 0)) {                                                \
            ESP_LOGE(tag, "%s(%d): " format, __FUNCTION__, __LINE__, ##__VA_ARGS__);    \
            ret = (code);                                                               \
            goto label;                                                                 \
        }                                                                               \
    } while (0)

#ifdef __cplusplus
}
#endif
