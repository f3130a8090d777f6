// The temperature of a BME280, by its data sheet.

static uint8_t sensorAddress;
static uint16_t t1;
static int16_t t2;
static int16_t t3;

bool sensorBegin(uint8_t address) {
  sensorAddress = address;
  uint8_t raw[6];
  if (!readRegisters(0x88, raw, sizeof raw)) {
    return false;
  }
  t1 = (uint16_t)(raw[1] << 8 | raw[0]);
  t2 = (int16_t)(raw[3] << 8 | raw[2]);
  t3 = (int16_t)(raw[5] << 8 | raw[4]);
  // Measure temperature and pressure over and over, one sample each.
  Wire.beginTransmission(sensorAddress);
  Wire.write(0xF4);
  Wire.write(0x27);
  return Wire.endTransmission() == 0;
}

float sensorRead() {
  uint8_t raw[3];
  if (!readRegisters(0xFA, raw, sizeof raw)) {
    return NAN;
  }
  const int32_t value = (int32_t)raw[0] << 12 | (int32_t)raw[1] << 4 | raw[2] >> 4;
  const int32_t linear = (((value >> 3) - ((int32_t)t1 << 1)) * t2) >> 11;
  const int32_t offset = (value >> 4) - t1;
  const int32_t square = (((offset * offset) >> 12) * t3) >> 14;
  return ((linear + square) * 5 + 128) / 25600.0f;
}

bool readRegisters(uint8_t first, uint8_t *to, size_t count) {
  Wire.beginTransmission(sensorAddress);
  Wire.write(first);
  if (Wire.endTransmission(false) != 0) {
    return false;
  }
  if (Wire.requestFrom(sensorAddress, count) != count) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    to[i] = Wire.read();
  }
  return true;
}
