/* Checks for tests in C that are written for Unity, where the project has no Unity of its own. The
   names of the checks and the lines that they print are those of Unity. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

struct UnityState {
    const char *file, *name;
    int line, tests, failures, ignored, has_failed, is_ignored;
    struct timespec begun;
    jmp_buf frame;
};

static struct UnityState Unity __attribute__((unused));

__attribute__((weak)) void setUp(void);
__attribute__((weak)) void tearDown(void);

__attribute__((unused)) static void unity_crashed(int number)
{
    char text[512];
    int length = snprintf(text, sizeof text, "%s:%d:%s:FAIL: ended by signal %d\n",
                          Unity.file, Unity.line, Unity.name ? Unity.name : "test", number);
    if (length > 0) {
        ssize_t written = write(1, text, (size_t)length);
        (void)written;
    }
    signal(number, SIG_DFL);
    raise(number);
}

__attribute__((unused)) static int unity_begin(const char *file)
{
    static const int crashes[] = { SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL };
    memset(&Unity, 0, sizeof Unity);
    Unity.file = file;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        signal(crashes[i], unity_crashed);
    }
    return 0;
}

__attribute__((unused)) static int unity_end(void)
{
    printf("\n-----------------------\n%d Tests %d Failures %d Ignored\n%s\n", Unity.tests,
           Unity.failures, Unity.ignored, Unity.failures ? "FAIL" : "OK");
    fflush(stdout);
    return Unity.failures;
}

__attribute__((unused)) static void unity_fail(int line, const char *text)
{
    printf("%s:%d:%s:FAIL: %s\n", Unity.file, line, Unity.name, text);
    Unity.has_failed = 1;
    longjmp(Unity.frame, 1);
}

__attribute__((unused)) static void unity_ignore(int line, const char *text)
{
    printf("%s:%d:%s:IGNORE%s%s\n", Unity.file, line, Unity.name, text ? ": " : "", text ? text : "");
    Unity.is_ignored = 1;
    longjmp(Unity.frame, 1);
}

__attribute__((unused)) static void unity_run(void (*test)(void), const char *name, const char *file, int line)
{
    Unity.file = file;
    Unity.name = name;
    Unity.line = line;
    Unity.has_failed = Unity.is_ignored = 0;
    Unity.tests++;
    clock_gettime(CLOCK_MONOTONIC, &Unity.begun);
    if (setjmp(Unity.frame) == 0) {
        if (setUp) setUp();
        test();
    }
    if (setjmp(Unity.frame) == 0) {
        if (tearDown) tearDown();
    }
    if (Unity.has_failed) {
        Unity.failures++;
    } else if (Unity.is_ignored) {
        Unity.ignored++;
    } else {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        printf("%s:%d:%s:PASS (%ld ms)\n", Unity.file, line, name,
               (long)((now.tv_sec - Unity.begun.tv_sec) * 1000 + (now.tv_nsec - Unity.begun.tv_nsec) / 1000000));
    }
    fflush(stdout);
}

__attribute__((unused)) static void unity_int(long long expected, long long actual, int holds, const char *form,
                      const char *message, int line)
{
    char text[512];
    if (holds) return;
    snprintf(text, sizeof text, form, expected, actual);
    if (message) {
        strncat(text, ". ", sizeof text - strlen(text) - 1);
        strncat(text, message, sizeof text - strlen(text) - 1);
    }
    unity_fail(line, text);
}

__attribute__((unused)) static void unity_real(double expected, double actual, double delta, const char *message, int line)
{
    char text[512];
    if (fabs(expected - actual) <= delta || expected == actual || (isnan(expected) && isnan(actual))) return;
    snprintf(text, sizeof text, "Expected %.9g Was %.9g%s%s", expected, actual, message ? ". " : "",
             message ? message : "");
    unity_fail(line, text);
}

__attribute__((unused)) static void unity_text(const char *expected, const char *actual, const char *message, int line)
{
    char text[1024];
    if (expected == actual || (expected && actual && strcmp(expected, actual) == 0)) return;
    snprintf(text, sizeof text, "Expected '%s' Was '%s'%s%s", expected ? expected : "NULL",
             actual ? actual : "NULL", message ? ". " : "", message ? message : "");
    unity_fail(line, text);
}

__attribute__((unused)) static void unity_bytes(const void *expected, const void *actual, size_t size, size_t count,
                        const char *message, int line)
{
    char text[512];
    for (size_t i = 0; i < count; i++) {
        if (memcmp((const char *)expected + i * size, (const char *)actual + i * size, size) != 0) {
            snprintf(text, sizeof text, "Element %zu is not as expected%s%s", i, message ? ". " : "",
                     message ? message : "");
            unity_fail(line, text);
        }
    }
}

#ifdef __cplusplus
}
#endif

#define UNITY_BEGIN() unity_begin(__FILE__)
#define UNITY_END() unity_end()
#define RUN_TEST(test, ...) unity_run(test, #test, __FILE__, __LINE__)

#define TEST_FAIL_MESSAGE(message) unity_fail(__LINE__, (message))
#define TEST_FAIL() unity_fail(__LINE__, "")
#define TEST_IGNORE_MESSAGE(message) unity_ignore(__LINE__, (message))
#define TEST_IGNORE() unity_ignore(__LINE__, NULL)
#define TEST_PASS() longjmp(Unity.frame, 1)
#define TEST_PASS_MESSAGE(message) longjmp(Unity.frame, 1)
#define TEST_MESSAGE(message) printf("%s:%d:%s:INFO: %s\n", Unity.file, __LINE__, Unity.name, (message))

#define TEST_ASSERT_MESSAGE(condition, message) do { if (!(condition)) unity_fail(__LINE__, (message)); } while (0)
#define TEST_ASSERT(condition) TEST_ASSERT_MESSAGE((condition), "Expression Evaluated To FALSE")
#define TEST_ASSERT_TRUE(condition) TEST_ASSERT_MESSAGE((condition), "Expected TRUE Was FALSE")
#define TEST_ASSERT_TRUE_MESSAGE(condition, message) TEST_ASSERT_MESSAGE((condition), (message))
#define TEST_ASSERT_UNLESS(condition) TEST_ASSERT_FALSE(condition)
#define TEST_ASSERT_FALSE(condition) TEST_ASSERT_MESSAGE(!(condition), "Expected FALSE Was TRUE")
#define TEST_ASSERT_FALSE_MESSAGE(condition, message) TEST_ASSERT_MESSAGE(!(condition), (message))
#define TEST_ASSERT_NULL(pointer) TEST_ASSERT_MESSAGE((pointer) == NULL, "Expected NULL")
#define TEST_ASSERT_NULL_MESSAGE(pointer, message) TEST_ASSERT_MESSAGE((pointer) == NULL, (message))
#define TEST_ASSERT_NOT_NULL(pointer) TEST_ASSERT_MESSAGE((pointer) != NULL, "Expected Non-NULL")
#define TEST_ASSERT_NOT_NULL_MESSAGE(pointer, message) TEST_ASSERT_MESSAGE((pointer) != NULL, (message))

#define UNITY_COMPARE(expected, actual, sign, form, message) do { \
        long long unity_e = (long long)(expected), unity_a = (long long)(actual); \
        unity_int(unity_e, unity_a, unity_a sign unity_e, form, message, __LINE__); \
    } while (0)
#define UNITY_EQUAL(expected, actual, message) UNITY_COMPARE(expected, actual, ==, "Expected %lld Was %lld", message)

#define TEST_ASSERT_EQUAL(e, a) UNITY_EQUAL(e, a, NULL)
#define TEST_ASSERT_EQUAL_MESSAGE(e, a, m) UNITY_EQUAL(e, a, m)
#define TEST_ASSERT_EQUAL_INT(e, a) UNITY_EQUAL(e, a, NULL)
#define TEST_ASSERT_EQUAL_INT_MESSAGE(e, a, m) UNITY_EQUAL(e, a, m)
#define TEST_ASSERT_EQUAL_INT8(e, a) UNITY_EQUAL((int8_t)(e), (int8_t)(a), NULL)
#define TEST_ASSERT_EQUAL_INT16(e, a) UNITY_EQUAL((int16_t)(e), (int16_t)(a), NULL)
#define TEST_ASSERT_EQUAL_INT32(e, a) UNITY_EQUAL((int32_t)(e), (int32_t)(a), NULL)
#define TEST_ASSERT_EQUAL_INT64(e, a) UNITY_EQUAL(e, a, NULL)
#define TEST_ASSERT_EQUAL_UINT(e, a) UNITY_EQUAL((unsigned)(e), (unsigned)(a), NULL)
#define TEST_ASSERT_EQUAL_UINT8(e, a) UNITY_EQUAL((uint8_t)(e), (uint8_t)(a), NULL)
#define TEST_ASSERT_EQUAL_UINT16(e, a) UNITY_EQUAL((uint16_t)(e), (uint16_t)(a), NULL)
#define TEST_ASSERT_EQUAL_UINT32(e, a) UNITY_EQUAL((uint32_t)(e), (uint32_t)(a), NULL)
#define TEST_ASSERT_EQUAL_UINT64(e, a) UNITY_EQUAL(e, a, NULL)
#define TEST_ASSERT_EQUAL_size_t(e, a) UNITY_EQUAL(e, a, NULL)
#define TEST_ASSERT_EQUAL_CHAR(e, a) UNITY_EQUAL(e, a, NULL)
#define TEST_ASSERT_EQUAL_PTR(e, a) UNITY_EQUAL((intptr_t)(e), (intptr_t)(a), NULL)
#define UNITY_HEX(e, a) UNITY_COMPARE(e, a, ==, "Expected 0x%llX Was 0x%llX", NULL)
#define TEST_ASSERT_EQUAL_HEX(e, a) UNITY_HEX((unsigned)(e), (unsigned)(a))
#define TEST_ASSERT_EQUAL_HEX8(e, a) UNITY_HEX((uint8_t)(e), (uint8_t)(a))
#define TEST_ASSERT_EQUAL_HEX16(e, a) UNITY_HEX((uint16_t)(e), (uint16_t)(a))
#define TEST_ASSERT_EQUAL_HEX32(e, a) UNITY_HEX((uint32_t)(e), (uint32_t)(a))
#define TEST_ASSERT_BITS(mask, e, a) UNITY_HEX((e) & (mask), (a) & (mask))
#define TEST_ASSERT_BIT_HIGH(bit, a) TEST_ASSERT_TRUE(((a) >> (bit)) & 1)
#define TEST_ASSERT_BIT_LOW(bit, a) TEST_ASSERT_FALSE(((a) >> (bit)) & 1)
#define TEST_ASSERT_NOT_EQUAL(e, a) UNITY_COMPARE(e, a, !=, "Expected Not-Equal %lld Was %lld", NULL)
#define TEST_ASSERT_NOT_EQUAL_INT(e, a) TEST_ASSERT_NOT_EQUAL(e, a)
#define TEST_ASSERT_NOT_EQUAL_MESSAGE(e, a, m) UNITY_COMPARE(e, a, !=, "Expected Not-Equal %lld Was %lld", m)
#define TEST_ASSERT_GREATER_THAN(e, a) UNITY_COMPARE(e, a, >, "Expected Greater Than %lld Was %lld", NULL)
#define TEST_ASSERT_GREATER_OR_EQUAL(e, a) UNITY_COMPARE(e, a, >=, "Expected At Least %lld Was %lld", NULL)
#define TEST_ASSERT_LESS_THAN(e, a) UNITY_COMPARE(e, a, <, "Expected Less Than %lld Was %lld", NULL)
#define TEST_ASSERT_LESS_OR_EQUAL(e, a) UNITY_COMPARE(e, a, <=, "Expected At Most %lld Was %lld", NULL)
#define TEST_ASSERT_INT_WITHIN(d, e, a) do { \
        long long unity_e = (long long)(e), unity_a = (long long)(a), unity_d = (long long)(d); \
        unity_int(unity_e, unity_a, unity_a - unity_e <= unity_d && unity_e - unity_a <= unity_d, \
                  "Values Not Within Delta. Expected %lld Was %lld", NULL, __LINE__); \
    } while (0)
#define TEST_ASSERT_UINT_WITHIN(d, e, a) TEST_ASSERT_INT_WITHIN(d, e, a)
#define TEST_ASSERT_INT32_WITHIN(d, e, a) TEST_ASSERT_INT_WITHIN(d, e, a)
#define TEST_ASSERT_UINT32_WITHIN(d, e, a) TEST_ASSERT_INT_WITHIN(d, e, a)
#define UNITY_NEAR(e) (fabs((double)(e)) * 0.00001)
#define TEST_ASSERT_FLOAT_WITHIN(d, e, a) unity_real((e), (a), fabs((double)(d)), NULL, __LINE__)
#define TEST_ASSERT_DOUBLE_WITHIN(d, e, a) TEST_ASSERT_FLOAT_WITHIN(d, e, a)
#define TEST_ASSERT_EQUAL_FLOAT(e, a) unity_real((e), (a), UNITY_NEAR(e), NULL, __LINE__)
#define TEST_ASSERT_EQUAL_DOUBLE(e, a) unity_real((e), (a), fabs((double)(e)) * 1e-12, NULL, __LINE__)
#define TEST_ASSERT_EQUAL_STRING(e, a) unity_text((e), (a), NULL, __LINE__)
#define TEST_ASSERT_EQUAL_STRING_MESSAGE(e, a, m) unity_text((e), (a), (m), __LINE__)
#define TEST_ASSERT_EQUAL_STRING_LEN(e, a, n) unity_bytes((e), (a), 1, (n), NULL, __LINE__)
#define TEST_ASSERT_EQUAL_MEMORY(e, a, n) unity_bytes((e), (a), 1, (n), NULL, __LINE__)
#define UNITY_ARRAY(type, e, a, n) unity_bytes((e), (a), sizeof(type), (n), NULL, __LINE__)
#define TEST_ASSERT_EQUAL_INT_ARRAY(e, a, n) UNITY_ARRAY(int, e, a, n)
#define TEST_ASSERT_EQUAL_INT8_ARRAY(e, a, n) UNITY_ARRAY(int8_t, e, a, n)
#define TEST_ASSERT_EQUAL_INT16_ARRAY(e, a, n) UNITY_ARRAY(int16_t, e, a, n)
#define TEST_ASSERT_EQUAL_INT32_ARRAY(e, a, n) UNITY_ARRAY(int32_t, e, a, n)
#define TEST_ASSERT_EQUAL_UINT8_ARRAY(e, a, n) UNITY_ARRAY(uint8_t, e, a, n)
#define TEST_ASSERT_EQUAL_UINT16_ARRAY(e, a, n) UNITY_ARRAY(uint16_t, e, a, n)
#define TEST_ASSERT_EQUAL_UINT32_ARRAY(e, a, n) UNITY_ARRAY(uint32_t, e, a, n)
#define TEST_ASSERT_EQUAL_HEX8_ARRAY(e, a, n) UNITY_ARRAY(uint8_t, e, a, n)
#define TEST_ESP_OK(code) TEST_ASSERT_EQUAL_HEX32(0, (code))
#define TEST_ESP_ERR(error, code) TEST_ASSERT_EQUAL_HEX32((error), (code))

/* Tests as ESP-IDF writes them; `unity_run_all_cases` runs all that the program has. */
struct UnityCase {
    const char *name, *file;
    int line;
    void (*test)(void);
    struct UnityCase *next;
};

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak)) struct UnityCase *unity_cases;

