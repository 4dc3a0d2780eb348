//! How far something may travel and how far it can be trusted, together.
//! Owns: the join. Must not: say what has which label.

use crate::row::{DataClass, Taint};

/// What holds for a text, and for everything that is made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Label {
    /// How far it may travel.
    pub data_class: DataClass,
    /// How far it can be trusted.
    pub taint: Taint,
}

impl Label {
    /// Of nothing at all: what is joined with it keeps its own.
    pub const NOTHING: Label = Label { data_class: DataClass::Public, taint: Taint::InternalCorpusTrusted };

    /// Of what a user says.
    pub const USER: Label = Label { data_class: DataClass::Internal, taint: Taint::UserTrustedBounded };

    /// Of what comes from outside.
    pub const OUTSIDE: Label = Label { data_class: DataClass::Public, taint: Taint::ExternalUntrusted };

    /// Of what is made from both: the narrower circle, the lesser trust.
    #[must_use]
    pub fn join(self, other: Label) -> Label {
        Label { data_class: self.data_class.max(other.data_class), taint: self.taint.max(other.taint) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any() -> impl Strategy<Value = Label> {
        (prop::sample::select(DataClass::ALL), prop::sample::select(Taint::ALL))
            .prop_map(|(data_class, taint)| Label { data_class, taint })
    }

    proptest! {
        #[test]
        fn a_join_is_above_both_and_no_higher(left in any(), right in any(), third in any()) {
            let joined = left.join(right);
            prop_assert_eq!(joined, right.join(left));
            prop_assert_eq!(joined.join(left), joined);
            prop_assert_eq!(joined.join(third), left.join(right.join(third)));
            prop_assert_eq!(left.join(Label::NOTHING), left);
            prop_assert!([left.data_class, right.data_class].contains(&joined.data_class));
            prop_assert!([left.taint, right.taint].contains(&joined.taint));
        }
    }
}
