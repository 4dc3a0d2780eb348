//! Words that no command may have, whatever the rules of its program are.
//! Owns: the contract's list. Must not: be the only fence.

use super::refusal;
use countersign_runtime::ports::tool::NotDone;

/// Refused as whole words, also at the end of a path.
const WORDS: [&str; 8] = ["rm", "sudo", "chmod", "chown", "mkfs", "dd", "curl", "wget"];
/// Refused wherever they stand.
const PIECES: [&str; 2] = [":(){", ">/dev/sd"];

/// Whether none of them is there. A quoted text counts word by word.
pub(super) fn check(words: &[String]) -> Result<(), NotDone> {
    for word in words {
        let dense: String = word.chars().filter(|letter| !letter.is_whitespace()).collect();
        let piece = PIECES.into_iter().find(|piece| dense.contains(piece));
        let inner = || word.split_whitespace().map(|part| part.rsplit('/').next().unwrap_or(part));
        // `mkfs.ext4` is the same program.
        let listed = |part: &str| {
            let name = if part.starts_with("mkfs.") { "mkfs" } else { part };
            WORDS.into_iter().find(|listed| *listed == name)
        };
        if let Some(found) = piece.or_else(|| inner().find_map(listed)) {
            return Err(refusal(format!("no command may have the word {found}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(words: &[&str]) -> bool {
        check(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).is_err()
    }

    #[test]
    fn words_and_not_letters_are_refused() {
        for words in [
            &["rm", "x"][..],
            &["/bin/rm"],
            &["echo", "sudo ls"],
            &["echo", "mkfs.ext4"],
            &["echo", ": ( ) {"],
            &["echo", "x > /dev/sda"],
            &["echo", "wget"],
        ] {
            assert!(is_refused(words), "{words:?}");
        }
        for words in
            [&["echo", "curling"][..], &["cat", "sudoku.txt"], &["ls", "farm", "add"], &["echo", "chmods"]]
        {
            assert!(!is_refused(words), "{words:?}");
        }
    }
}
