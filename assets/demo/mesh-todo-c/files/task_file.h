/* The file that a list of tasks is kept in: one line for each, `x ` or `- ` before its text. */
#pragma once

#include "task_list.h"

/* Reads a list; a file that does not exist is an empty one. False when it cannot be read. */
bool task_file_load(struct task_list *list, const char *path);

/* Writes a list; the old file stays until the new one is complete. False when that fails. */
bool task_file_save(const struct task_list *list, const char *path);
