// Reads a BME280 once a second and tells temperature and trend on the serial port.
#include "History.h"

static const uint8_t LED_PIN = 2;
static const uint8_t SDA_PIN = 21;
static const uint8_t SCL_PIN = 22;
static const uint8_t SENSOR = 0x76;

static History *history;

void setup() {
  Serial.begin(115200);
  pinMode(LED_PIN, OUTPUT);
  Wire.begin(SDA_PIN, SCL_PIN);
  Serial.println("room monitor starts");
  if (!sensorBegin(SENSOR)) {
    Serial.println("no sensor answers at 0x76");
  }
}

void loop() {
  digitalWrite(LED_PIN, HIGH);
  const float celsius = sensorRead();
  history->add(celsius);
  Serial.print("temp=");
  Serial.print(celsius, 1);
  Serial.print(" trend=");
  Serial.println(history->trend(), 2);
  digitalWrite(LED_PIN, LOW);
  delay(1000);
}
