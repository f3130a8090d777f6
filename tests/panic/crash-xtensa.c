// Program of crash-xtensa.elf. It stands for firmware of an ESP32: only its functions and lines are
// looked up, it never runs.
//   xtensa-lx106-elf-gcc -g -Og -ffreestanding -nostdlib -ffile-prefix-map=$PWD=/project/main \
//     -T crash-xtensa.ld -o crash-xtensa.elf crash-xtensa.c
static volatile int total;
static inline __attribute__((always_inline)) void store(int value) { *(volatile int *)0 = value; }
__attribute__((noinline)) int read_sensor(int channel) { store(channel); return channel + total; }
__attribute__((noinline)) void poll_sensors(int count) { for (int i = 0; i < count; i++) total += read_sensor(i); }
void app_main(void) { poll_sensors(3); total++; }
