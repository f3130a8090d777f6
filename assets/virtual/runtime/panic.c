// Virtual board: panics in the ESP32's format, with the program counters of this program.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#include "esp_err.h"
#include "esp_system.h"
#include "vb.h"

#define MAX_FRAMES 24
#define SIGNAL_STACK 65536

extern const char vb_build_id[];

struct trace {
    uintptr_t pc[MAX_FRAMES];
    uintptr_t sp[MAX_FRAMES];
    int count;
    uintptr_t start;
    bool started;
};

struct registers {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t frame;
    bool store;
};

static __thread volatile sig_atomic_t panicking;

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument) {
    struct trace *trace = argument;
    int exact = 0;
    uintptr_t pc = (uintptr_t)_Unwind_GetIPInfo(context, &exact);
    if (pc == 0) {
        return _URC_END_OF_STACK;
    }
    if (!trace->started && pc != trace->start) {
        return _URC_NO_REASON;
    }
    if (trace->count == MAX_FRAMES) {
        return _URC_END_OF_STACK;
    }
    // A return address belongs to the call before it.
    trace->pc[trace->count] = trace->started && !exact ? pc - 1 : pc;
    trace->sp[trace->count] = (uintptr_t)_Unwind_GetCFA(context);
    trace->count++;
    trace->started = true;
    return _URC_NO_REASON;
}

#if defined(__linux__)
extern const char __executable_start[];
extern const char etext[];
static bool is_own(uintptr_t pc) {
    return pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext;
}
#else
static bool is_own(uintptr_t pc) { return pc != 0; }
#endif

static void print_backtrace(const struct trace *trace) {
    // The outermost frames are the computer's thread start, which the chip does not have.
    int count = trace->count;
    while (count > 1 && !is_own(trace->pc[count - 1])) {
        count--;
    }
    vb_raw("\n\nBacktrace:");
    for (int i = 0; i < count; i++) {
        vb_raw(" 0x%08lx:0x%08lx", (unsigned long)trace->pc[i], (unsigned long)trace->sp[i]);
    }
    vb_raw("\n\n\n\n\nELF file SHA256: %s\n\nRebooting...\n", vb_build_id);
}

static void trace_from(struct trace *trace, uintptr_t start) {
    memset(trace, 0, sizeof *trace);
    trace->start = start;
    _Unwind_Backtrace(step, trace);
}

