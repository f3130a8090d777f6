// Virtual board: what is on the I2C bus. 0x3C: an SSD1306-like display. 0x76: a BME280-like sensor.
#include <math.h>
#include <string.h>
#include "vb.h"

#define DISPLAY 0x3C
#define SENSOR 0x76

bool vb_i2c_present(uint16_t address) { return address == DISPLAY || address == SENSOR; }

// The display: control bytes choose between commands and pixels of 8 pages of 128 columns.
static struct {
    bool on;
    uint8_t page;
    uint8_t column;
    uint8_t pending;
    uint8_t pixels[8][128];
} display;

// How many bytes follow a command.
static uint8_t operands(uint8_t command) {
    switch (command) {
    case 0x20: case 0x81: case 0x8D: case 0xA8: case 0xD3: case 0xD5: case 0xD9: case 0xDA: case 0xDB:
        return 1;
    case 0x21: case 0x22: case 0xA3:
        return 2;
    case 0x26: case 0x27:
        return 6;
    case 0x29: case 0x2A:
        return 5;
    default:
        return 0;
    }
}

static void display_command(uint8_t command) {
    if (display.pending > 0) {
        display.pending--;
        return;
    }
    display.pending = operands(command);
    if (command == 0xAE || command == 0xAF) {
        display.on = command == 0xAF;
    } else if (command >= 0xB0 && command <= 0xB7) {
        display.page = command & 7;
    } else if (command <= 0x0F) {
        display.column = (uint8_t)((display.column & 0xF0) | command);
    } else if (command <= 0x1F) {
        display.column = (uint8_t)((display.column & 0x0F) | (command & 0x0F) << 4);
    }
}

static void display_data(uint8_t pixels) {
    display.pixels[display.page & 7][display.column & 127] = pixels;
    display.column = (display.column + 1) & 127;
    if (display.column == 0) {
        display.page = (display.page + 1) & 7;
    }
}

static void display_write(const uint8_t *data, size_t length) {
    size_t at = 0;
    while (at < length) {
        const uint8_t control = data[at++];
        const bool single = (control & 0x80) != 0;
        for (; at < length; at++) {
            if ((control & 0x40) != 0) {
                display_data(data[at]);
            } else {
                display_command(data[at]);
            }
            if (single) {
                at++;
                break;
            }
        }
    }
}

// The sensor: registers as in the BME280's data sheet.
static struct {
    uint8_t selected;
    bool calibrated;
    uint8_t registers[256];
} sensor;

static void put16(uint8_t at, int value) {
    sensor.registers[at] = (uint8_t)(value & 0xFF);
    sensor.registers[at + 1] = (uint8_t)((value >> 8) & 0xFF);
}

static void put20(uint8_t at, uint32_t value) {
    sensor.registers[at] = (uint8_t)(value >> 12);
    sensor.registers[at + 1] = (uint8_t)(value >> 4);
    sensor.registers[at + 2] = (uint8_t)(value << 4);
}

static void sensor_reset(void) {
    static const int temperature_and_pressure[12] = {27504,  26435, -1000, 36477, -10685, 3024,
                                                     2855,   140,   -7,    15500, -14600, 6000};
    const int h4 = 313;
    const int h5 = 50;
    memset(sensor.registers, 0, sizeof sensor.registers);
    for (int i = 0; i < 12; i++) {
        put16((uint8_t)(0x88 + 2 * i), temperature_and_pressure[i]);
    }
    sensor.registers[0xA1] = 75;
    put16(0xE1, 370);
    sensor.registers[0xE3] = 0;
    sensor.registers[0xE4] = h4 >> 4;
    sensor.registers[0xE5] = (uint8_t)((h4 & 0x0F) | (h5 & 0x0F) << 4);
    sensor.registers[0xE6] = h5 >> 4;
    sensor.registers[0xE7] = 30;
    sensor.registers[0xD0] = 0x60;
    put20(0xF7, 0x80000);
    put20(0xFA, 0x80000);
    sensor.registers[0xFD] = 0x80;
    sensor.registers[0xFE] = 0x00;
    sensor.calibrated = true;
}

// About 23 degrees, 1006 hPa and 45 %, slowly wandering.
static void sensor_measure(void) {
    const uint8_t control = sensor.registers[0xF4];
    const double phase = (double)vb_micros() / 1e6 / 20.0;
    if ((control >> 5) != 0) {
        put20(0xFA, (uint32_t)(513350 + 400.0 * sin(phase)));
    }
    if ((control >> 2 & 7) != 0) {
        put20(0xF7, (uint32_t)(415700 + 60.0 * sin(phase * 1.7)));
    }
    if ((sensor.registers[0xF2] & 7) != 0) {
        const uint32_t humidity = (uint32_t)(29500 + 150.0 * sin(phase * 0.6));
        sensor.registers[0xFD] = (uint8_t)(humidity >> 8);
        sensor.registers[0xFE] = (uint8_t)humidity;
    }
    if ((control & 3) != 3) {
        // A forced measurement ends in sleep.
        sensor.registers[0xF4] &= (uint8_t)~3u;
    }
}

static void sensor_write(const uint8_t *data, size_t length) {
    sensor.selected = data[0];
    // What follows comes in pairs of register and value, the first register already taken.
    for (size_t at = 0; at + 1 < length; at += 2) {
        const uint8_t target = data[at];
        if (target == 0xE0 && data[at + 1] == 0xB6) {
            sensor_reset();
        } else if (target == 0xF2 || target == 0xF4 || target == 0xF5) {
            sensor.registers[target] = data[at + 1];
            if (target == 0xF4 && (data[at + 1] & 3) != 0) {
                sensor_measure();
            }
        }
    }
}

bool vb_i2c_write(uint16_t address, const uint8_t *data, size_t length) {
    if (!sensor.calibrated) {
        sensor_reset();
    }
    if (address == DISPLAY) {
        display_write(data, length);
    } else if (address == SENSOR) {
        sensor_write(data, length);
    } else {
        return false;
    }
    return true;
}

bool vb_i2c_read(uint16_t address, uint8_t *data, size_t length) {
    if (!sensor.calibrated) {
        sensor_reset();
    }
    if (address == DISPLAY) {
        // Status: bit 6 is set while the display is off.
        memset(data, display.on ? 0x00 : 0x40, length);
        return true;
    }
    if (address != SENSOR) {
        return false;
    }
    if ((sensor.registers[0xF4] & 3) == 3) {
        sensor_measure();
    }
    for (size_t i = 0; i < length; i++) {
        data[i] = sensor.registers[sensor.selected++];
    }
    return true;
}
