// Virtual board: the I2C master as Arduino has it.
#include "Wire.h"
#include "driver/i2c.h"

extern "C" bool vb_i2c_present(uint16_t address);

// What Arduino's endTransmission answers.
enum { SENT = 0, TOO_LONG = 1, NO_ANSWER = 2, FAILED = 4 };

TwoWire Wire(0);
TwoWire Wire1(1);

bool TwoWire::setPins(int sda, int scl) {
    if (begun_) {
        log_e("bus already initialized. change pins only when not.");
        return false;
    }
    sda_ = sda;
    scl_ = scl;
    return true;
}

bool TwoWire::begin(int sda, int scl, uint32_t frequency) {
    if (begun_) {
        return true;
    }
    sda_ = sda >= 0 ? sda : sda_;
    scl_ = scl >= 0 ? scl : scl_;
    frequency_ = frequency > 0 ? frequency : frequency_;
    i2c_config_t config = {};
    config.mode = I2C_MODE_MASTER;
    config.sda_io_num = sda_;
    config.scl_io_num = scl_;
    config.sda_pullup_en = true;
    config.scl_pullup_en = true;
    config.master.clk_speed = frequency_;
    const i2c_port_t port = (i2c_port_t)port_;
    if (i2c_param_config(port, &config) != ESP_OK ||
        i2c_driver_install(port, I2C_MODE_MASTER, 0, 0, 0) != ESP_OK) {
        log_e("cannot use SDA %d and SCL %d for I2C %u", sda_, scl_, (unsigned)port_);
        return false;
    }
    begun_ = true;
    return true;
}

bool TwoWire::setClock(uint32_t frequency) {
    frequency_ = frequency;
    return begun_;
}

bool TwoWire::end() {
    begun_ = false;
    return i2c_driver_delete((i2c_port_t)port_) == ESP_OK;
}

bool TwoWire::is_begun(const char *function) const {
    if (!begun_) {
        log_e("%s: Bus is not initialized. Call begin() first", function);
    }
    return begun_;
}

void TwoWire::beginTransmission(uint16_t address) {
    address_ = address;
    queued_ = 0;
    writing_ = true;
}

size_t TwoWire::write(uint8_t byte) {
    if (!writing_ || queued_ >= sizeof outgoing_) {
        return 0;
    }
    outgoing_[queued_++] = byte;
    return 1;
}

size_t TwoWire::write(const uint8_t *bytes, size_t length) {
    size_t written = 0;
    while (written < length && write(bytes[written]) == 1) {
        written++;
    }
    return written;
}

uint8_t TwoWire::endTransmission(bool stop) {
    writing_ = false;
    if (!is_begun("endTransmission")) {
        return FAILED;
    }
    if (!stop) {
        // The bytes go out together with the reading that follows.
        waiting_ = true;
        return vb_i2c_present(address_) ? SENT : NO_ANSWER;
    }
    if (queued_ == 0) {
        return vb_i2c_present(address_) ? SENT : NO_ANSWER;
    }
    const esp_err_t sent =
        i2c_master_write_to_device((i2c_port_t)port_, (uint8_t)address_, outgoing_, queued_, 100);
    return sent == ESP_OK ? SENT : NO_ANSWER;
}

size_t TwoWire::requestFrom(uint16_t address, size_t count, bool stop) {
    (void)stop;
    received_ = taken_ = 0;
    if (!is_begun("requestFrom")) {
        return 0;
    }
    if (count > sizeof incoming_) {
        count = sizeof incoming_;
    }
    const i2c_port_t port = (i2c_port_t)port_;
    const bool together = waiting_ && address == address_ && queued_ > 0;
    waiting_ = false;
    const esp_err_t got =
        together ? i2c_master_write_read_device(port, (uint8_t)address, outgoing_, queued_,
                                                incoming_, count, 100)
                 : i2c_master_read_from_device(port, (uint8_t)address, incoming_, count, 100);
    if (got != ESP_OK) {
        log_e("i2cRead returned Error %d", (int)got);
        return 0;
    }
    received_ = count;
    return count;
}
