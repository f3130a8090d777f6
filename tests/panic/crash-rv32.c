// Firmware of crash-rv32.elf and crash-rv32.txt: a chain of calls that ends in a bad store. It prints
// what the ESP32-C3's panic handler prints, with registers and stack taken at that very place.
//   riscv64-unknown-elf-gcc -march=rv32imc -mabi=ilp32 -g -Og -ffreestanding -nostdlib \
//     -msmall-data-limit=0 -ffile-prefix-map=$PWD=/project/main -T crash-rv32.ld -o crash-rv32.elf crash-rv32.c
//   env -i qemu-riscv32 crash-rv32.elf > crash-rv32.txt
//   sed -i "s/FILE_HASH/$(sha256sum crash-rv32.elf | cut -c-9)/" crash-rv32.txt
typedef unsigned int u32;
struct regs { u32 x[32]; u32 pc; };

static void put(const char *text, u32 size) {
    register u32 a0 __asm__("a0") = 1;
    register const char *a1 __asm__("a1") = text;
    register u32 a2 __asm__("a2") = size;
    register u32 a7 __asm__("a7") = 64;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
}
static void text(const char *t) { u32 n = 0; while (t[n]) n++; put(t, n); }
static void hex(u32 v, const char *prefix) {
    char out[8];
    for (int i = 7; i >= 0; i--) { out[i] = "0123456789abcdef"[v & 15]; v >>= 4; }
    text(prefix); put(out, 8);
}
static const char *const NAMES[32] = {"", "RA      ", "SP      ", "GP      ", "TP      ", "T0      ",
    "T1      ", "T2      ", "S0/FP   ", "S1      ", "A0      ", "A1      ", "A2      ", "A3      ",
    "A4      ", "A5      ", "A6      ", "A7      ", "S2      ", "S3      ", "S4      ", "S5      ",
    "S6      ", "S7      ", "S8      ", "S9      ", "S10     ", "S11     ", "T3      ", "T4      ",
    "T5      ", "T6      "};

__attribute__((used)) void report(const struct regs *r) {
    text("Guru Meditation Error: Core  0 panic'ed (Store access fault). Exception was unhandled.\r\n\r\n");
    text("Core  0 register dump:\r\n");
    text("MEPC    : "); hex(r->pc, "0x"); text("  ");
    for (int i = 1; i < 32; i++) {
        text(NAMES[i]); text(": "); hex(r->x[i], "0x"); text((i + 1) % 4 == 0 ? "  \r\n" : "  ");
    }
    text("MSTATUS : 0x00001881  MTVEC   : 0x40380001  MCAUSE  : 0x00000007  MTVAL   : 0x00000000  \r\n");
    text("MHARTID : 0x00000000  \r\n\r\nStack memory:\r\n");
    const u32 *sp = (const u32 *)r->x[2];
    for (int row = 0; row < 6; row++) {
        hex((u32)sp, ""); text(":");
        for (int i = 0; i < 8; i++) hex(*sp++, " 0x");
        text("\r\n");
    }
    text("\r\n\r\n\r\nELF file SHA256: FILE_HASH\r\n\r\nRebooting...\r\n");
    register u32 a0 __asm__("a0") = 0;
    register u32 a7 __asm__("a7") = 93;
    __asm__ volatile("ecall" : : "r"(a0), "r"(a7));
    for (;;) {}
}

// Stands for the exception vector: keeps every register as it is at the faulting instruction.
__attribute__((used)) struct regs saved;
#define SAVE(n) "sw x" #n ", 4*" #n "(t0)\n"
__attribute__((naked, noinline)) void fault(void) {
    __asm__ volatile(
        "la t0, saved\n" SAVE(1) SAVE(2) SAVE(3) SAVE(4) SAVE(6) SAVE(7) SAVE(8) SAVE(9) SAVE(10) SAVE(11)
        SAVE(12) SAVE(13) SAVE(14) SAVE(15) SAVE(16) SAVE(17) SAVE(18) SAVE(19) SAVE(20) SAVE(21)
        SAVE(22) SAVE(23) SAVE(24) SAVE(25) SAVE(26) SAVE(27) SAVE(28) SAVE(29) SAVE(30) SAVE(31)
        "sw ra, 128(t0)\nmv a0, t0\ntail report\n");
}

static volatile int *sensor;
static inline __attribute__((always_inline)) void store(volatile int *to, int value) {
    // The chip would fault at the store; the call in its place takes down the registers.
    __asm__ volatile("jal ra, fault\n" ::: "ra", "memory");
    *to = value;
}
__attribute__((noinline)) int read_sensor(int channel, int *room) {
    volatile int local[4] = {channel, channel + 1, channel + 2, channel + 3};
    store(sensor, local[channel & 3]);
    room[0] = local[1];
    return local[2] + room[0];
}
__attribute__((noinline)) int poll_sensors(int count) {
    int sum = 0, room[8];
    for (int i = 0; i < count; i++) { room[i & 7] = i; sum += read_sensor(i, room); }
    return sum + room[1];
}
__attribute__((noinline)) void app_main(void) {
    volatile int total = poll_sensors(3);
    total = total + 1;
}
void _start(void) { app_main(); for (;;) {} }
