// Virtual board: the console's UART.
#include "Arduino.h"
#include <errno.h>
#include <poll.h>
#include <unistd.h>

HardwareSerial Serial(0);
HardwareSerial Serial1(1);
HardwareSerial Serial2(2);

void HardwareSerial::begin(unsigned long baud, uint32_t config, int8_t rx, int8_t tx) {
    (void)config;
    (void)rx;
    (void)tx;
    if (number_ != 0) {
        log_e("the virtual board has nothing connected to UART %u", (unsigned)number_);
    }
    baud_ = baud;
    open_ = true;
}

// As on the chip, what is written before `begin` goes nowhere.
size_t HardwareSerial::write(const uint8_t *bytes, size_t length) {
    if (!open_ || number_ != 0) {
        return open_ ? length : 0;
    }
    size_t done = 0;
    while (done < length) {
        const ssize_t n = ::write(STDOUT_FILENO, bytes + done, length - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        done += (size_t)n;
    }
    return done;
}

int HardwareSerial::peek() {
    if (next_ < 0 && open_ && number_ == 0) {
        struct pollfd ready = {STDIN_FILENO, POLLIN, 0};
        unsigned char c;
        if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0 &&
            ::read(STDIN_FILENO, &c, 1) == 1) {
            next_ = c;
        }
    }
    return next_;
}

int HardwareSerial::available() { return peek() < 0 ? 0 : 1; }

int HardwareSerial::read() {
    const int c = peek();
    next_ = -1;
    return c;
}
