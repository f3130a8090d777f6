// Virtual board: Arduino's view of the chip.
#pragma once
#include <stdint.h>

class EspClass {
  public:
    void restart();
    uint32_t getFreeHeap();
    uint32_t getMinFreeHeap();
    uint32_t getHeapSize();
    uint64_t getEfuseMac();
    uint8_t getChipRevision();
    uint8_t getChipCores();
    uint32_t getCpuFreqMHz() { return 240; }
    const char *getChipModel() { return "ESP32 (virtual board)"; }
    const char *getSdkVersion() { return "virtual board"; }
};

extern EspClass ESP;
