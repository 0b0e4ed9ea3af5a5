//! Keeps the relocations that `cargo xtask dist` needs to rearrange the binary. It must not change the compiled code.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PERCOSQL_KEEP_RELOCATIONS");
    if std::env::var_os("PERCOSQL_KEEP_RELOCATIONS").is_some() {
        println!("cargo:rustc-link-arg-bins=-Wl,--emit-relocs");
    }
}
