// Asks every address of the I2C bus who answers, again and again.
// Set the pins to those of the board's wiring; -1 takes the board's own.
#include <Wire.h>

#define I2C_SDA -1
#define I2C_SCL -1

void setup() {
  Serial.begin(115200);
  Wire.begin(I2C_SDA, I2C_SCL, 100000);
}

void loop() {
  int count = 0;
  Serial.println("scanning the I2C bus");
  for (uint8_t address = 0x08; address <= 0x77; address++) {
    Wire.beginTransmission(address);
    if (Wire.endTransmission() == 0) {
      Serial.printf("found a device at 0x%02X\n", address);
      count++;
    }
  }
  Serial.printf("scan done: %d devices\n", count);
  delay(2000);
}
