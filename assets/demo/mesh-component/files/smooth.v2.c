#include "smooth.h"

#include <string.h>

void smooth_init(smooth_t *smooth, size_t size)
{
    memset(smooth, 0, sizeof *smooth);
    smooth->size = size < 1 ? 1 : size > SMOOTH_MOST ? SMOOTH_MOST : size;
}

int32_t smooth_add(smooth_t *smooth, int32_t reading)
{
    if (smooth->count == smooth->size) {
        smooth->sum -= smooth->readings[smooth->next];
    } else {
        smooth->count++;
    }
    smooth->readings[smooth->next] = reading;
    smooth->next = (smooth->next + 1) % smooth->size;
    smooth->sum += reading;
    const int64_t count = (int64_t)smooth->count;
    const int64_t half = smooth->sum < 0 ? -count / 2 : count / 2;
    return (int32_t)((smooth->sum + half) / count);
}
