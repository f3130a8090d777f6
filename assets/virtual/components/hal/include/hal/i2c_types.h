// Virtual board: I2C settings.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { I2C_NUM_0 = 0, I2C_NUM_1, I2C_NUM_MAX } i2c_port_t;
typedef int i2c_port_num_t;
typedef enum { I2C_ADDR_BIT_LEN_7 = 0, I2C_ADDR_BIT_LEN_10 = 1 } i2c_addr_bit_len_t;
typedef enum { I2C_MODE_SLAVE = 0, I2C_MODE_MASTER, I2C_MODE_MAX } i2c_mode_t;
typedef enum { I2C_MASTER_WRITE = 0, I2C_MASTER_READ } i2c_rw_t;
typedef enum {
    I2C_MASTER_ACK = 0,
    I2C_MASTER_NACK = 1,
    I2C_MASTER_LAST_NACK = 2,
} i2c_ack_type_t;
typedef enum { I2C_CLK_SRC_DEFAULT = 4, I2C_CLK_SRC_APB = 4 } soc_periph_i2c_clk_src_t;
typedef soc_periph_i2c_clk_src_t i2c_clock_source_t;

#ifdef __cplusplus
}
#endif
