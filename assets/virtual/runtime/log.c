// Virtual board: esp_log.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "esp_log.h"
#include "vb.h"

struct tag_level {
    struct tag_level *next;
    esp_log_level_t level;
    char tag[];
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct tag_level *levels;
static esp_log_level_t standard = (esp_log_level_t)CONFIG_LOG_DEFAULT_LEVEL;
static vprintf_like_t printer = vprintf;

static struct tag_level *find(const char *tag) {
    struct tag_level *at = levels;
    while (at != NULL && strcmp(at->tag, tag) != 0) {
        at = at->next;
    }
    return at;
}

void esp_log_level_set(const char *tag, esp_log_level_t level) {
    pthread_mutex_lock(&guard);
    if (strcmp(tag, "*") == 0) {
        standard = level;
        while (levels != NULL) {
            struct tag_level *gone = levels;
            levels = gone->next;
            free(gone);
        }
    } else {
        struct tag_level *entry = find(tag);
        if (entry == NULL) {
            entry = calloc(1, sizeof *entry + strlen(tag) + 1);
            if (entry != NULL) {
                strcpy(entry->tag, tag);
                entry->next = levels;
                levels = entry;
            }
        }
        if (entry != NULL) {
            entry->level = level;
        }
    }
    pthread_mutex_unlock(&guard);
}

esp_log_level_t esp_log_level_get(const char *tag) {
    pthread_mutex_lock(&guard);
    struct tag_level *entry = find(tag);
    esp_log_level_t level = entry != NULL ? entry->level : standard;
    pthread_mutex_unlock(&guard);
    return level;
}

vprintf_like_t esp_log_set_vprintf(vprintf_like_t func) {
    vprintf_like_t before = printer;
    printer = func;
    return before;
}

uint32_t esp_log_timestamp(void) { return (uint32_t)(vb_micros() / 1000); }
uint32_t esp_log_early_timestamp(void) { return esp_log_timestamp(); }

void esp_log_writev(esp_log_level_t level, const char *tag, const char *format, va_list args) {
    if (level != ESP_LOG_NONE && level <= esp_log_level_get(tag)) {
        printer(format, args);
    }
}

void esp_log_write(esp_log_level_t level, const char *tag, const char *format, ...) {
    va_list args;
    va_start(args, format);
    esp_log_writev(level, tag, format, args);
    va_end(args);
}

#define PER_LINE 16

void esp_log_buffer_hex_internal(const char *tag, const void *buffer, uint16_t length,
                                 esp_log_level_t level) {
    const uint8_t *bytes = buffer;
    for (unsigned at = 0; at < length; at += PER_LINE) {
        char line[PER_LINE * 3 + 1] = "";
        for (unsigned i = at; i < length && i < at + PER_LINE; i++) {
            snprintf(line + (i - at) * 3, 4, "%02x ", bytes[i]);
        }
        ESP_LOG_LEVEL(level, tag, "%s", line);
    }
}

static void readable(char *to, const uint8_t *bytes, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        to[i] = bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char)bytes[i] : '.';
    }
    to[count] = '\0';
}

void esp_log_buffer_char_internal(const char *tag, const void *buffer, uint16_t length,
                                  esp_log_level_t level) {
    for (unsigned at = 0; at < length; at += PER_LINE) {
        char line[PER_LINE + 1];
        unsigned count = length - at < PER_LINE ? length - at : PER_LINE;
        readable(line, (const uint8_t *)buffer + at, count);
        ESP_LOG_LEVEL(level, tag, "%s", line);
    }
}

void esp_log_buffer_hexdump_internal(const char *tag, const void *buffer, uint16_t length,
                                     esp_log_level_t level) {
    const uint8_t *bytes = buffer;
    for (unsigned at = 0; at < length; at += PER_LINE) {
        char hex[PER_LINE * 3 + 2];
        char text[PER_LINE + 1];
        unsigned count = length - at < PER_LINE ? length - at : PER_LINE;
        unsigned used = 0;
        for (unsigned i = 0; i < PER_LINE; i++) {
            const char *gap = i == 8 ? " " : "";
            if (i < count) {
                used += (unsigned)snprintf(hex + used, sizeof hex - used, "%s%02x ", gap, bytes[at + i]);
            } else {
                used += (unsigned)snprintf(hex + used, sizeof hex - used, "%s   ", gap);
            }
        }
        readable(text, bytes + at, count);
        ESP_LOG_LEVEL(level, tag, "%p   %s |%s|", (const void *)(bytes + at), hex, text);
    }
}
