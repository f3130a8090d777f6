// Virtual board: what is stored in the partition `nvs`, as nvs.c sees it. Whoever calls holds its lock.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "nvs_flash.h"

#define NAME_BYTES 16
#define MAX_BLOB 508000

enum { TYPE_STRING = 0x21, TYPE_BLOB = 0x42 };

struct entry {
    struct entry *next;
    char space[NAME_BYTES];
    char key[NAME_BYTES];
    uint32_t type;
    uint32_t length;
    uint8_t data[];
};

// Reads the file; what it holds is no partition of this kind: ESP_ERR_NVS_NO_FREE_PAGES.
esp_err_t vb_nvs_load(void);
// Writes the file anew; on failure it stays as it was.
esp_err_t vb_nvs_save(void);
void vb_nvs_forget(void);
// Forgets everything and removes the file.
void vb_nvs_remove(void);
struct entry *vb_nvs_first(void);
struct entry *vb_nvs_find(const char *space, const char *key);
// Puts it at the end, so that what is stored keeps its order. Both names fill NAME_BYTES.
struct entry *vb_nvs_add(const char *space, const char *key, uint32_t type, uint32_t length);
// Takes it out of the list and leaves it to the caller.
void vb_nvs_take(struct entry *entry);
void vb_nvs_put_back(struct entry *entry);
