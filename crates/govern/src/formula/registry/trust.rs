//! Formulas: how far content is trusted, and who may see it.
//! Owns: their texts. Must not: compute.

use super::words;
use crate::derive::taint;
use crate::formula::input::{item, part_of, record, word};
use crate::formula::spec::{Shape, Spec, may, needs, requires, vector};
use crate::types::taint::SanitizationNode;

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "taint_join_v1",
        version: "1.3.0",
        purpose: "How far something may be trusted that was made of others, and perhaps made safe on the way.",
        expression: "let greatest = or_else(first(in_order(inputs, ['unclassified', 'external_untrusted',
  'external_authority_trusted', 'user_trusted_bounded', 'internal_corpus_trusted'])), 'unclassified');
if sanitization.input_taint == greatest then sanitization.output_taint else greatest",
        inputs: &[
            needs("inputs", words!(taint::Taint), "the taint of each; of nothing nobody can say one"),
            may(
                "sanitization",
                part_of!(
                    SanitizationNode,
                    &[
                        needs("input_taint", word!(taint::Taint), ""),
                        needs("output_taint", word!(taint::Taint), ""),
                    ]
                ),
                "what was made safe on the way; it counts if just that went in",
            ),
        ],
        gives: Some(word!(taint::Taint)),
        vectors: &[
            vector(
                "two",
                r#"{"inputs":["user_trusted_bounded","external_untrusted"]}"#,
                "\"external_untrusted\"",
            ),
            vector(
                "made_safe",
                r#"{"inputs":["user_trusted_bounded","external_untrusted"],"sanitization":{"input_taint":"external_untrusted","output_taint":"user_trusted_bounded"}}"#,
                "\"user_trusted_bounded\"",
            ),
            vector(
                "something_else_was_made_safe",
                r#"{"inputs":["unclassified"],"sanitization":{"input_taint":"external_untrusted","output_taint":"user_trusted_bounded"}}"#,
                "\"unclassified\"",
            ),
            vector("nothing_is_known", r#"{"inputs":[]}"#, "\"unclassified\""),
            vector("missing_inputs", "{}", "\"the input inputs is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "source_taint_v1",
        purpose: "How far a source may be trusted: by its kind, why it is trusted, and what it was made of.",
        expression: "let is_met = count(required_trust_basis) == 0
  or count(in_order([trust_basis], required_trust_basis)) > 0;
first(in_order([default_taint_class, lineage_taint, if is_met then nothing else 'external_untrusted'],
  ['unclassified', 'external_untrusted', 'external_authority_trusted', 'user_trusted_bounded',
  'internal_corpus_trusted']))",
        inputs: &[
            needs("default_taint_class", word!(taint::Taint), "that of its kind"),
            needs(
                "required_trust_basis",
                words!(taint::TrustBasis),
                "one of these must be why it is trusted; none where the default stands by itself",
            ),
            may("trust_basis", word!(taint::TrustBasis), "why it is trusted"),
            may("lineage_taint", word!(taint::Taint), "that of what it was made of"),
        ],
        gives: Some(word!(taint::Taint)),
        vectors: &[
            vector(
                "backed",
                r#"{"default_taint_class":"external_authority_trusted","required_trust_basis":["official_api"],"trust_basis":"official_api"}"#,
                "\"external_authority_trusted\"",
            ),
            vector(
                "nothing_backs_it",
                r#"{"default_taint_class":"external_authority_trusted","required_trust_basis":["official_api"],"trust_basis":"web_unverified"}"#,
                "\"external_untrusted\"",
            ),
            vector(
                "own_output_does_not_launder",
                r#"{"default_taint_class":"internal_corpus_trusted","required_trust_basis":[],"lineage_taint":"external_untrusted"}"#,
                "\"external_untrusted\"",
            ),
            vector(
                "missing_default",
                r#"{"required_trust_basis":[]}"#,
                "\"the input default_taint_class is missing\"",
            ),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "workspace_holding_v1",
        purpose: "What a workspace counts for by what it holds: the greatest taint and data class, privilege, the matter.",
        expression:
            "let taints = in_order(column(holdings, 'taint_class'), ['unclassified', 'external_untrusted',
  'external_authority_trusted', 'user_trusted_bounded', 'internal_corpus_trusted']);
let classes = in_order(column(holdings, 'data_class'), ['local_only', 'privileged', 'internal', 'public']);
{taint_class: or_else(first(taints), 'internal_corpus_trusted'),
 data_class: or_else(first(classes), 'public'),
 privileged: count(where(holdings, 'privileged', true)) > 0,
 matter_id: first(told(column(holdings, 'matter_id')))}",
        inputs: &[needs(
            "holdings",
            Shape::List(&item(record(&[
                needs("taint_class", word!(taint::Taint), ""),
                needs("data_class", word!(taint::DataClass), ""),
                needs("privileged", Shape::Truth, ""),
                may("matter_id", Shape::Text, ""),
            ]))),
            "what is in it",
        )],
        // There is no whole of two matters.
        requires: &[requires(
            "holdings",
            "count(told(column(holdings, 'matter_id'))) == 0 or count(where(holdings, 'matter_id', first(told(column(holdings, 'matter_id'))))) == count(told(column(holdings, 'matter_id')))",
        )],
        gives: Some(record(&[
            needs("taint_class", word!(taint::Taint), ""),
            needs("data_class", word!(taint::DataClass), ""),
            needs("privileged", Shape::Truth, ""),
            may("matter_id", Shape::Text, ""),
        ])),
        vectors: &[
            vector(
                "the_worst_of_two",
                r#"{"holdings":[{"taint_class":"user_trusted_bounded","data_class":"internal","privileged":true},{"taint_class":"external_untrusted","data_class":"public","privileged":false,"matter_id":"m1"}]}"#,
                r#"{"taint_class":"external_untrusted","data_class":"internal","privileged":true,"matter_id":"m1"}"#,
            ),
            vector(
                "empty",
                r#"{"holdings":[]}"#,
                r#"{"taint_class":"internal_corpus_trusted","data_class":"public","privileged":false,"matter_id":null}"#,
            ),
            vector(
                "two_matters",
                r#"{"holdings":[{"taint_class":"unclassified","data_class":"public","privileged":false,"matter_id":"m1"},{"taint_class":"unclassified","data_class":"public","privileged":false,"matter_id":"m2"}]}"#,
                "\"the input holdings must be so that count(told(column(holdings, 'matter_id'))) == 0 or count(where(holdings, 'matter_id', first(told(column(holdings, 'matter_id'))))) == count(told(column(holdings, 'matter_id')))\"",
            ),
            vector("missing_holdings", "{}", "\"the input holdings is missing\""),
        ],
        ..Spec::PLAIN
    },
];
