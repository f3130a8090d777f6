// Virtual board: Arduino's String.
#include "WString.h"
#include <algorithm>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static std::string digits(unsigned long long value, unsigned char base) {
    if (base < 2 || base > 36) {
        base = 10;
    }
    std::string text;
    do {
        text += "0123456789abcdefghijklmnopqrstuvwxyz"[value % base];
        value /= base;
    } while (value > 0);
    return std::string(text.rbegin(), text.rend());
}

String::String(unsigned long long value, unsigned char base) : text_(digits(value, base)) {}

String::String(long long value, unsigned char base) {
    const bool negative = value < 0 && base == 10;
    text_ = digits(negative ? 0ull - (unsigned long long)value : (unsigned long long)value, base);
    if (negative) {
        text_.insert(text_.begin(), '-');
    }
}

String::String(double value, unsigned int decimals) {
    char text[400];
    snprintf(text, sizeof text, "%.*f", (int)std::min(decimals, 64u), value);
    text_ = text;
}

char &String::operator[](unsigned int at) {
    static char nowhere;
    if (at >= text_.size()) {
        nowhere = '\0';
        return nowhere;
    }
    return text_[at];
}

bool String::equalsIgnoreCase(const String &other) const {
    return strcasecmp(c_str(), other.c_str()) == 0;
}

bool String::startsWith(const String &other, unsigned int from) const {
    return from <= text_.size() && text_.compare(from, other.text_.size(), other.text_) == 0;
}

bool String::endsWith(const String &other) const {
    return other.text_.size() <= text_.size() &&
           text_.compare(text_.size() - other.text_.size(), std::string::npos, other.text_) == 0;
}

String String::substring(unsigned int from, unsigned int to) const {
    if (from > to) {
        std::swap(from, to);
    }
    if (from >= text_.size()) {
        return String();
    }
    return String(text_.substr(from, to - from));
}

void String::replace(char find, char by) { std::replace(text_.begin(), text_.end(), find, by); }

void String::replace(const String &find, const String &by) {
    if (find.isEmpty()) {
        return;
    }
    for (size_t at = 0; (at = text_.find(find.text_, at)) != std::string::npos;) {
        text_.replace(at, find.text_.size(), by.text_);
        at += by.text_.size();
    }
}

void String::toLowerCase() {
    for (char &c : text_) {
        c = (char)tolower((unsigned char)c);
    }
}

void String::toUpperCase() {
    for (char &c : text_) {
        c = (char)toupper((unsigned char)c);
    }
}

void String::trim() {
    const char *blank = " \t\r\n\v\f";
    const size_t first = text_.find_first_not_of(blank);
    if (first == std::string::npos) {
        text_.clear();
        return;
    }
    text_ = text_.substr(first, text_.find_last_not_of(blank) - first + 1);
}

void String::getBytes(unsigned char *to, unsigned int size, unsigned int from) const {
    if (to == nullptr || size == 0) {
        return;
    }
    const size_t count = from < text_.size() ? std::min<size_t>(size - 1, text_.size() - from) : 0;
    memcpy(to, text_.data() + (count > 0 ? from : 0), count);
    to[count] = '\0';
}

long String::toInt() const { return atol(c_str()); }
double String::toDouble() const { return atof(c_str()); }
