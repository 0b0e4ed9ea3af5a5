//! [`Allocator`]: mimalloc, called through its short path. The wrapper of its crate always requests memory with an
//! explicit alignment, which takes twice as many instructions as a plain request. A short statement allocates about
//! thirty times.

use libmimalloc_sys as mimalloc;
use std::alloc::{GlobalAlloc, Layout};

/// The alignment of every mimalloc block in bytes, except for shorter blocks (`MI_MAX_ALIGN_SIZE` in its types.h).
const ALIGNED: usize = 16;

/// The global allocator of the server: mimalloc, called without an explicit alignment where the block's size implies
/// it.
pub struct Allocator;

/// Whether each block of `size` bytes has that alignment without a request. Blocks of 16 bytes and more lie at
/// multiples of 16. Shorter blocks lie at multiples of 8 and are at least 8 bytes long.
const fn is_natural(align: usize, size: usize) -> bool {
    align <= ALIGNED && align <= size
}

// SAFETY: mimalloc returns blocks of at least `size` bytes that belong to the caller alone until they are freed, or
// null. The same calls free and grow the blocks of both paths, and no call panics (mimalloc.h). A block requested by
// its size alone has the layout's alignment: see `is_natural`. By the contract of GlobalAlloc, the caller ensures that
// the size is not 0, that pointer and layout belong together, and that a new size does not overflow.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            if is_natural(layout.align(), layout.size()) {
                mimalloc::mi_malloc(layout.size()).cast()
            } else {
                mimalloc::mi_malloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            if is_natural(layout.align(), layout.size()) {
                mimalloc::mi_zalloc(layout.size()).cast()
            } else {
                mimalloc::mi_zalloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: as above.
        unsafe { mimalloc::mi_free(block.cast()) };
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above. A block that stays in place has the alignment of its new size, by the condition; otherwise
        // the branch below requests it explicitly.
        unsafe {
            if is_natural(layout.align(), size) {
                mimalloc::mi_realloc(block.cast(), size).cast()
            } else {
                mimalloc::mi_realloc_aligned(block.cast(), size, layout.align()).cast()
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn bytes_of(block: *mut u8, size: usize) -> Vec<u8> {
        // SAFETY: the tests ask for blocks whose bytes have been written, or were asked for as zeros.
        unsafe { std::slice::from_raw_parts(block, size) }.to_vec()
    }

    #[test]
    fn blocks_have_the_size_and_alignment_that_is_asked_for() {
        let sizes = (1..300).chain([1 << 10, (1 << 12) + 1, 1 << 16, (1 << 20) + 7, 5 << 20]);
        let mut kept = Vec::new();
        for (turn, size) in sizes.enumerate() {
            for align in [1, 2, 4, 8, 16, 32, 64, 4096] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the size is not 0, and each block is given back once, by its own layout.
                let block =
                    unsafe { if turn % 2 == 0 { Allocator.alloc(layout) } else { Allocator.alloc_zeroed(layout) } };
                assert!(!block.is_null());
                assert_eq!(block.addr() % align, 0, "{size} bytes at {align}");
                if turn % 2 == 1 {
                    assert!(bytes_of(block, size).iter().all(|byte| *byte == 0));
                }
                // SAFETY: the block is `size` bytes long.
                unsafe { block.write_bytes(turn as u8, size) };
                kept.push((block, layout, turn as u8));
            }
        }
        // No block overlaps another.
        for (block, layout, value) in kept {
            assert!(bytes_of(block, layout.size()).iter().all(|byte| *byte == value), "{layout:?}");
            // SAFETY: as above.
            unsafe { Allocator.dealloc(block, layout) };
        }
    }

    #[test]
    fn blocks_keep_their_bytes_and_alignment_when_they_grow_and_shrink() {
        for align in [1, 4, 8, 16, 64, 4096] {
            let mut layout = Layout::from_size_align(3, align).unwrap();
            // SAFETY: as in the test above.
            let mut block = unsafe { Allocator.alloc(layout) };
            // SAFETY: it is three bytes long.
            unsafe { block.copy_from_nonoverlapping([1, 2, 3].as_ptr(), 3) };
            for size in [7, 8, 9, 24, 1000, 70_000, 3 << 20, 40, 15, 3] {
                // SAFETY: the block has that layout, and the size is not 0.
                block = unsafe { Allocator.realloc(block, layout, size) };
                layout = Layout::from_size_align(size, align).unwrap();
                assert_eq!(block.addr() % align, 0, "{size} bytes at {align}");
                assert_eq!(bytes_of(block, 3), [1, 2, 3]);
            }
            // SAFETY: as above.
            unsafe { Allocator.dealloc(block, layout) };
        }
    }
}
