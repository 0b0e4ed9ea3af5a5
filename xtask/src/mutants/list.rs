//! The planted bugs. Knows the text of the source and nothing else.

use super::Mutant;

/// Every planted bug.
pub const MUTANTS: &[Mutant] = &[];
