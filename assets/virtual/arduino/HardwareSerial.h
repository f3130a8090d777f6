// Virtual board: the console's UART. Other UARTs have nothing connected.
#pragma once
#include "Stream.h"

#define SERIAL_8N1 0x800001c

class HardwareSerial : public Stream {
  public:
    explicit HardwareSerial(uint8_t number) : number_(number) {}
    void begin(unsigned long baud, uint32_t config = SERIAL_8N1, int8_t rx = -1, int8_t tx = -1);
    void end() { open_ = false; }
    int available() override;
    int read() override;
    int peek() override;
    void flush() override {}
    size_t write(uint8_t c) override { return write(&c, 1); }
    size_t write(const uint8_t *bytes, size_t length) override;
    using Print::write;
    int availableForWrite() override { return 128; }
    uint32_t baudRate() const { return open_ ? (uint32_t)baud_ : 0; }
    void setDebugOutput(bool) {}
    operator bool() const { return open_; }

  private:
    uint8_t number_;
    unsigned long baud_ = 0;
    bool open_ = false;
    int next_ = -1;
};

extern HardwareSerial Serial;
extern HardwareSerial Serial1;
extern HardwareSerial Serial2;
