// Virtual board: ROM helpers.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void esp_rom_delay_us(uint32_t us);
int esp_rom_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void esp_rom_output_tx_one_char(uint8_t c);

#ifdef __cplusplus
}
#endif
