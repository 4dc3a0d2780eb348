//! The codes about bundles and formulas; what is wrong with records has codes of its own, in `govern`.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! governance {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
            BundleInvalid "bundle"."invalid" Error, "The document is no bundle",
                "A bundle has schema_version 1.0 and rows, each with kind and record, and perhaps as_of. Nothing was checked.",
                "See docs/governance.md for the form; the path says where it is broken.";
            FormulaUnknown "formula"."unknown" Error, "There is no such formula",
                "Only registered formulas are computed: their text, inputs and policies are what a receipt stands for.",
                "`countersign formula list` prints all of them.";
            FormulaRefused "formula"."refused" Error, "The formula has no value for these inputs",
                "An input is missing, out of its range or not of its kind, or the contract has a code for what is wrong with it. There is no value, and no receipt.",
                "`countersign formula show ID` says what each input must be.";
        }
    };
}
