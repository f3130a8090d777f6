// Virtual board: the Arduino core for the ESP32, as far as this board has it.
#pragma once
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <cmath>
#include "sdkconfig.h"
#include "esp_attr.h"
#include "sdkconfig.h"
#include "esp_err.h"
#include "esp_log.h"
#include "esp_system.h"
#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/queue.h"
#include "freertos/semphr.h"
#include "freertos/task.h"

#define ARDUINO 10819
#define ARDUINO_ARCH_ESP32 1
#if CONFIG_IDF_TARGET_ESP32S2
#define ARDUINO_ESP32S2_DEV 1
#elif CONFIG_IDF_TARGET_ESP32S3
#define ARDUINO_ESP32S3_DEV 1
#elif CONFIG_IDF_TARGET_ESP32C2
#define ARDUINO_ESP32C2_DEV 1
#elif CONFIG_IDF_TARGET_ESP32C3
#define ARDUINO_ESP32C3_DEV 1
#elif CONFIG_IDF_TARGET_ESP32C5
#define ARDUINO_ESP32C5_DEV 1
#elif CONFIG_IDF_TARGET_ESP32C6
#define ARDUINO_ESP32C6_DEV 1
#elif CONFIG_IDF_TARGET_ESP32C61
#define ARDUINO_ESP32C61_DEV 1
#elif CONFIG_IDF_TARGET_ESP32H2
#define ARDUINO_ESP32H2_DEV 1
#elif CONFIG_IDF_TARGET_ESP32P4
#define ARDUINO_ESP32P4_DEV 1
#else
#define ARDUINO_ESP32_DEV 1
#endif
#define ARDUINO_VARIANT CONFIG_IDF_TARGET
#define ARDUINO_BOARD "virtual board"
#define ESP32 1
#define ESP_ARDUINO_VERSION_MAJOR 3
#define ESP_ARDUINO_VERSION_MINOR 0
#define ESP_ARDUINO_VERSION_PATCH 0
#define ESP_ARDUINO_VERSION_VAL(major, minor, patch) ((major << 16) | (minor << 8) | (patch))
#define ESP_ARDUINO_VERSION ESP_ARDUINO_VERSION_VAL(3, 0, 0)

typedef uint8_t byte;
typedef bool boolean;
typedef unsigned int word;

#define LOW 0x0
#define HIGH 0x1
#define INPUT 0x01
#define OUTPUT 0x03
#define PULLUP 0x04
#define INPUT_PULLUP 0x05
#define PULLDOWN 0x08
#define INPUT_PULLDOWN 0x09
#define RISING 0x01
#define FALLING 0x02
#define CHANGE 0x03
#define ONLOW 0x04
#define ONHIGH 0x05
#define LSBFIRST 0
#define MSBFIRST 1
#define DEC 10
#define HEX 16
#define OCT 8
#define BIN 2
#define PI 3.1415926535897932384626433832795
#define HALF_PI 1.5707963267948966192313216916398
#define TWO_PI 6.283185307179586476925286766559
#define DEG_TO_RAD 0.017453292519943295769236907684886
#define RAD_TO_DEG 57.295779513082320876798154814105

#define LED_BUILTIN 2
#define NUM_DIGITAL_PINS 40
#define digitalPinToInterrupt(pin) (pin)

static const uint8_t TX = 1;
static const uint8_t RX = 3;
static const uint8_t SDA = 21;
static const uint8_t SCL = 22;

#define PROGMEM
#define PSTR(text) (text)
#define pgm_read_byte(address) (*(const uint8_t *)(address))
#define pgm_read_word(address) (*(const uint16_t *)(address))
#define pgm_read_dword(address) (*(const uint32_t *)(address))
class __FlashStringHelper;
#define F(text) (reinterpret_cast<const __FlashStringHelper *>(text))

#define bit(b) (1UL << (b))
#define bitRead(value, bit) (((value) >> (bit)) & 0x01)
#define bitSet(value, bit) ((value) |= (1UL << (bit)))
#define bitClear(value, bit) ((value) &= ~(1UL << (bit)))
#define bitWrite(value, bit, to) ((to) ? bitSet(value, bit) : bitClear(value, bit))
#define lowByte(w) ((uint8_t)((w) & 0xff))
#define highByte(w) ((uint8_t)((w) >> 8))
#define constrain(value, low, high) \
    ((value) < (low) ? (low) : ((value) > (high) ? (high) : (value)))
#define radians(degrees) ((degrees) * DEG_TO_RAD)
#define degrees(radians) ((radians) * RAD_TO_DEG)
#define sq(x) ((x) * (x))
#define interrupts()
#define noInterrupts()
using std::abs;
using std::isinf;
using std::isnan;
using std::max;
using std::min;
using std::round;

// What this board cannot do ends the build and says so, rather than making readings up.
#define VIRTUAL_BOARD_LACKS(what) __attribute__((error("the virtual board does not have " what)))

extern "C" {
void setup(void);
void loop(void);

void pinMode(uint8_t pin, uint8_t mode);
void digitalWrite(uint8_t pin, uint8_t level);
int digitalRead(uint8_t pin);
uint16_t analogRead(uint8_t pin) VIRTUAL_BOARD_LACKS("analog inputs");
uint32_t analogReadMilliVolts(uint8_t pin) VIRTUAL_BOARD_LACKS("analog inputs");
void analogReadResolution(uint8_t bits) VIRTUAL_BOARD_LACKS("analog inputs");
uint16_t touchRead(uint8_t pin) VIRTUAL_BOARD_LACKS("touch inputs");
void analogWrite(uint8_t pin, int value) VIRTUAL_BOARD_LACKS("PWM");
bool ledcAttach(uint8_t pin, uint32_t frequency, uint8_t bits) VIRTUAL_BOARD_LACKS("PWM");
bool ledcWrite(uint8_t pin, uint32_t duty) VIRTUAL_BOARD_LACKS("PWM");
void attachInterrupt(uint8_t pin, void (*handler)(void), int mode);
void attachInterruptArg(uint8_t pin, void (*handler)(void *), void *arg, int mode);
void detachInterrupt(uint8_t pin);

unsigned long millis(void);
unsigned long micros(void);
void delay(uint32_t milliseconds);
void delayMicroseconds(uint32_t microseconds);
void yield(void);
}

long random(long high);
long random(long low, long high);
void randomSeed(unsigned long seed);
long map(long value, long from_low, long from_high, long to_low, long to_high);

#include "esp32-hal-log.h"
#include "WString.h"
#include "Print.h"
#include "Stream.h"
#include "HardwareSerial.h"
#include "Esp.h"