static struct registers registers_of(void *context) {
    struct registers found = {0, 0, 0, false};
    ucontext_t *at = context;
#if defined(__linux__) && defined(__x86_64__)
    found.pc = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
    found.sp = (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
    found.frame = (uintptr_t)at->uc_mcontext.gregs[REG_RBP];
    found.store = (at->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#elif defined(__linux__) && defined(__aarch64__)
    found.pc = (uintptr_t)at->uc_mcontext.pc;
    found.sp = (uintptr_t)at->uc_mcontext.sp;
    found.frame = (uintptr_t)at->uc_mcontext.regs[29];
#elif defined(__APPLE__) && defined(__aarch64__)
    found.pc = (uintptr_t)at->uc_mcontext->__ss.__pc;
    found.sp = (uintptr_t)at->uc_mcontext->__ss.__sp;
    found.frame = (uintptr_t)at->uc_mcontext->__ss.__fp;
#elif defined(__APPLE__) && defined(__x86_64__)
    found.pc = (uintptr_t)at->uc_mcontext->__ss.__rip;
    found.sp = (uintptr_t)at->uc_mcontext->__ss.__rsp;
    found.frame = (uintptr_t)at->uc_mcontext->__ss.__rbp;
#else
    (void)at;
#endif
    return found;
}

static const char *cause_of(int number, const siginfo_t *info, const struct registers *at) {
    switch (number) {
    case SIGFPE:
        return info->si_code == FPE_INTDIV ? "IntegerDivideByZero" : "ArithmeticException";
    case SIGILL:
        return "IllegalInstruction";
    case SIGBUS:
        return "LoadStoreError";
    default:
        if ((uintptr_t)info->si_addr == at->pc) {
            return "InstrFetchProhibited";
        }
        return at->store ? "StoreProhibited" : "LoadProhibited";
    }
}

// A call through a bad pointer leaves nothing to unwind from but the caller's return address.
static void trace_bad_call(struct trace *trace, const struct registers *at) {
    memset(trace, 0, sizeof *trace);
    trace->pc[0] = at->pc;
    trace->sp[0] = at->sp;
    trace->count = 1;
#if defined(__x86_64__)
    const uintptr_t *frame = (const uintptr_t *)at->frame;
    trace->pc[1] = *(const uintptr_t *)at->sp - 1;
    trace->sp[1] = at->sp + sizeof(uintptr_t);
    trace->count = 2;
    TaskHandle_t self = vb_self();
    const uintptr_t low = self != NULL ? (uintptr_t)self->stack : 0;
    const uintptr_t high = self != NULL ? low + self->stack_bytes - 16 : 0;
    while (trace->count < MAX_FRAMES && (uintptr_t)frame > low && (uintptr_t)frame < high) {
        if (frame[1] == 0) {
            break;
        }
        trace->pc[trace->count] = frame[1] - 1;
        trace->sp[trace->count] = (uintptr_t)(frame + 2);
        trace->count++;
        if (frame[0] <= (uintptr_t)frame) {
            break;
        }
        frame = (const uintptr_t *)frame[0];
    }
#endif
}

static bool in_guard(uintptr_t address, uintptr_t sp) {
    TaskHandle_t self = vb_self();
    if (self == NULL || self->stack == NULL) {
        return false;
    }
    const uintptr_t low = (uintptr_t)self->stack;
    return (address >= low - 65536 && address < low) || (sp >= low - 65536 && sp < low);
}

static void on_fault(int number, siginfo_t *info, void *context) {
    if (panicking) {
        vb_raw("\nPanic handler entered multiple times. Abort panic handling. Rebooting ...\n");
        vb_reboot(ESP_RST_PANIC);
    }
    panicking = 1;
    const int core = xPortGetCoreID();
    struct registers at = registers_of(context);
    struct trace trace;
    if (number == SIGABRT) {
        trace_from(&trace, at.pc);
        vb_raw("\nabort() was called at PC 0x%08lx on core %d\n", (unsigned long)at.pc, core);
        print_backtrace(&trace);
        vb_reboot(ESP_RST_PANIC);
    }
    if (number == SIGSEGV && in_guard((uintptr_t)info->si_addr, at.sp)) {
        vb_raw("\n***ERROR*** A stack overflow in task %s has been detected.\n", vb_self()->name);
        trace_from(&trace, at.pc);
        print_backtrace(&trace);
        vb_reboot(ESP_RST_PANIC);
    }
    const char *cause = cause_of(number, info, &at);
    vb_raw("\nGuru Meditation Error: Core  %d panic'ed (%s). Exception was unhandled.\n", core, cause);
    vb_raw("\nCore  %d register dump:\n", core);
    vb_raw("PC      : 0x%08lx  SP      : 0x%08lx  FP      : 0x%08lx\n", (unsigned long)at.pc,
           (unsigned long)at.sp, (unsigned long)at.frame);
    vb_raw("EXCVADDR: 0x%08lx\n", (unsigned long)(uintptr_t)info->si_addr);
    if ((uintptr_t)info->si_addr == at.pc && number == SIGSEGV) {
        trace_bad_call(&trace, &at);
    } else {
        trace_from(&trace, at.pc);
    }
    print_backtrace(&trace);
    vb_reboot(ESP_RST_PANIC);
}

void vb_panic_install_thread(void) {
    stack_t stack = {.ss_sp = malloc(SIGNAL_STACK), .ss_flags = 0, .ss_size = SIGNAL_STACK};
    if (stack.ss_sp != NULL) {
        sigaltstack(&stack, NULL);
    }
}

static _Unwind_Reason_Code ignore(struct _Unwind_Context *context, void *argument) {
    (void)context;
    (void)argument;
    return _URC_NO_REASON;
}

void vb_panic_install(void) {
    // The first use of the unwinder allocates; that must not happen inside a handler.
    _Unwind_Backtrace(ignore, NULL);
    vb_panic_install_thread();
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaction(numbers[i], &action, NULL);
    }
}

void vb_abort_at(uintptr_t pc, const char *before) {
    struct trace trace;
    trace_from(&trace, pc);
    if (trace.count > 0) {
        trace.pc[0] -= 1;
    }
    vb_raw("\n%s", before);
    if (before[0] == '\0') {
        vb_raw("abort() was called at PC 0x%08lx on core %d\n", (unsigned long)(pc - 1),
               (int)xPortGetCoreID());
    }
    print_backtrace(&trace);
    vb_reboot(ESP_RST_PANIC);
}

void abort(void) { vb_abort_at((uintptr_t)__builtin_return_address(0), ""); }

void esp_system_abort(const char *details) {
    char line[256];
    snprintf(line, sizeof line, "%s\n", details);
    vb_abort_at((uintptr_t)__builtin_return_address(0), line);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void assert_failed(uintptr_t pc, const char *expression, const char *file, unsigned line,
                          const char *function) __attribute__((noreturn));
static void assert_failed(uintptr_t pc, const char *expression, const char *file, unsigned line,
                          const char *function) {
    char text[384];
    snprintf(text, sizeof text, "assert failed: %s %s:%u (%s)\n", function, base_name(file), line,
             expression);
    vb_abort_at(pc, text);
}

#if defined(__APPLE__)
void __assert_rtn(const char *function, const char *file, int line, const char *expression) {
    assert_failed((uintptr_t)__builtin_return_address(0), expression, file, (unsigned)line, function);
}
#else
// The names of the C library's own hooks behind assert().
void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) {
    assert_failed((uintptr_t)__builtin_return_address(0), expression, file, line, function);
}
#endif

void _esp_error_check_failed_without_abort(esp_err_t code, const char *file, int line,
                                           const char *function, const char *expression) {
    printf("ESP_ERROR_CHECK_WITHOUT_ABORT failed: esp_err_t 0x%x (%s) at 0x%08lx\n", (unsigned)code,
           esp_err_to_name(code), (unsigned long)((uintptr_t)__builtin_return_address(0) - 1));
    printf("file: \"%s\" line %d\nfunc: %s\nexpression: %s\n", file, line, function, expression);
}

void _esp_error_check_failed(esp_err_t code, const char *file, int line, const char *function,
                             const char *expression) {
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    printf("ESP_ERROR_CHECK failed: esp_err_t 0x%x (%s) at 0x%08lx\n", (unsigned)code,
           esp_err_to_name(code), (unsigned long)(pc - 1));
    printf("file: \"%s\" line %d\nfunc: %s\nexpression: %s\n", file, line, function, expression);
    vb_abort_at(pc, "");
}
