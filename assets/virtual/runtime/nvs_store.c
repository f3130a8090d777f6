// Virtual board: what is stored, and the file `nvs.bin` of the board's folder that it is kept in.
//
// The file is what the partition `nvs` of a chip would hold: pages of entries in the format of
// ESP-IDF (version 2), 24 KiB, of which one page stays free. It is written anew as a whole with
// every change; what the other end of a flash tool puts there is read when the firmware starts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nvs_store.h"

#define STORE "nvs.bin"
#define STORE_NEW "nvs.new"

#define PAGES 6
#define PAGE_BYTES 4096
#define PARTITION_BYTES (PAGES * PAGE_BYTES)
#define ENTRY_BYTES 32
#define PAGE_ENTRIES 126
#define BITMAP_AT 32
#define ENTRIES_AT 64
#define VERSION_2 0xfe
#define MAX_NAMESPACES 254
#define NO_CHUNK 0xff

enum { PAGE_ACTIVE = 0xfe, PAGE_FULL = 0xfc, PAGE_FREEING = 0xf8 };
enum { TYPE_BLOB_INDEX = 0x48 };

struct spaces {
    int count;
    char names[MAX_NAMESPACES + 1][NAME_BYTES];
};
// The image that is being written: the next free entry.
struct image {
    uint8_t bytes[PARTITION_BYTES];
    int page;
    int entry;
};

static struct entry *entries;
static struct image image;
static struct spaces spaces;

void vb_nvs_forget(void) {
    while (entries != NULL) {
        struct entry *gone = entries;
        entries = gone->next;
        free(gone);
    }
}

static uint32_t checksum(uint32_t so_far, const uint8_t *bytes, size_t count) {
    uint32_t sum = ~so_far;
    for (size_t at = 0; at < count; at++) {
        sum ^= bytes[at];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
        }
    }
    return ~sum;
}