__attribute__((unused)) static void unity_add(struct UnityCase *one)
{
    struct UnityCase **end = &unity_cases;
    while (*end) end = &(*end)->next;
    *end = one;
}

__attribute__((unused)) static void unity_run_all_cases(void)
{
    for (struct UnityCase *one = unity_cases; one; one = one->next) {
        unity_run(one->test, one->name, one->file, one->line);
    }
}

#ifdef __cplusplus
}
#endif

#define UNITY_JOIN2(a, b) a##b
#define UNITY_JOIN(a, b) UNITY_JOIN2(a, b)
#define TEST_CASE(title, ...) \
    static void UNITY_JOIN(unity_test_, __LINE__)(void); \
    static struct UnityCase UNITY_JOIN(unity_case_, __LINE__) = { \
        title, __FILE__, __LINE__, UNITY_JOIN(unity_test_, __LINE__), NULL }; \
    __attribute__((constructor)) static void UNITY_JOIN(unity_add_, __LINE__)(void) \
    { \
        unity_add(&UNITY_JOIN(unity_case_, __LINE__)); \
    } \
    static void UNITY_JOIN(unity_test_, __LINE__)(void)
#define TEST_CASE_MULTIPLE_STAGES(title, ...) TEST_CASE(title)
#define unity_run_all_tests() unity_run_all_cases()
