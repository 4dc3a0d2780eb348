//! Closed lists of words, as the contract writes them.
//! Owns: the way between a word and its variant. Must not: know any list.

/// An enum whose variants are words of the contract: all of them, the word of each, the one of a word.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$meaning])* $variant,)+
        }

        impl $name {
            /// All of them, in the order of the contract.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// The one of a word.
            #[must_use]
            pub fn read(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }
    };
}

pub(crate) use words;
