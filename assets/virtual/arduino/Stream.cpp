// Virtual board: Arduino's Stream.
#include "Arduino.h"

int Stream::timedPeek() {
    const unsigned long start = millis();
    do {
        const int c = peek();
        if (c >= 0) {
            return c;
        }
        delay(1);
    } while (millis() - start < timeout_);
    return -1;
}

int Stream::timedRead() { return timedPeek() < 0 ? -1 : read(); }

size_t Stream::readBytes(char *to, size_t length) {
    size_t count = 0;
    for (int c; count < length && (c = timedRead()) >= 0; count++) {
        to[count] = (char)c;
    }
    return count;
}

size_t Stream::readBytesUntil(char end, char *to, size_t length) {
    size_t count = 0;
    for (int c; count < length && (c = timedRead()) >= 0 && c != end; count++) {
        to[count] = (char)c;
    }
    return count;
}

String Stream::readString() {
    String text;
    for (int c; (c = timedRead()) >= 0;) {
        text += (char)c;
    }
    return text;
}

String Stream::readStringUntil(char end) {
    String text;
    for (int c; (c = timedRead()) >= 0 && c != end;) {
        text += (char)c;
    }
    return text;
}

static bool in_number(int c, bool fraction) {
    return isdigit(c) || c == '-' || (fraction && c == '.');
}

static String number(Stream &from, int (*peek)(Stream &), bool fraction) {
    String text;
    int c;
    while ((c = peek(from)) >= 0 && !in_number(c, fraction)) {
        from.read();
    }
    while ((c = peek(from)) >= 0 && in_number(c, fraction)) {
        text += (char)from.read();
    }
    return text;
}

static int wait_for(Stream &from) {
    const unsigned long start = millis();
    do {
        if (from.peek() >= 0) {
            return from.peek();
        }
        delay(1);
    } while (millis() - start < from.getTimeout());
    return -1;
}

long Stream::parseInt() { return number(*this, wait_for, false).toInt(); }
float Stream::parseFloat() { return number(*this, wait_for, true).toFloat(); }

bool Stream::find(const char *target) {
    const size_t length = strlen(target);
    size_t matched = 0;
    for (int c; matched < length && (c = timedRead()) >= 0;) {
        matched = c == target[matched] ? matched + 1 : (c == target[0] ? 1 : 0);
    }
    return matched == length;
}
