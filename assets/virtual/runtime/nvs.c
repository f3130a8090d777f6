// Virtual board: non-volatile storage in the file `nvs.bin` of the board's folder.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nvs_flash.h"
#include "vb.h"

#define STORE "nvs.bin"
#define STORE_NEW "nvs.new"
#define MAGIC "VBNVS1\n"
#define NAME_BYTES 16
#define MAX_HANDLES 32
#define MAX_STRING 4000
#define MAX_BLOB 508000
#define MAX_TOTAL 0x4000

struct entry {
    struct entry *next;
    char space[NAME_BYTES];
    char key[NAME_BYTES];
    uint32_t type;
    uint32_t length;
    uint8_t data[];
};
struct header {
    char space[NAME_BYTES];
    char key[NAME_BYTES];
    uint32_t type;
    uint32_t length;
};
struct opened {
    bool used;
    bool writable;
    char space[NAME_BYTES];
};
enum { TYPE_STRING = 0x21, TYPE_BLOB = 0x42 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static bool ready;
static struct entry *entries;
static struct opened handles[MAX_HANDLES];

static void forget(void) {
    while (entries != NULL) {
        struct entry *gone = entries;
        entries = gone->next;
        free(gone);
    }
}

static struct entry *add(const struct header *header) {
    struct entry *entry = calloc(1, sizeof *entry + header->length);
    if (entry == NULL) {
        return NULL;
    }
    memcpy(entry->space, header->space, NAME_BYTES);
    memcpy(entry->key, header->key, NAME_BYTES);
    entry->type = header->type;
    entry->length = header->length;
    entry->next = entries;
    entries = entry;
    return entry;
}

static esp_err_t load(void) {
    FILE *file = fopen(STORE, "rb");
    if (file == NULL) {
        return ESP_OK;
    }
    char magic[sizeof MAGIC] = "";
    bool good = fread(magic, 1, sizeof MAGIC - 1, file) == sizeof MAGIC - 1 &&
                strcmp(magic, MAGIC) == 0;
    struct header header;
    while (good && fread(&header, 1, sizeof header, file) == sizeof header) {
        good = header.length <= MAX_BLOB && header.space[NAME_BYTES - 1] == '\0' &&
               header.key[NAME_BYTES - 1] == '\0';
        struct entry *entry = good ? add(&header) : NULL;
        good = entry != NULL && fread(entry->data, 1, header.length, file) == header.length;
    }
    fclose(file);
    if (!good) {
        forget();
    }
    return good ? ESP_OK : ESP_ERR_NVS_NO_FREE_PAGES;
}

static esp_err_t save(void) {
    FILE *file = fopen(STORE_NEW, "wb");
    bool good = file != NULL && fwrite(MAGIC, 1, sizeof MAGIC - 1, file) == sizeof MAGIC - 1;
    for (struct entry *at = entries; good && at != NULL; at = at->next) {
        struct header header = {.type = at->type, .length = at->length};
        memcpy(header.space, at->space, NAME_BYTES);
        memcpy(header.key, at->key, NAME_BYTES);
        good = fwrite(&header, 1, sizeof header, file) == sizeof header &&
               fwrite(at->data, 1, at->length, file) == at->length;
    }
    if (file != NULL) {
        good = fclose(file) == 0 && good;
    }
    return good && rename(STORE_NEW, STORE) == 0 ? ESP_OK : ESP_FAIL;
}

esp_err_t nvs_flash_init(void) {
    pthread_mutex_lock(&guard);
    esp_err_t result = ready ? ESP_OK : load();
    ready = result == ESP_OK;
    pthread_mutex_unlock(&guard);
    return result;
}

esp_err_t nvs_flash_deinit(void) {
    pthread_mutex_lock(&guard);
    esp_err_t result = ready ? ESP_OK : ESP_ERR_NVS_NOT_INITIALIZED;
    ready = false;
    forget();
    pthread_mutex_unlock(&guard);
    return result;
}

esp_err_t nvs_flash_erase(void) {
    pthread_mutex_lock(&guard);
    ready = false;
    forget();
    remove(STORE);
    pthread_mutex_unlock(&guard);
    return ESP_OK;
}

static struct entry *find(const char *space, const char *key) {
    struct entry *at = entries;
    while (at != NULL && (strcmp(at->space, space) != 0 || strcmp(at->key, key) != 0)) {
        at = at->next;
    }
    return at;
}

static void drop(const char *space, const char *key) {
    struct entry **at = &entries;
    while (*at != NULL) {
        struct entry *entry = *at;
        if (strcmp(entry->space, space) == 0 && (key == NULL || strcmp(entry->key, key) == 0)) {
            *at = entry->next;
            free(entry);
        } else {
            at = &entry->next;
        }
    }
}

esp_err_t nvs_open(const char *space, nvs_open_mode_t mode, nvs_handle_t *handle) {
    if (space == NULL || space[0] == '\0' || strlen(space) >= NAME_BYTES) {
        return ESP_ERR_NVS_INVALID_NAME;
    }
    pthread_mutex_lock(&guard);
    esp_err_t result = ready ? ESP_ERR_NO_MEM : ESP_ERR_NVS_NOT_INITIALIZED;
    if (ready && mode == NVS_READONLY) {
        bool known = false;
        for (struct entry *at = entries; at != NULL && !known; at = at->next) {
            known = strcmp(at->space, space) == 0;
        }
        if (!known) {
            result = ESP_ERR_NVS_NOT_FOUND;
        }
    }
    for (int i = 0; result == ESP_ERR_NO_MEM && i < MAX_HANDLES; i++) {
        if (!handles[i].used) {
            handles[i] = (struct opened){.used = true, .writable = mode == NVS_READWRITE};
            strcpy(handles[i].space, space);
            *handle = (nvs_handle_t)(i + 1);
            result = ESP_OK;
        }
    }
    pthread_mutex_unlock(&guard);
    return result;
}

static struct opened *opened(nvs_handle_t handle) {
    if (handle == 0 || handle > MAX_HANDLES || !handles[handle - 1].used) {
        return NULL;
    }
    return &handles[handle - 1];
}

void nvs_close(nvs_handle_t handle) {
    pthread_mutex_lock(&guard);
    struct opened *at = opened(handle);
    if (at != NULL) {
        at->used = false;
    }
    pthread_mutex_unlock(&guard);
}

esp_err_t nvs_commit(nvs_handle_t handle) {
    pthread_mutex_lock(&guard);
    esp_err_t result = opened(handle) != NULL ? ESP_OK : ESP_ERR_NVS_INVALID_HANDLE;
    pthread_mutex_unlock(&guard);
    return result;
}

static esp_err_t check(nvs_handle_t handle, bool write, const char *key) {
    if (!ready) {
        return ESP_ERR_NVS_NOT_INITIALIZED;
    }
    struct opened *at = opened(handle);
    if (at == NULL) {
        return ESP_ERR_NVS_INVALID_HANDLE;
    }
    if (write && !at->writable) {
        return ESP_ERR_NVS_READ_ONLY;
    }
    if (key != NULL && key[0] == '\0') {
        return ESP_ERR_NVS_INVALID_NAME;
    }
    return key != NULL && strlen(key) >= NAME_BYTES ? ESP_ERR_NVS_KEY_TOO_LONG : ESP_OK;
}

static size_t total(void) {
    size_t bytes = 0;
    for (struct entry *at = entries; at != NULL; at = at->next) {
        bytes += 32 + (at->length + 31) / 32 * 32;
    }
    return bytes;
}

static esp_err_t set(nvs_handle_t handle, const char *key, uint32_t type, const void *data,
                     size_t length) {
    pthread_mutex_lock(&guard);
    esp_err_t result = check(handle, true, key);
    if (result == ESP_OK && total() + length + 32 > MAX_TOTAL) {
        result = ESP_ERR_NVS_NOT_ENOUGH_SPACE;
    }
    if (result == ESP_OK) {
        struct header header = {.type = type, .length = (uint32_t)length};
        strcpy(header.space, opened(handle)->space);
        strcpy(header.key, key);
        drop(header.space, header.key);
        struct entry *entry = add(&header);
        if (entry == NULL) {
            result = ESP_ERR_NO_MEM;
        } else {
            memcpy(entry->data, data, length);
            result = save();
        }
    }
    pthread_mutex_unlock(&guard);
    return result;
}

// `length` is what fits into `data`; NULL for numbers, whose size is their type's.
static esp_err_t get(nvs_handle_t handle, const char *key, uint32_t type, void *data, size_t size,
                     size_t *length) {
    pthread_mutex_lock(&guard);
    esp_err_t result = check(handle, false, key);
    if (result == ESP_OK) {
        struct entry *entry = find(opened(handle)->space, key);
        if (entry == NULL || entry->type != type) {
            result = entry == NULL ? ESP_ERR_NVS_NOT_FOUND : ESP_ERR_NVS_TYPE_MISMATCH;
        } else if (length == NULL) {
            memcpy(data, entry->data, size);
        } else if (data == NULL) {
            *length = entry->length;
        } else if (*length < entry->length) {
            *length = entry->length;
            result = ESP_ERR_NVS_INVALID_LENGTH;
        } else {
            memcpy(data, entry->data, entry->length);
            *length = entry->length;
        }
    }
    pthread_mutex_unlock(&guard);
    return result;
}

esp_err_t nvs_erase_key(nvs_handle_t handle, const char *key) {
    pthread_mutex_lock(&guard);
    esp_err_t result = check(handle, true, key);
    if (result == ESP_OK && find(opened(handle)->space, key) == NULL) {
        result = ESP_ERR_NVS_NOT_FOUND;
    }
    if (result == ESP_OK) {
        drop(opened(handle)->space, key);
        result = save();
    }
    pthread_mutex_unlock(&guard);
    return result;
}

esp_err_t nvs_erase_all(nvs_handle_t handle) {
    pthread_mutex_lock(&guard);
    esp_err_t result = check(handle, true, NULL);
    if (result == ESP_OK) {
        drop(opened(handle)->space, NULL);
        result = save();
    }
    pthread_mutex_unlock(&guard);
    return result;
}

#define NUMBER(suffix, ctype, code)                                                       \
    esp_err_t nvs_set_##suffix(nvs_handle_t handle, const char *key, ctype value) {       \
        return set(handle, key, code, &value, sizeof value);                              \
    }                                                                                     \
    esp_err_t nvs_get_##suffix(nvs_handle_t handle, const char *key, ctype *value) {      \
        return get(handle, key, code, value, sizeof *value, NULL);                        \
    }
