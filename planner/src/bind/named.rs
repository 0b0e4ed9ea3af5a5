//! Arguments given by name, such as `make_interval(days => 10)` (manual, 4.3).

use super::binder::Binder;
use super::literal::unknown;
use crate::error::{Result, SqlError, state};
use crate::functions::signature::{Signature, signatures};
use crate::functions::{CastContext, TypedExpr};

impl Binder<'_> {
    /// All arguments of a call in order: positional ones, then named ones, then defaults. Also the error to report if
    /// no function accepts their types. Errors: 42883 if no function has parameters with these names.
    pub fn in_places(
        &self,
        called: &str,
        values: Vec<TypedExpr>,
        named: Vec<(String, TypedExpr)>,
    ) -> Result<(Vec<TypedExpr>, SqlError)> {
        let shown = named.iter().map(|(name, value)| format!("{name} => {}", value.ty.name()));
        let shown: Vec<String> = values.iter().map(|value| value.ty.name()).chain(shown).collect();
        let message = format!("function {called}({}) does not exist", shown.join(", "));
        let missing = SqlError::new(state::UNDEFINED_FUNCTION, message)
            .hint("No function matches the given name and argument types. You might need to add explicit type casts.");
        for signature in signatures(called) {
            if let Some(places) = self.places(&signature, &values, &named)? {
                return Ok((places, missing));
            }
        }
        Err(missing)
    }

    /// The arguments in the order of a signature. `None` if they do not match it.
    fn places(
        &self,
        signature: &Signature,
        values: &[TypedExpr],
        named: &[(String, TypedExpr)],
    ) -> Result<Option<Vec<TypedExpr>>> {
        if signature.names.len() < values.len() {
            return Ok(None);
        }
        let mut places: Vec<Option<TypedExpr>> = values.iter().cloned().map(Some).collect();
        places.resize(signature.names.len(), None);
        for (name, value) in named {
            let place = signature.names.iter().position(|known| known == name);
            match place.and_then(|place| places.get_mut(place)) {
                Some(place @ None) => *place = Some(value.clone()),
                _ => return Ok(None),
            }
        }
        let mut filled = Vec::with_capacity(places.len());
        for (at, place) in places.into_iter().enumerate() {
            filled.push(match (place, signature.default(at), signature.types.get(at)) {
                (Some(value), ..) => value,
                (None, Some(text), Some(Some(ty))) => self.resolver.cast(unknown(text), *ty, CastContext::Implicit)?,
                _ => return Ok(None),
            });
        }
        Ok(Some(filled))
    }
}
