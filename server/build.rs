//! Lets the program keep what a later step needs to lay it out anew (`cargo xtask dist`). It must not change what is compiled.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PERCOSQL_KEEP_RELOCATIONS");
    if std::env::var_os("PERCOSQL_KEEP_RELOCATIONS").is_some() {
        println!("cargo:rustc-link-arg-bins=-Wl,--emit-relocs");
    }
}
