// Virtual board: Arduino's Preferences, kept in NVS.
#pragma once
#include "Arduino.h"
#include "nvs.h"

class Preferences {
  public:
    ~Preferences() { end(); }
    bool begin(const char *name, bool read_only = false);
    void end();
    bool clear() { return is_writable() && nvs_erase_all(handle_) == ESP_OK && nvs_commit(handle_) == ESP_OK; }
    bool remove(const char *key) { return is_writable() && nvs_erase_key(handle_, key) == ESP_OK && nvs_commit(handle_) == ESP_OK; }
    bool isKey(const char *key);

    size_t putBool(const char *key, bool value) { return putUChar(key, value ? 1 : 0); }
    size_t putUChar(const char *key, uint8_t value) { return is_writable() ? put(nvs_set_u8(handle_, key, value), key, 1) : 0; }
    size_t putInt(const char *key, int32_t value) { return is_writable() ? put(nvs_set_i32(handle_, key, value), key, 4) : 0; }
    size_t putUInt(const char *key, uint32_t value) { return is_writable() ? put(nvs_set_u32(handle_, key, value), key, 4) : 0; }
    size_t putLong(const char *key, int32_t value) { return putInt(key, value); }
    size_t putULong(const char *key, uint32_t value) { return putUInt(key, value); }
    size_t putFloat(const char *key, float value) { return putBytes(key, &value, sizeof value); }
    size_t putString(const char *key, const String &value) { return is_writable() ? put(nvs_set_str(handle_, key, value.c_str()), key, value.length()) : 0; }
    size_t putBytes(const char *key, const void *value, size_t length) { return is_writable() ? put(nvs_set_blob(handle_, key, value, length), key, length) : 0; }

    bool getBool(const char *key, bool otherwise = false) { return getUChar(key, otherwise ? 1 : 0) != 0; }
    uint8_t getUChar(const char *key, uint8_t otherwise = 0);
    int32_t getInt(const char *key, int32_t otherwise = 0);
    uint32_t getUInt(const char *key, uint32_t otherwise = 0);
    int32_t getLong(const char *key, int32_t otherwise = 0) { return getInt(key, otherwise); }
    uint32_t getULong(const char *key, uint32_t otherwise = 0) { return getUInt(key, otherwise); }
    float getFloat(const char *key, float otherwise = NAN);
    String getString(const char *key, const String &otherwise = String());
    size_t getBytes(const char *key, void *to, size_t length);

  private:
    bool is_writable() const;
    size_t put(esp_err_t done, const char *key, size_t length);
    nvs_handle_t handle_ = 0;
    bool open_ = false;
    bool read_only_ = false;
};
