//! The `percosql` command. Chooses nothing and knows nothing: see [`percosql::cli`].

fn main() -> std::process::ExitCode {
    percosql::cli::main()
}
