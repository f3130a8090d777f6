// Virtual board: the I2C master, on one bus with simulated devices.
#include <stdlib.h>
#include <string.h>
#include "driver/i2c.h"
#include "driver/i2c_master.h"
#include "esp_log.h"
#include "vb.h"

struct i2c_master_bus_t {
    i2c_port_num_t port;
    unsigned devices;
};
struct i2c_master_dev_t {
    i2c_master_bus_handle_t bus;
    uint16_t address;
    uint32_t speed;
};

static const char *TAG = "i2c.master";
static i2c_master_bus_handle_t buses[I2C_NUM_MAX];
static bool legacy[I2C_NUM_MAX];
static pthread_mutex_t wire = PTHREAD_MUTEX_INITIALIZER;

// What the transfer would take on a real wire: nine clocks for each byte, the address included.
static void take_time(uint32_t speed, size_t bytes) {
    uint64_t nanos = (uint64_t)(bytes + 1) * 9 * 1000000000ull / (speed != 0 ? speed : 100000);
    struct timespec time = {.tv_sec = (time_t)(nanos / 1000000000ull),
                            .tv_nsec = (long)(nanos % 1000000000ull)};
    nanosleep(&time, NULL);
}

esp_err_t i2c_new_master_bus(const i2c_master_bus_config_t *config, i2c_master_bus_handle_t *bus) {
    if (config == NULL || bus == NULL) {
        ESP_LOGE(TAG, "i2c_new_master_bus(1): invalid argument");
        return ESP_ERR_INVALID_ARG;
    }
    if (config->i2c_port < -1 || config->i2c_port >= I2C_NUM_MAX) {
        ESP_LOGE(TAG, "invalid i2c port number");
        return ESP_ERR_INVALID_ARG;
    }
    if (!GPIO_IS_VALID_OUTPUT_GPIO(config->sda_io_num) ||
        !GPIO_IS_VALID_OUTPUT_GPIO(config->scl_io_num) || config->sda_io_num == config->scl_io_num) {
        ESP_LOGE(TAG, "invalid SDA/SCL pin number");
        return ESP_ERR_INVALID_ARG;
    }
    int port = config->i2c_port;
    if (port == -1) {
        port = buses[0] == NULL ? 0 : 1;
    }
    if (buses[port] != NULL || legacy[port]) {
        ESP_LOGE(TAG, "I2C bus id(%d) has already been acquired", port);
        return ESP_ERR_INVALID_STATE;
    }
    i2c_master_bus_handle_t made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ESP_ERR_NO_MEM;
    }
    made->port = port;
    buses[port] = made;
    *bus = made;
    return ESP_OK;
}

esp_err_t i2c_del_master_bus(i2c_master_bus_handle_t bus) {
    if (bus == NULL) {
        return ESP_ERR_INVALID_ARG;
    }
    if (bus->devices > 0) {
        ESP_LOGE(TAG, "i2c_del_master_bus: Cannot delete i2c bus, there are %u devices attached",
                 bus->devices);
        return ESP_ERR_INVALID_STATE;
    }
    buses[bus->port] = NULL;
    free(bus);
    return ESP_OK;
}

esp_err_t i2c_master_get_bus_handle(i2c_port_num_t port, i2c_master_bus_handle_t *bus) {
    if (port < 0 || port >= I2C_NUM_MAX || bus == NULL) {
        return ESP_ERR_INVALID_ARG;
    }
    if (buses[port] == NULL) {
        return ESP_ERR_INVALID_STATE;
    }
    *bus = buses[port];
    return ESP_OK;
}

esp_err_t i2c_master_bus_add_device(i2c_master_bus_handle_t bus, const i2c_device_config_t *config,
                                    i2c_master_dev_handle_t *device) {
    if (bus == NULL || config == NULL || device == NULL) {
        return ESP_ERR_INVALID_ARG;
    }
    if (config->scl_speed_hz == 0) {
        ESP_LOGE(TAG, "i2c_master_bus_add_device: invalid scl frequency");
        return ESP_ERR_INVALID_ARG;
    }
    i2c_master_dev_handle_t made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ESP_ERR_NO_MEM;
    }
    made->bus = bus;
    made->address = config->device_address;
    made->speed = config->scl_speed_hz;
    bus->devices++;
    *device = made;
    return ESP_OK;
}

esp_err_t i2c_master_bus_rm_device(i2c_master_dev_handle_t device) {
    if (device == NULL) {
        return ESP_ERR_INVALID_ARG;
    }
    device->bus->devices--;
    free(device);
    return ESP_OK;
}

esp_err_t i2c_master_probe(i2c_master_bus_handle_t bus, uint16_t address, int timeout_ms) {
    (void)timeout_ms;
    if (bus == NULL) {
        ESP_LOGE(TAG, "i2c_master_probe: i2c handle not initialized");
        return ESP_ERR_INVALID_ARG;
    }
    pthread_mutex_lock(&wire);
    take_time(100000, 0);
    bool there = vb_i2c_present(address);
    pthread_mutex_unlock(&wire);
    return there ? ESP_OK : ESP_ERR_NOT_FOUND;
}

static esp_err_t transfer(uint16_t address, uint32_t speed, const uint8_t *write,
                          size_t write_length, uint8_t *read, size_t read_length) {
    pthread_mutex_lock(&wire);
    take_time(speed, write_length + read_length + (write_length > 0 && read_length > 0 ? 1 : 0));
    bool answered = true;
    if (write_length > 0) {
        answered = vb_i2c_write(address, write, write_length);
    }
    if (answered && read_length > 0) {
        answered = vb_i2c_read(address, read, read_length);
    }
    pthread_mutex_unlock(&wire);
    return answered ? ESP_OK : ESP_FAIL;
}

