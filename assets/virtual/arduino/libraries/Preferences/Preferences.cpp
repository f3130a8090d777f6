// Virtual board: Arduino's Preferences, kept in NVS.
#include "Preferences.h"

bool Preferences::begin(const char *name, bool read_only) {
    if (open_) {
        return false;
    }
    read_only_ = read_only;
    const esp_err_t done = nvs_open(name, read_only ? NVS_READONLY : NVS_READWRITE, &handle_);
    if (done != ESP_OK) {
        log_e("nvs_open failed: %s", esp_err_to_name(done));
    }
    open_ = done == ESP_OK;
    return open_;
}

void Preferences::end() {
    if (open_) {
        nvs_close(handle_);
        open_ = false;
    }
}

bool Preferences::is_writable() const { return open_ && !read_only_; }

size_t Preferences::put(esp_err_t done, const char *key, size_t length) {
    if (done == ESP_OK) {
        done = nvs_commit(handle_);
    }
    if (done != ESP_OK) {
        log_e("cannot store %s: %s", key, esp_err_to_name(done));
    }
    return done == ESP_OK ? length : 0;
}

bool Preferences::isKey(const char *key) {
    uint8_t byte;
    uint32_t number;
    int32_t value;
    size_t length = 0;
    return open_ && (nvs_get_u8(handle_, key, &byte) == ESP_OK ||
                     nvs_get_i32(handle_, key, &value) == ESP_OK ||
                     nvs_get_u32(handle_, key, &number) == ESP_OK ||
                     nvs_get_str(handle_, key, nullptr, &length) == ESP_OK ||
                     nvs_get_blob(handle_, key, nullptr, &length) == ESP_OK);
}

uint8_t Preferences::getUChar(const char *key, uint8_t otherwise) {
    uint8_t value;
    return open_ && nvs_get_u8(handle_, key, &value) == ESP_OK ? value : otherwise;
}

int32_t Preferences::getInt(const char *key, int32_t otherwise) {
    int32_t value;
    return open_ && nvs_get_i32(handle_, key, &value) == ESP_OK ? value : otherwise;
}

uint32_t Preferences::getUInt(const char *key, uint32_t otherwise) {
    uint32_t value;
    return open_ && nvs_get_u32(handle_, key, &value) == ESP_OK ? value : otherwise;
}

float Preferences::getFloat(const char *key, float otherwise) {
    float value;
    return getBytes(key, &value, sizeof value) == sizeof value ? value : otherwise;
}

String Preferences::getString(const char *key, const String &otherwise) {
    size_t length = 0;
    if (!open_ || nvs_get_str(handle_, key, nullptr, &length) != ESP_OK) {
        return otherwise;
    }
    std::string text(length, '\0');
    if (nvs_get_str(handle_, key, text.data(), &length) != ESP_OK) {
        return otherwise;
    }
    return String(text.c_str());
}

size_t Preferences::getBytes(const char *key, void *to, size_t length) {
    size_t there = 0;
    if (!open_ || nvs_get_blob(handle_, key, nullptr, &there) != ESP_OK || there > length) {
        return 0;
    }
    return nvs_get_blob(handle_, key, to, &there) == ESP_OK ? there : 0;
}
