// Virtual board: Arduino's String.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string>

class __FlashStringHelper;

class String {
  public:
    String() {}
    String(const char *text) : text_(text != nullptr ? text : "") {}
    String(const char *text, size_t length) : text_(text, length) {}
    String(const std::string &text) : text_(text) {}
    String(const __FlashStringHelper *text) : String(reinterpret_cast<const char *>(text)) {}
    explicit String(char c) : text_(1, c) {}
    explicit String(unsigned char value, unsigned char base = 10) : String((unsigned long long)value, base) {}
    explicit String(int value, unsigned char base = 10) : String((long long)value, base) {}
    explicit String(unsigned int value, unsigned char base = 10) : String((unsigned long long)value, base) {}
    explicit String(long value, unsigned char base = 10) : String((long long)value, base) {}
    explicit String(unsigned long value, unsigned char base = 10) : String((unsigned long long)value, base) {}
    explicit String(long long value, unsigned char base = 10);
    explicit String(unsigned long long value, unsigned char base = 10);
    explicit String(float value, unsigned int decimals = 2) : String((double)value, decimals) {}
    explicit String(double value, unsigned int decimals = 2);

    bool reserve(unsigned int size) { text_.reserve(size); return true; }
    unsigned int length() const { return (unsigned int)text_.size(); }
    bool isEmpty() const { return text_.empty(); }
    void clear() { text_.clear(); }
    const char *c_str() const { return text_.c_str(); }
    char *begin() { return text_.data(); }
    char *end() { return text_.data() + text_.size(); }
    const char *begin() const { return text_.data(); }
    const char *end() const { return text_.data() + text_.size(); }

    bool concat(const String &other) { text_ += other.text_; return true; }
    bool concat(const char *other) { text_ += other != nullptr ? other : ""; return true; }
    bool concat(const char *other, unsigned int length) { text_.append(other, length); return true; }
    bool concat(char c) { text_ += c; return true; }
    template <typename T> bool concat(T value) { return concat(String(value)); }
    template <typename T> String &operator+=(const T &other) { concat(other); return *this; }

    char charAt(unsigned int at) const { return at < text_.size() ? text_[at] : '\0'; }
    void setCharAt(unsigned int at, char c) { if (at < text_.size()) text_[at] = c; }
    char operator[](unsigned int at) const { return charAt(at); }
    char &operator[](unsigned int at);

    int compareTo(const String &other) const { return text_.compare(other.text_); }
    bool equals(const String &other) const { return text_ == other.text_; }
    bool equalsIgnoreCase(const String &other) const;
    bool startsWith(const String &other) const { return text_.rfind(other.text_, 0) == 0; }
    bool startsWith(const String &other, unsigned int from) const;
    bool endsWith(const String &other) const;
    int indexOf(char c, unsigned int from = 0) const { return place(text_.find(c, from)); }
    int indexOf(const String &other, unsigned int from = 0) const { return place(text_.find(other.text_, from)); }
    int lastIndexOf(char c) const { return place(text_.rfind(c)); }
    int lastIndexOf(const String &other) const { return place(text_.rfind(other.text_)); }
    String substring(unsigned int from) const { return substring(from, length()); }
    String substring(unsigned int from, unsigned int to) const;

    void replace(char find, char by);
    void replace(const String &find, const String &by);
    void remove(unsigned int at) { if (at < text_.size()) text_.erase(at); }
    void remove(unsigned int at, unsigned int count) { if (at < text_.size()) text_.erase(at, count); }
    void toLowerCase();
    void toUpperCase();
    void trim();
    void toCharArray(char *to, unsigned int size, unsigned int from = 0) const { getBytes((unsigned char *)to, size, from); }
    void getBytes(unsigned char *to, unsigned int size, unsigned int from = 0) const;
    long toInt() const;
    float toFloat() const { return (float)toDouble(); }
    double toDouble() const;

    friend bool operator==(const String &a, const String &b) { return a.text_ == b.text_; }
    friend bool operator!=(const String &a, const String &b) { return a.text_ != b.text_; }
    friend bool operator<(const String &a, const String &b) { return a.text_ < b.text_; }
    friend bool operator>(const String &a, const String &b) { return a.text_ > b.text_; }

  private:
    static int place(size_t at) { return at == std::string::npos ? -1 : (int)at; }
    std::string text_;
};

inline bool operator==(const String &a, const char *b) { return a == String(b); }
inline bool operator==(const char *a, const String &b) { return String(a) == b; }
inline bool operator!=(const String &a, const char *b) { return a != String(b); }
inline bool operator!=(const char *a, const String &b) { return String(a) != b; }
inline String operator+(String a, const String &b) { a.concat(b); return a; }
inline String operator+(String a, const char *b) { a.concat(b); return a; }
inline String operator+(const char *a, const String &b) { return String(a) + b; }
template <typename T> String operator+(String a, T b) { a.concat(b); return a; }
