//! What texts of the language come to.

use super::*;
use crate::formula::parse::parse;
use countersign_record::json;
use std::string::ToString;

/// What a text gives for an input `given`; what is wrong, in words.
fn computed(text: &'static str, given: &Json) -> String {
    let expression = match parse(text, &["given"]) {
        Ok(expression) => expression,
        Err(error) => return error.to_string(),
    };
    let mut places = Places::default();
    places.named.push(Value::from(given));
    let found = compute(&expression, &mut places);
    assert_eq!((places.named.len(), places.work.len()), (1, 0), "{text} leaves something behind");
    match found {
        Ok(value) => json::to_text(&value.json(&|number| number).unwrap()).unwrap(),
        Err(Stop::Input(refused)) => {
            format!("{} {} {:?}", refused.inside.join("/"), refused.message, refused.code)
        }
        Err(stop) => stop.to_string(),
    }
}

#[test]
fn each_item_of_a_list_gives_something() {
    let given =
        json::parse(br#"{"items":[{"x":3,"id":"a"},{"id":"b"},{"x":1,"id":"c"}],"at":{"b":2}}"#).unwrap();
    for (text, expected) in [
        ("[for one in given.items: one.id]", r#"["a","b","c"]"#),
        ("[for one in given.items if present(one.x): one.x * 2]", "[6,2]"),
        // The place is that of the whole list.
        ("[for one, place in given.items if one.id != 'a': [place, one.id]]", r#"[[1,"b"],[2,"c"]]"#),
        ("[for one in []: refuse(nothing, [], 'never')]", "[]"),
        ("[for one in [1, 2]: [for other, place in [10, 20]: one + other + place]]", "[[11,22],[12,23]]"),
        // A name is where the text says, however much is computed around it.
        (
            "1 + count([1, 2]) * sum([for one in [1, 2]: (let twice = one * 2; twice + sum([one, one]))])",
            "25",
        ),
        ("let one = 7; sum([for one in [1, 2]: one]) + one", "10"),
        ("(let a = 1; a) + (let b = 2; b)", "3"),
        ("[for one in given.items if (let x = or_else(one.x, 0); x > 1): one.id]", r#"["a"]"#),
        ("[for name in names(given.at): at(given.at, name)]", "[2]"),
        (
            "by_name(column(given.items, 'id'), [for one, place in given.items: place])",
            r#"{"a":0,"b":1,"c":2}"#,
        ),
        ("filled({a: 1, b: nothing})", r#"{"a":1}"#),
        ("at([1, 2], 2)", "null"),
        ("again(['a', 'b', 'a'])", "[false,false,true]"),
        ("unique(['b', 'a', 'b'])", r#"["a","b"]"#),
        ("joined([['a'], nothing, ['b', 'a']])", r#"["a","b","a"]"#),
        ("phrase(['draws: ', 20])", r#""draws: 20""#),
        ("[is_number(1), is_number('NaN'), is_number(nothing)]", "[true,false,false]"),
        // The first that is refused is told.
        (
            "[for one, place in given.items: if present(one.x) then one.x else refuse('criterion_weight_invalid', ['items', place], 'has none')]",
            "items/1 has none Some(\"criterion_weight_invalid\")",
        ),
        ("refuse('no_code_of_ours', [], '')", "there is no code no_code_of_ours"),
        ("[for one in given: one]", "object is no list"),
        ("[for one in [1]: one] == one", "line 1: there is no one"),
        ("[for one in one: one]", "line 1: there is no one"),
        ("[for one [1]: one]", "line 1: here must be in"),
        ("[for one in [1] one]", "line 1: here must be a colon"),
        ("[for one in [1]: one", "line 1: here must be ]"),
    ] {
        assert_eq!(computed(text, &given), expected, "{text}");
    }
}
