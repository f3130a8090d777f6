// Virtual board: the I2C master as Arduino has it, on the one bus of this board.
#pragma once
#include "Arduino.h"

#define I2C_BUFFER_LENGTH 128

class TwoWire : public Stream {
  public:
    explicit TwoWire(uint8_t port) : port_(port) {}
    bool begin(int sda = -1, int scl = -1, uint32_t frequency = 0);
    bool setPins(int sda, int scl);
    bool setClock(uint32_t frequency);
    uint32_t getClock() const { return frequency_; }
    void setTimeOut(uint16_t milliseconds) { (void)milliseconds; }
    bool end();

    void beginTransmission(uint16_t address);
    uint8_t endTransmission(bool stop = true);
    size_t requestFrom(uint16_t address, size_t count, bool stop = true);

    size_t write(uint8_t byte) override;
    size_t write(const uint8_t *bytes, size_t length) override;
    using Print::write;
    int available() override { return (int)(received_ - taken_); }
    int read() override { return taken_ < received_ ? incoming_[taken_++] : -1; }
    int peek() override { return taken_ < received_ ? incoming_[taken_] : -1; }

  private:
    bool is_begun(const char *function) const;

    uint8_t port_;
    int sda_ = SDA;
    int scl_ = SCL;
    uint32_t frequency_ = 100000;
    bool begun_ = false;
    bool writing_ = false;
    bool waiting_ = false;
    uint16_t address_ = 0;
    uint8_t outgoing_[I2C_BUFFER_LENGTH];
    size_t queued_ = 0;
    uint8_t incoming_[I2C_BUFFER_LENGTH];
    size_t received_ = 0;
    size_t taken_ = 0;
};

extern TwoWire Wire;
extern TwoWire Wire1;
