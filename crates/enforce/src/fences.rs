//! The fenced blocks of a Markdown text, as CommonMark has them.
//! Owns: where a block begins and ends. Must not: know what is in it.

/// A text, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Markdown<'a> {
    /// Its fenced blocks.
    pub(crate) blocks: Vec<Block<'a>>,
    /// The lines outside of them that are not blank, with their numbers from 1.
    pub(crate) prose: Vec<(usize, &'a str)>,
}

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    /// What stands behind the opening fence.
    pub(crate) info: &'a str,
    /// What is in it, each line with its end.
    pub(crate) code: String,
    /// The line of the opening fence, from 1.
    pub(crate) line: usize,
    /// The last line: that of the closing fence.
    pub(crate) last_line: usize,
    /// Whether there is a closing fence.
    pub(crate) is_closed: bool,
}

/// An opening fence.
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

const FENCE_MIN: usize = 3;
const INDENT_MAX: usize = 3;

/// Takes a text apart. Only blocks at the outermost level are blocks: what stands in a list or a quotation is prose.
pub(crate) fn read(text: &str) -> Markdown<'_> {
    let mut markdown = Markdown::default();
    let mut open: Option<(Fence, Block<'_>)> = None;
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        match open.take() {
            None => match opening(line) {
                Some((fence, info)) => {
                    let code = String::new();
                    let block = Block { info, code, line: number, last_line: number, is_closed: false };
                    open = Some((fence, block));
                }
                None if line.trim().is_empty() => {}
                None => markdown.prose.push((number, line)),
            },
            Some((fence, mut block)) => {
                block.last_line = number;
                if closes(&fence, line) {
                    block.is_closed = true;
                    markdown.blocks.push(block);
                } else {
                    let indent = line.bytes().take(fence.indent).take_while(|byte| *byte == b' ').count();
                    block.code.push_str(line.get(indent..).unwrap_or_default());
                    block.code.push('\n');
                    open = Some((fence, block));
                }
            }
        }
    }
    markdown.blocks.extend(open.map(|(_, block)| block));
    markdown
}

fn opening(line: &str) -> Option<(Fence, &str)> {
    let (indent, mark, length, info) = fence(line)?;
    // Otherwise it is a piece of code in a line of prose.
    let is_block = mark == '~' || !info.contains('`');
    is_block.then_some((Fence { mark, length, indent }, info.trim()))
}

fn closes(open: &Fence, line: &str) -> bool {
    fence(line).is_some_and(|(_, mark, length, rest)| {
        mark == open.mark && length >= open.length && rest.trim().is_empty()
    })
}

/// The indent, the mark, how often it stands there, and the rest of the line.
fn fence(line: &str) -> Option<(usize, char, usize, &str)> {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    let mark = rest.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let info = rest.trim_start_matches(mark);
    let length = rest.len() - info.len();
    (indent <= INDENT_MAX && length >= FENCE_MIN).then_some((indent, mark, length, info))
}

/// Code in a fence that nothing in it closes.
pub(crate) fn fenced(code: &str, language: &str) -> String {
    let longest = code.lines().filter_map(fence).filter(|(_, mark, ..)| *mark == '`').map(|found| found.2);
    let marks = "`".repeat(longest.max().map_or(FENCE_MIN, |length| length + 1));
    let end = if code.ends_with('\n') { "" } else { "\n" };
    format!("{marks}{language}\n{code}{end}{marks}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, blocks: &[(&str, &str, bool)], prose: &[usize]) {
        let found = read(text);
        let shown: Vec<(&str, &str, bool)> =
            found.blocks.iter().map(|block| (block.info, block.code.as_str(), block.is_closed)).collect();
        assert_eq!(shown, blocks, "{text:?}");
        assert_eq!(found.prose.iter().map(|(line, _)| *line).collect::<Vec<_>>(), prose, "{text:?}");
    }

    #[test]
    fn blocks() {
        check("", &[], &[]);
        check("```python\na\n```\n", &[("python", "a\n", true)], &[]);
        check("x\n\n```\n```\ny", &[("", "", true)], &[1, 5]);
        check("```\na\n", &[("", "a\n", false)], &[]);
        check("````md\n```\n````", &[("md", "```\n", true)], &[]);
        check("~~~ py x.py\n```\n~~~~", &[("py x.py", "```\n", true)], &[]);
        check("  ```\n    a\n b\n  ```", &[("", "  a\nb\n", true)], &[]);
        check("    ```\n```", &[("", "", false)], &[1]);
        check("```a`b\n", &[], &[1]);
        check("- ```\n", &[], &[1]);
        check("```\na\n``` x\n", &[("", "a\n``` x\n", false)], &[]);
    }

    proptest! {
        #[test]
        fn what_is_fenced_is_read_again(code in "([`~a ]{0,6}\n){0,8}") {
            let text = fenced(&code, "python");
            let found = read(&text);
            prop_assert_eq!(found.blocks.len(), 1);
            prop_assert!(found.prose.is_empty());
            let block = found.blocks.first().unwrap();
            prop_assert!(block.is_closed);
            // An empty code gets the one line that it lacks.
            prop_assert_eq!(block.code.trim_end_matches('\n'), code.trim_end_matches('\n'));
        }

        #[test]
        fn no_text_is_too_strange(text in "[`~ \ta\n\r]{0,60}") {
            let found = read(&text);
            prop_assert!(found.blocks.iter().rev().skip(1).all(|block| block.is_closed));
        }
    }
}