static esp_err_t master(i2c_master_dev_handle_t device, const uint8_t *write, size_t write_length,
                        uint8_t *read, size_t read_length) {
    if (device == NULL) {
        ESP_LOGE(TAG, "i2c handle not initialized");
        return ESP_ERR_INVALID_ARG;
    }
    if (transfer(device->address, device->speed, write, write_length, read, read_length) != ESP_OK) {
        ESP_LOGE(TAG, "I2C transaction unexpected nack detected");
        ESP_LOGE(TAG, "s_i2c_synchronous_transaction: I2C transaction failed");
        return ESP_ERR_INVALID_STATE;
    }
    return ESP_OK;
}

esp_err_t i2c_master_transmit(i2c_master_dev_handle_t device, const uint8_t *data, size_t length,
                              int timeout_ms) {
    (void)timeout_ms;
    if (data == NULL || length == 0) {
        ESP_LOGE(TAG, "i2c_master_transmit: i2c transmit buffer or size invalid");
        return ESP_ERR_INVALID_ARG;
    }
    return master(device, data, length, NULL, 0);
}

esp_err_t i2c_master_multi_buffer_transmit(i2c_master_dev_handle_t device,
                                           i2c_master_transmit_multi_buffer_info_t *buffers,
                                           size_t count, int timeout_ms) {
    (void)timeout_ms;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += buffers[i].buffer_size;
    }
    uint8_t *joined = malloc(total > 0 ? total : 1);
    if (joined == NULL) {
        return ESP_ERR_NO_MEM;
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(joined + used, buffers[i].write_buffer, buffers[i].buffer_size);
        used += buffers[i].buffer_size;
    }
    esp_err_t done = master(device, joined, total, NULL, 0);
    free(joined);
    return done;
}

esp_err_t i2c_master_receive(i2c_master_dev_handle_t device, uint8_t *data, size_t length,
                             int timeout_ms) {
    (void)timeout_ms;
    if (data == NULL || length == 0) {
        ESP_LOGE(TAG, "i2c_master_receive: i2c receive buffer or size invalid");
        return ESP_ERR_INVALID_ARG;
    }
    return master(device, NULL, 0, data, length);
}

esp_err_t i2c_master_transmit_receive(i2c_master_dev_handle_t device, const uint8_t *write,
                                      size_t write_length, uint8_t *read, size_t read_length,
                                      int timeout_ms) {
    (void)timeout_ms;
    if (write == NULL || write_length == 0 || read == NULL || read_length == 0) {
        ESP_LOGE(TAG, "i2c_master_transmit_receive: i2c buffer or size invalid");
        return ESP_ERR_INVALID_ARG;
    }
    return master(device, write, write_length, read, read_length);
}

esp_err_t i2c_master_bus_reset(i2c_master_bus_handle_t bus) {
    return bus != NULL ? ESP_OK : ESP_ERR_INVALID_ARG;
}
esp_err_t i2c_master_bus_wait_all_done(i2c_master_bus_handle_t bus, int timeout_ms) {
    (void)timeout_ms;
    return bus != NULL ? ESP_OK : ESP_ERR_INVALID_ARG;
}

esp_err_t i2c_param_config(i2c_port_t port, const i2c_config_t *config) {
    bool good = config != NULL && port < I2C_NUM_MAX && config->mode == I2C_MODE_MASTER &&
                GPIO_IS_VALID_OUTPUT_GPIO(config->sda_io_num) &&
                GPIO_IS_VALID_OUTPUT_GPIO(config->scl_io_num);
    return good ? ESP_OK : ESP_ERR_INVALID_ARG;
}
esp_err_t i2c_driver_install(i2c_port_t port, i2c_mode_t mode, size_t rx_buffer, size_t tx_buffer,
                             int flags) {
    (void)rx_buffer;
    (void)tx_buffer;
    (void)flags;
    if (port >= I2C_NUM_MAX || mode != I2C_MODE_MASTER) {
        return ESP_ERR_INVALID_ARG;
    }
    if (legacy[port] || buses[port] != NULL) {
        ESP_LOGE("i2c", "i2c driver install error");
        return ESP_FAIL;
    }
    legacy[port] = true;
    return ESP_OK;
}
esp_err_t i2c_driver_delete(i2c_port_t port) {
    if (port >= I2C_NUM_MAX || !legacy[port]) {
        return ESP_ERR_INVALID_ARG;
    }
    legacy[port] = false;
    return ESP_OK;
}
static esp_err_t old(i2c_port_t port, uint8_t address, const uint8_t *write, size_t write_length,
                     uint8_t *read, size_t read_length) {
    if (port >= I2C_NUM_MAX) {
        return ESP_ERR_INVALID_ARG;
    }
    if (!legacy[port]) {
        ESP_LOGE("i2c", "i2c driver not installed");
        return ESP_ERR_INVALID_STATE;
    }
    return transfer(address, 100000, write, write_length, read, read_length);
}
esp_err_t i2c_master_write_to_device(i2c_port_t port, uint8_t address, const uint8_t *data,
                                     size_t length, TickType_t ticks) {
    (void)ticks;
    return old(port, address, data, length, NULL, 0);
}
esp_err_t i2c_master_read_from_device(i2c_port_t port, uint8_t address, uint8_t *data,
                                      size_t length, TickType_t ticks) {
    (void)ticks;
    return old(port, address, NULL, 0, data, length);
}
esp_err_t i2c_master_write_read_device(i2c_port_t port, uint8_t address, const uint8_t *write,
                                       size_t write_length, uint8_t *read, size_t read_length,
                                       TickType_t ticks) {
    (void)ticks;
    return old(port, address, write, write_length, read, read_length);
}
