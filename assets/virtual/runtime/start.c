// Virtual board: power-on, the main task, restarts.
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "sdkconfig.h"
#include "esp_log.h"
#include "esp_system.h"
#include "vb.h"

#define QUICK_REBOOTS 5
#define QUICK_MICROS 5000000
#define REASON "VIRTUAL_BOARD_RESET"
#define STREAK "VIRTUAL_BOARD_QUICK_REBOOTS"

extern void app_main(void);
extern char **environ;
extern const char vb_project_name[];

static char *program;
static int reset_reason = ESP_RST_POWERON;
static int quick_reboots;
static pid_t parent;
static struct timespec started;
static shutdown_handler_t shutdown_handlers[5];
static int shutdown_count;

int64_t vb_micros(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - started.tv_sec) * 1000000LL + (now.tv_nsec - started.tv_nsec) / 1000;
}

// Works in a signal handler: formats on the stack and writes at once.
void vb_raw(const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length > (int)sizeof line - 1) {
        length = (int)sizeof line - 1;
    }
    for (int done = 0; done < length;) {
        ssize_t n = write(STDOUT_FILENO, line + done, (size_t)(length - done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        done += (int)n;
    }
}

static void halt(void) {
    vb_raw("\nvirtual board: %d quick restarts in a row; it stays halted until it is flashed again\n",
           QUICK_REBOOTS);
    for (;;) {
        if (getppid() != parent) {
            _exit(0);
        }
        struct timespec second = {.tv_sec = 1, .tv_nsec = 0};
        nanosleep(&second, NULL);
    }
}

// Tests put their own in its place.
__attribute__((weak)) void vb_reboot(int reason) {
    // The process becomes the program anew, on the same port.
    static char reason_text[sizeof REASON + 16];
    static char streak_text[sizeof STREAK + 16];
    int streak = vb_micros() < QUICK_MICROS ? quick_reboots + 1 : 0;
    if (streak > QUICK_REBOOTS) {
        halt();
    }
    snprintf(reason_text, sizeof reason_text, REASON "=%d", reason);
    snprintf(streak_text, sizeof streak_text, STREAK "=%d", streak);
    char *arguments[] = {program, NULL};
    char *variables[] = {reason_text, streak_text, NULL};
    execve("/proc/self/exe", arguments, variables);
    execve(program, arguments, variables);
    vb_raw("virtual board: cannot restart: error %d\n", errno);
    _exit(1);
}

void esp_restart(void) {
    for (int i = shutdown_count; i > 0; i--) {
        shutdown_handlers[i - 1]();
    }
    fflush(stdout);
    vb_reboot(ESP_RST_SW);
}

esp_err_t esp_register_shutdown_handler(shutdown_handler_t handler) {
    if (shutdown_count == (int)(sizeof shutdown_handlers / sizeof shutdown_handlers[0])) {
        return ESP_ERR_NO_MEM;
    }
    shutdown_handlers[shutdown_count++] = handler;
    return ESP_OK;
}

esp_reset_reason_t esp_reset_reason(void) { return (esp_reset_reason_t)reset_reason; }

static void main_task(void *unused) {
    (void)unused;
    ESP_LOGI("main_task", "Started on CPU0");
    ESP_LOGI("main_task", "Calling app_main()");
    app_main();
    ESP_LOGI("main_task", "Returned from app_main()");
    vTaskDelete(NULL);
}

// The board must not outlive the program it is plugged into.
static void *watch_parent(void *unused) {
    (void)unused;
    for (;;) {
        struct timespec pause = {.tv_sec = 0, .tv_nsec = 300000000};
        nanosleep(&pause, NULL);
        if (getppid() != parent) {
            _exit(0);
        }
    }
}

static void set_limit(int resource, rlim_t most) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < most ? limit.rlim_max : most;
        limit.rlim_max = limit.rlim_cur;
        setrlimit(resource, &limit);
    }
}

static int number_from(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text != NULL ? atoi(text) : otherwise;
}

int main(int count, char **arguments) {
    (void)count;
    program = arguments[0];
    parent = getppid();
    clock_gettime(CLOCK_MONOTONIC, &started);
    reset_reason = number_from(REASON, ESP_RST_POWERON);
    quick_reboots = number_from(STREAK, 0);
    setvbuf(stdout, NULL, _IONBF, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_FSIZE, 64u << 20);
    set_limit(RLIMIT_AS, (rlim_t)2 << 30);
    vb_panic_install();

    const bool power_on = reset_reason == ESP_RST_POWERON;
    printf("\nrst:0x%x (%s),boot:0x13 (SPI_FAST_FLASH_BOOT)\n", power_on ? 0x1 : 0xc,
           power_on ? "POWERON_RESET" : "SW_CPU_RESET");
    printf("virtual board: a simulated " CONFIG_IDF_TARGET ", running as a process of this computer\n");
    ESP_LOGI("app_init", "Application information:");
    ESP_LOGI("app_init", "Project name:     %s", vb_project_name);
    ESP_LOGI("app_init", "ESP-IDF:          virtual board (v5 subset)");

    pthread_t watcher;
    pthread_create(&watcher, NULL, watch_parent, NULL);
    vb_timers_start();
    xTaskCreatePinnedToCore(main_task, "main", CONFIG_ESP_MAIN_TASK_STACK_SIZE, NULL, 1, NULL, 0);
    for (;;) {
        pause();
    }
}
