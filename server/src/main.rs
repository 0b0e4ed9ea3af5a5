//! The `percosql` command. Chooses nothing and knows nothing: see [`percosql::cli`].

/// Plans and rows are made of many small pieces that one thread makes and another lets go; glibc's allocator waits for its own
/// locks then.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    percosql::cli::main()
}
