#include "task_list.h"
#include "unity.h"

static struct task_list list;

void setUp(void)
{
    memset(&list, 0, sizeof list);
    task_list_add(&list, "one");
    task_list_add(&list, "two");
    task_list_add(&list, "three");
}

void test_tasks_are_kept_in_order(void)
{
    TEST_ASSERT_EQUAL_INT(3, list.count);
    TEST_ASSERT_EQUAL_STRING("one", list.tasks[0].text);
}

void test_a_task_is_marked_as_done(void)
{
    TEST_ASSERT_TRUE(task_list_done(&list, 2));
    TEST_ASSERT_TRUE(list.tasks[1].is_done);
    TEST_ASSERT_FALSE(list.tasks[0].is_done);
}

void test_the_tasks_behind_a_removed_one_move_up(void)
{
    TEST_ASSERT_TRUE(task_list_remove(&list, 1));
    TEST_ASSERT_EQUAL_INT(2, list.count);
    TEST_ASSERT_EQUAL_STRING("two", list.tasks[0].text);
    TEST_ASSERT_EQUAL_STRING("three", list.tasks[1].text);
}

void test_the_last_task_can_be_removed(void)
{
    TEST_ASSERT_TRUE(task_list_remove(&list, 3));
    TEST_ASSERT_EQUAL_INT(2, list.count);
}

void test_numbers_that_do_not_exist_are_refused(void)
{
    TEST_ASSERT_FALSE(task_list_done(&list, 0));
    TEST_ASSERT_FALSE(task_list_remove(&list, 4));
    TEST_ASSERT_EQUAL_INT(3, list.count);
}

void test_texts_that_do_not_fit_are_refused(void)
{
    char text[TASK_BYTES + 1];
    memset(text, 'x', TASK_BYTES);
    text[TASK_BYTES] = '\0';
    TEST_ASSERT_FALSE(task_list_add(&list, text));
    TEST_ASSERT_FALSE(task_list_add(&list, ""));
    TEST_ASSERT_FALSE(task_list_add(&list, "two\nlines"));
    TEST_ASSERT_EQUAL_INT(3, list.count);
}
