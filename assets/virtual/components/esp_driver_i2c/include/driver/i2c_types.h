// Virtual board: handles of the I2C master.
#pragma once
#include "hal/gpio_types.h"
#include "hal/i2c_types.h"
typedef struct i2c_master_bus_t *i2c_master_bus_handle_t;
typedef struct i2c_master_dev_t *i2c_master_dev_handle_t;
