// Virtual board: non-volatile storage, as programs use it. What is stored lies in nvs_store.c.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "nvs_store.h"
#include "vb.h"

#define MAX_HANDLES 32
#define MAX_STRING 4000

struct opened {
    bool used;
    bool writable;
    char space[NAME_BYTES];
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static bool ready;
static struct opened handles[MAX_HANDLES];

esp_err_t nvs_flash_init(void) {
    pthread_mutex_lock(&guard);
    esp_err_t result = ready ? ESP_OK : vb_nvs_load();
    ready = result == ESP_OK;
    pthread_mutex_unlock(&guard);
    return result;
}

esp_err_t nvs_flash_deinit(void) {
    pthread_mutex_lock(&guard);
    esp_err_t result = ready ? ESP_OK : ESP_ERR_NVS_NOT_INITIALIZED;
    ready = false;
    vb_nvs_forget();
    pthread_mutex_unlock(&guard);
    return result;
}

esp_err_t nvs_flash_erase(void) {
    pthread_mutex_lock(&guard);
    ready = false;
    vb_nvs_remove();
    pthread_mutex_unlock(&guard);
    return ESP_OK;
}

static void drop(const char *space, const char *key) {
    struct entry *at = vb_nvs_first();
    while (at != NULL) {
        struct entry *gone = at;
        at = at->next;
        if (strcmp(gone->space, space) == 0 && (key == NULL || strcmp(gone->key, key) == 0)) {
            vb_nvs_take(gone);
            free(gone);
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
        for (struct entry *at = vb_nvs_first(); at != NULL && !known; at = at->next) {
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

static esp_err_t set(nvs_handle_t handle, const char *key, uint32_t type, const void *data,
                     size_t length) {
    pthread_mutex_lock(&guard);
    esp_err_t result = check(handle, true, key);
    if (result == ESP_OK) {
        char space[NAME_BYTES], name[NAME_BYTES] = "";
        memcpy(space, opened(handle)->space, NAME_BYTES);
        strcpy(name, key);
        struct entry *old = vb_nvs_find(space, name);
        if (old != NULL) {
            vb_nvs_take(old);
        }
        struct entry *entry = vb_nvs_add(space, name, type, (uint32_t)length);
        result = entry == NULL ? ESP_ERR_NO_MEM : ESP_OK;
        if (entry != NULL) {
            memcpy(entry->data, data, length);
            result = vb_nvs_save();
        }
        if (entry != NULL && result != ESP_OK) {
            vb_nvs_take(entry);
            free(entry);
        }
        if (result == ESP_OK) {
            free(old);
        } else if (old != NULL) {
            vb_nvs_put_back(old);
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
        struct entry *entry = vb_nvs_find(opened(handle)->space, key);
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
    if (result == ESP_OK && vb_nvs_find(opened(handle)->space, key) == NULL) {
        result = ESP_ERR_NVS_NOT_FOUND;
    }
    if (result == ESP_OK) {
        drop(opened(handle)->space, key);
        result = vb_nvs_save();
    }
    pthread_mutex_unlock(&guard);
    return result;
}

esp_err_t nvs_erase_all(nvs_handle_t handle) {
    pthread_mutex_lock(&guard);
    esp_err_t result = check(handle, true, NULL);
    if (result == ESP_OK) {
        drop(opened(handle)->space, NULL);
        result = vb_nvs_save();
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
