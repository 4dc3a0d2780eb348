//! The codes and their words: one list for each part of the product.
//! Owns: what is made of the lists. Must not: hold a code.

#[macro_use]
mod chain;
#[macro_use]
mod documents;
#[macro_use]
mod governance;
#[macro_use]
mod ledger;
#[macro_use]
mod memory;
#[macro_use]
mod models;
#[macro_use]
mod runs;
#[macro_use]
mod sessions;
#[macro_use]
mod verify;

use super::{Entry, Severity};

macro_rules! codes {
    ([] $($variant:ident $area:literal . $name:literal $severity:ident, $title:literal, $explanation:literal, $fix:literal;)*) => {
        /// A stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// What the table says.
            #[must_use]
            pub fn entry(self) -> Entry {
                match self {
                    $(Code::$variant => Entry {
                        name: concat!($area, ".", $name),
                        area: $area,
                        severity: Severity::$severity,
                        title: $title,
                        explanation: $explanation,
                        fix: $fix,
                    },)*
                }
            }
        }
    };
}

documents! { [ledger chain memory sessions runs models governance verify codes] }
