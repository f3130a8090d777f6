// Virtual board: capabilities of the simulated ESP32 that the subset covers.
#pragma once
#define SOC_GPIO_PIN_COUNT 40
#define SOC_I2C_NUM 2
#define SOC_CPU_CORES_NUM 2
