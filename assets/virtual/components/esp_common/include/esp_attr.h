// Virtual board: placement attributes, without effect here.
#pragma once
#define IRAM_ATTR
#define DRAM_ATTR
#define RTC_DATA_ATTR
#define RTC_NOINIT_ATTR
#define RTC_RODATA_ATTR
#define RTC_IRAM_ATTR
#define DMA_ATTR
#define WORD_ALIGNED_ATTR __attribute__((aligned(4)))
#define FORCE_INLINE_ATTR static inline __attribute__((always_inline))
#define NOINLINE_ATTR __attribute__((noinline))
