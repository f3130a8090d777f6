// Virtual board: errors by name, heap, random numbers, chip, ROM helpers.
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include "esp_chip_info.h"
#include "esp_err.h"
#include "esp_heap_caps.h"
#include "esp_idf_version.h"
#include "esp_mac.h"
#include "esp_random.h"
#include "esp_rom_sys.h"
#include "esp_system.h"
#include "nvs.h"
#include "vb.h"

#define HEAP_BYTES 300000u

const char *esp_err_to_name(esp_err_t code) {
#define NAME(code) \
    case code:     \
        return #code;
    switch (code) {
        NAME(ESP_OK)
        NAME(ESP_FAIL)
        NAME(ESP_ERR_NO_MEM)
        NAME(ESP_ERR_INVALID_ARG)
        NAME(ESP_ERR_INVALID_STATE)
        NAME(ESP_ERR_INVALID_SIZE)
        NAME(ESP_ERR_NOT_FOUND)
        NAME(ESP_ERR_NOT_SUPPORTED)
        NAME(ESP_ERR_TIMEOUT)
        NAME(ESP_ERR_INVALID_RESPONSE)
        NAME(ESP_ERR_INVALID_CRC)
        NAME(ESP_ERR_INVALID_VERSION)
        NAME(ESP_ERR_INVALID_MAC)
        NAME(ESP_ERR_NOT_FINISHED)
        NAME(ESP_ERR_NOT_ALLOWED)
        NAME(ESP_ERR_NVS_NOT_INITIALIZED)
        NAME(ESP_ERR_NVS_NOT_FOUND)
        NAME(ESP_ERR_NVS_TYPE_MISMATCH)
        NAME(ESP_ERR_NVS_READ_ONLY)
        NAME(ESP_ERR_NVS_NOT_ENOUGH_SPACE)
        NAME(ESP_ERR_NVS_INVALID_NAME)
        NAME(ESP_ERR_NVS_INVALID_HANDLE)
        NAME(ESP_ERR_NVS_KEY_TOO_LONG)
        NAME(ESP_ERR_NVS_INVALID_LENGTH)
        NAME(ESP_ERR_NVS_NO_FREE_PAGES)
        NAME(ESP_ERR_NVS_VALUE_TOO_LONG)
        NAME(ESP_ERR_NVS_NEW_VERSION_FOUND)
    default:
        return "UNKNOWN ERROR";
    }
#undef NAME
}

const char *esp_err_to_name_r(esp_err_t code, char *buffer, size_t length) {
    snprintf(buffer, length, "%s", esp_err_to_name(code));
    return buffer;
}

const char *esp_get_idf_version(void) { return "virtual board (v5 subset)"; }

uint32_t esp_get_free_heap_size(void) {
    uint32_t used = 0;
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();
    used = info.uordblks > HEAP_BYTES ? HEAP_BYTES : (uint32_t)info.uordblks;
#endif
    return HEAP_BYTES - used;
}

static uint32_t lowest = HEAP_BYTES;

uint32_t esp_get_minimum_free_heap_size(void) {
    uint32_t now = esp_get_free_heap_size();
    if (now < lowest) {
        lowest = now;
    }
    return lowest;
}
uint32_t esp_get_free_internal_heap_size(void) { return esp_get_free_heap_size(); }

void *pvPortMalloc(size_t size) { return malloc(size); }
void vPortFree(void *memory) { free(memory); }
void *heap_caps_malloc(size_t size, uint32_t caps) {
    return (caps & MALLOC_CAP_SPIRAM) != 0 ? NULL : malloc(size);
}
void *heap_caps_calloc(size_t count, size_t size, uint32_t caps) {
    return (caps & MALLOC_CAP_SPIRAM) != 0 ? NULL : calloc(count, size);
}
void *heap_caps_realloc(void *memory, size_t size, uint32_t caps) {
    return (caps & MALLOC_CAP_SPIRAM) != 0 ? NULL : realloc(memory, size);
}
void heap_caps_free(void *memory) { free(memory); }
size_t heap_caps_get_free_size(uint32_t caps) {
    return (caps & MALLOC_CAP_SPIRAM) != 0 ? 0 : esp_get_free_heap_size();
}
size_t heap_caps_get_minimum_free_size(uint32_t caps) {
    return (caps & MALLOC_CAP_SPIRAM) != 0 ? 0 : esp_get_minimum_free_heap_size();
}
size_t heap_caps_get_largest_free_block(uint32_t caps) { return heap_caps_get_free_size(caps) / 2; }
size_t heap_caps_get_total_size(uint32_t caps) {
    return (caps & MALLOC_CAP_SPIRAM) != 0 ? 0 : HEAP_BYTES;
}

void esp_fill_random(void *buffer, size_t length) {
    int source = open("/dev/urandom", O_RDONLY);
    uint8_t *to = buffer;
    while (source >= 0 && length > 0) {
        ssize_t got = read(source, to, length);
        if (got <= 0) {
            break;
        }
        to += got;
        length -= (size_t)got;
    }
    if (source >= 0) {
        close(source);
    }
    if (length > 0) {
        abort();
    }
}
uint32_t esp_random(void) {
    uint32_t value;
    esp_fill_random(&value, sizeof value);
    return value;
}

void esp_chip_info(esp_chip_info_t *info) {
    memset(info, 0, sizeof *info);
    info->model = CHIP_ESP32;
    info->revision = 301;
    info->cores = 2;
}

esp_err_t esp_efuse_mac_get_default(uint8_t *mac) {
    const uint8_t fixed[6] = {0x02, 0x00, 0x00, 0x00, 0x00, 0x32};
    memcpy(mac, fixed, sizeof fixed);
    return ESP_OK;
}
esp_err_t esp_read_mac(uint8_t *mac, esp_mac_type_t type) {
    esp_efuse_mac_get_default(mac);
    mac[5] = (uint8_t)(mac[5] + type);
    return ESP_OK;
}

void esp_rom_delay_us(uint32_t us) {
    int64_t until = vb_micros() + us;
    while (vb_micros() < until) {
    }
}
int esp_rom_printf(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vprintf(format, args);
    va_end(args);
    return length;
}
void esp_rom_output_tx_one_char(uint8_t c) { putchar(c); }
