#include "task_file.h"
#include "unity.h"

static const char *PATH = "test_tasks.txt";
static struct task_list saved, loaded;

void setUp(void)
{
    remove(PATH);
    memset(&saved, 0, sizeof saved);
}

void tearDown(void)
{
    remove(PATH);
}

void test_a_list_is_read_as_it_was_written(void)
{
    task_list_add(&saved, "buy milk");
    task_list_add(&saved, "call home");
    task_list_done(&saved, 2);
    TEST_ASSERT_TRUE(task_file_save(&saved, PATH));
    TEST_ASSERT_TRUE(task_file_load(&loaded, PATH));
    TEST_ASSERT_EQUAL_INT(2, loaded.count);
    TEST_ASSERT_EQUAL_STRING("buy milk", loaded.tasks[0].text);
    TEST_ASSERT_TRUE(loaded.tasks[1].is_done);
}

void test_a_file_that_does_not_exist_is_an_empty_list(void)
{
    TEST_ASSERT_TRUE(task_file_load(&loaded, PATH));
    TEST_ASSERT_EQUAL_INT(0, loaded.count);
}

void test_a_foreign_file_is_refused(void)
{
    FILE *file = fopen(PATH, "w");
    fputs("<html>\n", file);
    fclose(file);
    TEST_ASSERT_FALSE(task_file_load(&loaded, PATH));
}
