// Virtual board: Arduino's Stream.
#pragma once
#include "Print.h"

class Stream : public Print {
  public:
    virtual int available() = 0;
    virtual int read() = 0;
    virtual int peek() = 0;
    void setTimeout(unsigned long milliseconds) { timeout_ = milliseconds; }
    unsigned long getTimeout() const { return timeout_; }
    size_t readBytes(char *to, size_t length);
    size_t readBytes(uint8_t *to, size_t length) { return readBytes((char *)to, length); }
    size_t readBytesUntil(char end, char *to, size_t length);
    String readString();
    String readStringUntil(char end);
    long parseInt();
    float parseFloat();
    bool find(const char *target);

  protected:
    int timedRead();
    int timedPeek();
    unsigned long timeout_ = 1000;
};
