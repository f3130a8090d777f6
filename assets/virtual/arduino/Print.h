// Virtual board: Arduino's Print.
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "WString.h"

class Print;

class Printable {
  public:
    virtual ~Printable() {}
    virtual size_t printTo(Print &to) const = 0;
};

class Print {
  public:
    virtual ~Print() {}
    virtual size_t write(uint8_t c) = 0;
    virtual size_t write(const uint8_t *bytes, size_t length);
    virtual void flush() {}
    virtual int availableForWrite() { return 0; }
    size_t write(const char *text) { return text == nullptr ? 0 : write((const uint8_t *)text, strlen(text)); }
    size_t write(const char *bytes, size_t length) { return write((const uint8_t *)bytes, length); }

    size_t printf(const char *format, ...) __attribute__((format(printf, 2, 3)));
    size_t print(const __FlashStringHelper *text) { return print((const char *)text); }
    size_t print(const String &text) { return write(text.c_str(), text.length()); }
    size_t print(const char *text) { return write(text); }
    size_t print(char c) { return write((uint8_t)c); }
    size_t print(unsigned char value, int base = 10) { return print((unsigned long long)value, base); }
    size_t print(int value, int base = 10) { return print((long long)value, base); }
    size_t print(unsigned int value, int base = 10) { return print((unsigned long long)value, base); }
    size_t print(long value, int base = 10) { return print((long long)value, base); }
    size_t print(unsigned long value, int base = 10) { return print((unsigned long long)value, base); }
    size_t print(long long value, int base = 10);
    size_t print(unsigned long long value, int base = 10);
    size_t print(double value, int decimals = 2);
    size_t print(bool value) { return print((int)value); }
    size_t print(const Printable &value) { return value.printTo(*this); }

    size_t println() { return write("\r\n"); }
    template <typename T> size_t println(const T &value) { size_t n = print(value); return n + println(); }
    template <typename T> size_t println(const T &value, int format) { size_t n = print(value, format); return n + println(); }
};
