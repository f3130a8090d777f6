/* Runs on the host: nothing in `smooth` needs the chip. */
#include "smooth.h"
#include "unity.h"

static smooth_t smooth;

void test_the_first_reading_is_the_average(void)
{
    smooth_init(&smooth, 4);
    TEST_ASSERT_EQUAL_INT(21, smooth_add(&smooth, 21));
}

void test_old_readings_drop_out(void)
{
    smooth_init(&smooth, 2);
    smooth_add(&smooth, 100);
    smooth_add(&smooth, 10);
    TEST_ASSERT_EQUAL_INT(15, smooth_add(&smooth, 20));
}

void test_averages_are_rounded_on_both_sides_of_zero(void)
{
    smooth_init(&smooth, 3);
    smooth_add(&smooth, 1);
    smooth_add(&smooth, 2);
    TEST_ASSERT_EQUAL_INT(2, smooth_add(&smooth, 2));
    smooth_init(&smooth, 3);
    smooth_add(&smooth, -1);
    smooth_add(&smooth, -2);
    TEST_ASSERT_EQUAL_INT(-2, smooth_add(&smooth, -2));
}

void test_large_readings_do_not_overflow(void)
{
    smooth_init(&smooth, SMOOTH_MOST);
    int32_t average = 0;
    for (int i = 0; i < SMOOTH_MOST; i++) {
        average = smooth_add(&smooth, INT32_MAX);
    }
    TEST_ASSERT_EQUAL_INT(INT32_MAX, average);
}

void test_a_size_out_of_range_is_brought_into_it(void)
{
    smooth_init(&smooth, 0);
    TEST_ASSERT_EQUAL_INT(1, smooth.size);
    smooth_init(&smooth, SMOOTH_MOST + 1);
    TEST_ASSERT_EQUAL_INT(SMOOTH_MOST, smooth.size);
}