static uint32_t word(const uint8_t *from) {
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static void put_word(uint8_t *to, uint32_t value) {
    for (int at = 0; at < 4; at++) {
        to[at] = (uint8_t)(value >> 8 * at);
    }
}

static uint32_t entry_checksum(const uint8_t *raw) {
    return checksum(checksum(0xffffffff, raw, 4), raw + 8, ENTRY_BYTES - 8);
}

struct entry *vb_nvs_add(const char *space, const char *key, uint32_t type, uint32_t length) {
    struct entry *entry = calloc(1, sizeof *entry + length);
    if (entry == NULL) {
        return NULL;
    }
    memcpy(entry->space, space, NAME_BYTES);
    memcpy(entry->key, key, NAME_BYTES);
    entry->type = type;
    entry->length = length;
    struct entry **end = &entries;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = entry;
    return entry;
}

struct entry *vb_nvs_find(const char *space, const char *key) {
    struct entry *at = entries;
    while (at != NULL && (strcmp(at->space, space) != 0 || strcmp(at->key, key) != 0)) {
        at = at->next;
    }
    return at;
}

void vb_nvs_take(struct entry *entry) {
    struct entry **at = &entries;
    while (*at != entry) {
        at = &(*at)->next;
    }
    *at = entry->next;
    entry->next = NULL;
}

static bool is_stored(const uint8_t *page, int entry) {
    return (page[BITMAP_AT + entry / 4] >> 2 * (entry % 4) & 3) == 2;
}

static bool is_used(const uint8_t *page) {
    return (page[0] == PAGE_ACTIVE || page[0] == PAGE_FULL || page[0] == PAGE_FREEING) &&
           word(page + 28) == checksum(0xffffffff, page + 4, 24) && page[8] == VERSION_2;
}

// Goes on to the next good entry; NULL at the end. `*page` and `*at` begin with 0.
static const uint8_t *next_stored(int *page, int *at) {
    for (; *page < PAGES; (*page)++, *at = 0) {
        const uint8_t *bytes = image.bytes + *page * PAGE_BYTES;
        while (is_used(bytes) && *at < PAGE_ENTRIES) {
            const uint8_t *raw = bytes + ENTRIES_AT + *at * ENTRY_BYTES;
            int span = raw[2] > 0 && *at + raw[2] <= PAGE_ENTRIES ? raw[2] : 1;
            bool is_good = is_stored(bytes, *at) && raw[2] == span &&
                           word(raw + 4) == entry_checksum(raw) && raw[8 + NAME_BYTES - 1] == 0;
            *at += is_good ? span : 1;
            if (is_good) {
                return raw;
            }
        }
    }
    return NULL;
}

// The data of a string or of one part of a blob; NULL when it is damaged.
static const uint8_t *data_of(const uint8_t *raw, uint32_t *length) {
    *length = raw[24] | (uint32_t)raw[25] << 8;
    bool is_whole = *length <= (raw[2] - 1u) * ENTRY_BYTES &&
                    word(raw + 28) == checksum(0xffffffff, raw + ENTRY_BYTES, *length);
    return is_whole ? raw + ENTRY_BYTES : NULL;
}

static bool load_blob(const uint8_t *index, struct entry *entry) {
    uint32_t done = 0;
    for (int chunk = 0; chunk < index[28]; chunk++) {
        int page = 0, at = 0;
        const uint8_t *raw = next_stored(&page, &at);
        while (raw != NULL && (raw[0] != index[0] || raw[1] != TYPE_BLOB ||
                               raw[3] != index[29] + chunk ||
                               memcmp(raw + 8, index + 8, NAME_BYTES) != 0)) {
            raw = next_stored(&page, &at);
        }
        uint32_t length = 0;
        const uint8_t *data = raw == NULL ? NULL : data_of(raw, &length);
        if (data == NULL || done + length > entry->length) {
            return false;
        }
        memcpy(entry->data + done, data, length);
        done += length;
    }
    return done == entry->length;
}

static bool load_value(const uint8_t *raw) {
    const char *space = spaces.names[raw[0]], *key = (const char *)raw + 8;
    struct entry *entry = vb_nvs_find(space, key);
    if (entry != NULL) {
        // A change that was cut off by a power failure: the later one counts.
        vb_nvs_take(entry);
        free(entry);
    }
    uint32_t length = 0;
    if (raw[1] == TYPE_STRING) {
        const uint8_t *data = data_of(raw, &length);
        entry = data == NULL ? NULL : vb_nvs_add(space, key, TYPE_STRING, length);
        if (entry != NULL) {
            memcpy(entry->data, data, length);
        }
        return entry != NULL;
    }
    if (raw[1] == TYPE_BLOB_INDEX) {
        length = word(raw + 24);
        entry = length > MAX_BLOB ? NULL : vb_nvs_add(space, key, TYPE_BLOB, length);
        return entry != NULL && load_blob(raw, entry);
    }
    entry = vb_nvs_add(space, key, raw[1], raw[1] & 0x0f);
    if (entry != NULL && entry->length <= 8) {
        memcpy(entry->data, raw + 24, entry->length);
    }
    return entry != NULL && entry->length <= 8;
}

esp_err_t vb_nvs_load(void) {
    FILE *file = fopen(STORE, "rb");
    if (file == NULL) {
        return ESP_OK;
    }
    bool good = fread(image.bytes, 1, PARTITION_BYTES, file) == PARTITION_BYTES &&
                fgetc(file) == EOF;
    fclose(file);
    bool is_erased = true;
    for (int at = 0; good && at < PARTITION_BYTES; at++) {
        is_erased = is_erased && image.bytes[at] == 0xff;
    }
    if (good && !is_erased) {
        memset(&spaces, 0, sizeof spaces);
        int page = 0, at = 0, found = 0;
        const uint8_t *raw;
        while ((raw = next_stored(&page, &at)) != NULL) {
            found++;
            if (raw[0] == 0 && raw[24] > 0 && raw[24] <= MAX_NAMESPACES) {
                memcpy(spaces.names[raw[24]], raw + 8, NAME_BYTES);
            }
        }
        good = found > 0 || is_used(image.bytes);
        page = at = 0;
        while (good && (raw = next_stored(&page, &at)) != NULL) {
            bool is_value = raw[0] > 0 && raw[0] <= MAX_NAMESPACES && raw[1] != TYPE_BLOB &&
                            spaces.names[raw[0]][0] != '\0';
            good = !is_value || load_value(raw);
        }
    }
    if (!good) {
        vb_nvs_forget();
    }
    return good ? ESP_OK : ESP_ERR_NVS_NO_FREE_PAGES;
}

static void begin_page(void) {
    uint8_t *page = image.bytes + image.page * PAGE_BYTES;
    page[0] = PAGE_ACTIVE;
    put_word(page + 4, (uint32_t)image.page);
    page[8] = VERSION_2;
    put_word(page + 28, checksum(0xffffffff, page + 4, 24));
    image.entry = 0;
}

static bool next_page(void) {
    image.bytes[image.page * PAGE_BYTES] = PAGE_FULL;
    // One page stays free: a chip needs it to move entries.
    if (image.page + 2 >= PAGES) {
        return false;
    }
    image.page++;
    begin_page();
    return true;
}

// Makes room for entries that belong together; NULL when the partition is full.
static uint8_t *room(int span) {
    if (image.entry + span > PAGE_ENTRIES && !next_page()) {
        return NULL;
    }
    uint8_t *page = image.bytes + image.page * PAGE_BYTES;
    for (int at = image.entry; at < image.entry + span; at++) {
        page[BITMAP_AT + at / 4] &= (uint8_t)~(1 << 2 * (at % 4));
    }
    uint8_t *raw = page + ENTRIES_AT + image.entry * ENTRY_BYTES;
    image.entry += span;
    return raw;
}

static bool put_item(int space, uint8_t type, uint8_t chunk, const char *key, const uint8_t *value,
                     size_t length, const uint8_t *data, size_t data_length) {
    int span = 1 + (int)((data_length + ENTRY_BYTES - 1) / ENTRY_BYTES);
    uint8_t *raw = room(span);
    if (raw == NULL) {
        return false;
    }
    raw[0] = (uint8_t)space;
    raw[1] = type;
    raw[2] = (uint8_t)span;
    raw[3] = chunk;
    memcpy(raw + 8, key, NAME_BYTES);
    memcpy(raw + 24, value, length);
    put_word(raw + 4, entry_checksum(raw));
    if (data_length > 0) {
        memcpy(raw + ENTRY_BYTES, data, data_length);
    }
    return true;
}

static bool put_data(int space, uint8_t type, uint8_t chunk, const char *key, const uint8_t *data,
                     size_t length) {
    uint8_t about[8] = {(uint8_t)length, (uint8_t)(length >> 8), 0xff, 0xff};
    put_word(about + 4, checksum(0xffffffff, data, length));
    return put_item(space, type, chunk, key, about, sizeof about, data, length);
}

static bool put_blob(int space, const struct entry *entry) {
    uint32_t done = 0;
    int chunk = 0;
    do {
        if (image.entry + 2 > PAGE_ENTRIES && !next_page()) {
            return false;
        }
        uint32_t fits = (uint32_t)(PAGE_ENTRIES - image.entry - 1) * ENTRY_BYTES;
        uint32_t length = entry->length - done < fits ? entry->length - done : fits;
        if (!put_data(space, TYPE_BLOB, (uint8_t)chunk, entry->key, entry->data + done, length)) {
            return false;
        }
        done += length;
        chunk++;
    } while (done < entry->length);
    uint8_t about[8] = {0, 0, 0, 0, (uint8_t)chunk, 0, 0xff, 0xff};
    put_word(about, entry->length);
    return put_item(space, TYPE_BLOB_INDEX, NO_CHUNK, entry->key, about, sizeof about, NULL, 0);
}

// The number of a namespace, which is stored when it is new; 0 when there is no room.
static int space_of(const char *name) {
    for (int at = 1; at <= spaces.count; at++) {
        if (strcmp(spaces.names[at], name) == 0) {
            return at;
        }
    }
    uint8_t number = (uint8_t)(spaces.count + 1);
    if (spaces.count == MAX_NAMESPACES ||
        !put_item(0, 0x01, NO_CHUNK, name, &number, 1, NULL, 0)) {
        return 0;
    }
    spaces.count++;
    memcpy(spaces.names[number], name, NAME_BYTES);
    return number;
}

static bool put_entry(const struct entry *entry) {
    int space = space_of(entry->space);
    if (space == 0) {
        return false;
    }
    switch (entry->type) {
    case TYPE_STRING:
        return put_data(space, TYPE_STRING, NO_CHUNK, entry->key, entry->data, entry->length);
    case TYPE_BLOB:
        return put_blob(space, entry);
    default:
        return put_item(space, (uint8_t)entry->type, NO_CHUNK, entry->key, entry->data,
                        entry->length, NULL, 0);
    }
}

esp_err_t vb_nvs_save(void) {
    memset(image.bytes, 0xff, sizeof image.bytes);
    memset(&spaces, 0, sizeof spaces);
    image.page = 0;
    begin_page();
    for (struct entry *at = entries; at != NULL; at = at->next) {
        if (!put_entry(at)) {
            return ESP_ERR_NVS_NOT_ENOUGH_SPACE;
        }
    }
    FILE *file = fopen(STORE_NEW, "wb");
    bool good = file != NULL && fwrite(image.bytes, 1, PARTITION_BYTES, file) == PARTITION_BYTES;
    if (file != NULL) {
        good = fclose(file) == 0 && good;
    }
    return good && rename(STORE_NEW, STORE) == 0 ? ESP_OK : ESP_FAIL;
}

struct entry *vb_nvs_first(void) {
    return entries;
}

void vb_nvs_put_back(struct entry *entry) {
    entry->next = entries;
    entries = entry;
}

void vb_nvs_remove(void) {
    vb_nvs_forget();
    remove(STORE);
}