NUMBER(u8, uint8_t, 0x01)
NUMBER(i8, int8_t, 0x11)
NUMBER(u16, uint16_t, 0x02)
NUMBER(i16, int16_t, 0x12)
NUMBER(u32, uint32_t, 0x04)
NUMBER(i32, int32_t, 0x14)
NUMBER(u64, uint64_t, 0x08)
NUMBER(i64, int64_t, 0x18)

esp_err_t nvs_set_str(nvs_handle_t handle, const char *key, const char *value) {
    size_t length = strlen(value) + 1;
    return length > MAX_STRING ? ESP_ERR_NVS_VALUE_TOO_LONG
                               : set(handle, key, TYPE_STRING, value, length);
}
esp_err_t nvs_get_str(nvs_handle_t handle, const char *key, char *value, size_t *length) {
    return get(handle, key, TYPE_STRING, value, 0, length);
}
esp_err_t nvs_set_blob(nvs_handle_t handle, const char *key, const void *value, size_t length) {
    return length > MAX_BLOB ? ESP_ERR_NVS_VALUE_TOO_LONG
                             : set(handle, key, TYPE_BLOB, value, length);
}
esp_err_t nvs_get_blob(nvs_handle_t handle, const char *key, void *value, size_t *length) {
    return get(handle, key, TYPE_BLOB, value, 0, length);
}
