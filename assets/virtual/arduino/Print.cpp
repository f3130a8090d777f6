// Virtual board: Arduino's Print.
#include "Print.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

size_t Print::write(const uint8_t *bytes, size_t length) {
    size_t written = 0;
    while (written < length && write(bytes[written]) == 1) {
        written++;
    }
    return written;
}

size_t Print::printf(const char *format, ...) {
    char small[256];
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    size_t written = 0;
    if (length >= (int)sizeof small) {
        char *large = (char *)malloc((size_t)length + 1);
        if (large != nullptr) {
            vsnprintf(large, (size_t)length + 1, format, again);
            written = write((const uint8_t *)large, (size_t)length);
            free(large);
        }
    } else if (length > 0) {
        written = write((const uint8_t *)small, (size_t)length);
    }
    va_end(again);
    return written;
}

size_t Print::print(unsigned long long value, int base) {
    if (base == 0) {
        return write((uint8_t)value);
    }
    String text(value, (unsigned char)base);
    text.toUpperCase();
    return print(text);
}

size_t Print::print(long long value, int base) {
    if (base == 0) {
        return write((uint8_t)value);
    }
    if (base != 10) {
        return print((unsigned long long)(unsigned int)value, base);
    }
    return print(String(value));
}

size_t Print::print(double value, int decimals) {
    return print(String(value, (unsigned int)(decimals < 0 ? 2 : decimals)));
}
