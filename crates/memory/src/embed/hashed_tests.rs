//! What the offline embedder promises, in many writings.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use super::*;
use countersign_record::digest::Digest;
use proptest::prelude::*;

fn similarity(a: &str, b: &str) -> f32 {
    let (a, b) = (Hashed::default().embed(a), Hashed::default().embed(b));
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

/// A text; the same with a few characters or words changed; the same said otherwise; another of the same language.
#[rustfmt::skip] // one text per line
const TEXTS: &[(&str, [&str; 4])] = &[
    ("English", [
        "The tenant must repair the roof of the warehouse before the lease ends in March.",
        "The tenants must repair the roof of the warehouse before the lease ends in April.",
        "Before his lease is over, the roof of the warehouse is to be repaired by the tenant.",
        "She played the violin in a small orchestra that toured the coast every summer."]),
    ("English, one word", [
        "Meeting moved to Thursday, please confirm the budget figures with accounting.",
        "Meeting moved to Friday, please confirm the budget figures with accounting.",
        "Please confirm with accounting what the budget is; we meet on Thursday now.",
        "The old lighthouse keeper fed the seagulls and waited for the evening ship."]),
    ("German", [
        "Der Mieter muss das Dach des Lagerhauses vor dem Ende des Mietvertrags reparieren.",
        "Der Mieter muß das Dach der Lagerhalle vor dem Ende des Mietvertrages reparieren.",
        "Das Lagerhaus braucht ein neues Dach, und der Mieter zahlt vor Ende des Mietvertrags.",
        "Im Sommer spielte sie Geige in einem kleinen Orchester an der Küste."]),
    ("French", [
        "Le locataire doit réparer la toiture de l'entrepôt avant la fin du bail.",
        "Le locataire doit réparer la toiture des entrepôts avant la fin du bail commercial.",
        "Avant que le bail ne finisse, la toiture de l'entrepôt sera réparée par le locataire.",
        "Elle jouait du violon dans un petit orchestre qui voyageait chaque été."]),
    ("Spanish", [
        "El inquilino debe reparar el tejado del almacén antes de que termine el contrato.",
        "El inquilino debe reparar el tejado del almacen antes de que termine el contrato.",
        "Antes del fin del contrato, el tejado del almacén será reparado por el inquilino.",
        "Cada verano tocaba el violín en una pequeña orquesta de la costa."]),
    ("Russian", [
        "Арендатор должен отремонтировать крышу склада до окончания договора аренды.",
        "Арендаторы должны отремонтировать крышу склада до окончания договора аренды.",
        "До конца договора аренды крыша склада должна быть отремонтирована арендатором.",
        "Каждое лето она играла на скрипке в маленьком оркестре у моря."]),
    ("Greek", [
        "Ο ενοικιαστής πρέπει να επισκευάσει τη στέγη της αποθήκης πριν λήξει η μίσθωση.",
        "Ο ενοικιαστής πρέπει να επισκευάσει την στέγη της αποθήκης πριν λήξει η σύμβαση μίσθωσης.",
        "Πριν λήξει η μίσθωση, η στέγη της αποθήκης θα επισκευαστεί από τον ενοικιαστή.",
        "Κάθε καλοκαίρι έπαιζε βιολί σε μια μικρή ορχήστρα στην ακτή."]),
    ("Arabic", [
        "يجب على المستأجر إصلاح سقف المستودع قبل نهاية عقد الإيجار.",
        "يجب على المستأجر إصلاح سقف المستودع قبل نهاية عقد الايجار الحالي.",
        "قبل نهاية عقد الإيجار يقوم المستأجر بإصلاح سقف المستودع.",
        "كانت تعزف على الكمان في أوركسترا صغيرة كل صيف."]),
    ("Hebrew", [
        "השוכר חייב לתקן את גג המחסן לפני סיום חוזה השכירות.",
        "השוכרת חייבת לתקן את גג המחסן לפני סיום חוזה השכירות.",
        "לפני סיום חוזה השכירות, גג המחסן יתוקן על ידי השוכר.",
        "בכל קיץ היא ניגנה בכינור בתזמורת קטנה ליד הים."]),
    ("Hindi", [
        "किरायेदार को पट्टा समाप्त होने से पहले गोदाम की छत की मरम्मत करनी होगी।",
        "किरायेदार को पट्टा समाप्त होने से पहले गोदाम की छतों की मरम्मत करनी होगी।",
        "पट्टा समाप्त होने तक गोदाम की छत की मरम्मत किरायेदार करेगा।",
        "वह हर गर्मी में एक छोटे ऑर्केस्ट्रा में वायलिन बजाती थी।"]),
    ("Chinese", [
        "租客必须在三月租约结束之前修理仓库的屋顶。",
        "租客必须在四月租约结束之前修理仓库的屋顶。",
        "租约结束前，仓库屋顶要由租客修理。",
        "她每年夏天都在海边的小乐团里演奏小提琴。"]),
    ("Japanese", [
        "借主は三月の契約終了までに倉庫の屋根を修理しなければならない。",
        "借主は四月の契約終了までに倉庫の屋根を修理しなければならない。",
        "契約が終了する前に、倉庫の屋根は借主が修理する。",
        "彼女は毎年夏に海辺の小さな楽団でバイオリンを弾いていた。"]),
    ("Korean", [
        "임차인은 임대차 계약이 끝나기 전에 창고 지붕을 수리해야 한다.",
        "임차인은 임대차 계약이 끝나기 전까지 창고 지붕을 수리해야 합니다.",
        "창고 지붕은 임대차 계약이 끝나기 전에 임차인이 수리한다.",
        "그녀는 매년 여름 바닷가의 작은 악단에서 바이올린을 연주했다."]),
    ("Thai", [
        "ผู้เช่าต้องซ่อมหลังคาโกดังก่อนสัญญาเช่าสิ้นสุดในเดือนมีนาคม",
        "ผู้เช่าต้องซ่อมหลังคาโกดังก่อนสัญญาเช่าสิ้นสุดในเดือนเมษายน",
        "ก่อนสัญญาเช่าสิ้นสุด หลังคาโกดังต้องได้รับการซ่อมโดยผู้เช่า",
        "เธอเล่นไวโอลินในวงดนตรีเล็กริมทะเลทุกฤดูร้อน"]),
    ("Rust", [
        "pub fn read_rows(path: &Path) -> Result<Vec<Row>, Error> { let file = File::open(path)?; parse(file) }",
        "pub fn read_rows(place: &Path) -> Result<Vec<Row>, Error> { let input = File::open(place)?; parse(input) }",
        "fn parse_rows(file: File) -> Result<Vec<Row>, Error> { rows(file).collect() }",
        "impl Drop for Child { fn drop(&mut self) { self.process.kill().ok(); self.process.wait().ok(); } }"]),
    ("Python", [
        "def total(invoices):\n    return sum(line.amount for invoice in invoices for line in invoice.lines)",
        "def total(invoices):\n    return sum(line.price for invoice in invoices for line in invoice.lines)",
        "total = 0\nfor invoice in invoices:\n    for line in invoice.lines:\n        total += line.amount",
        "class Button(Widget):\n    def on_click(self, event):\n        self.window.close()"]),
];

#[test]
fn what_is_nearly_the_same_is_close_and_what_is_not_is_far() {
    for (language, [text, near, otherwise, unrelated]) in TEXTS {
        let [near, otherwise, unrelated] = [near, otherwise, unrelated].map(|other| similarity(text, other));
        let told = format!("{language}: near {near}, said otherwise {otherwise}, unrelated {unrelated}");
        assert!(near > 0.7 && near > unrelated + 0.4, "{told}");
        assert!(otherwise > unrelated + 0.15, "{told}");
    }
}

/// Every text against every other of the table, in all languages.
#[test]
fn texts_of_different_languages_are_far_apart() {
    for (at, (language, [text, ..])) in TEXTS.iter().enumerate() {
        for (other_language, [_, _, _, unrelated]) in TEXTS.iter().skip(at + 1) {
            let found = similarity(text, unrelated);
            assert!(found.abs() < 0.25, "{language} and {other_language}: {found}");
        }
    }
}

#[test]
fn the_form_of_a_letter_makes_no_difference() {
    for (a, b) in [("CAFÉ Müller", "cafe\u{301} mu\u{308}ller"), ("ﬁnal ＡＢＣ", "final abc"), ("ガス", "ｶﾞｽ")]
    {
        assert_eq!(Hashed::default().embed(a), Hashed::default().embed(b), "{a}");
    }
}

#[test]
fn a_text_without_features_is_zero() {
    for text in ["", " \n\t", "...!?", "\u{200b}\u{feff}", "\u{301}"] {
        assert_eq!(Hashed::default().embed(text), [0.0; DIMENSION], "{text:?}");
    }
    assert!(similarity("to be or not to be", "to be or not to be") > 0.999);
    assert!(similarity("🚀 ✅", "🚀 ✅") > 0.999);
}

/// The bits of every vector of the table, as every machine must make them. Another digest is another space, and needs
/// another name.
#[test]
fn vectors_have_the_same_bits_everywhere() {
    let mut bytes = Vec::new();
    for text in TEXTS.iter().flat_map(|(_, texts)| texts) {
        for number in Hashed::default().embed(text) {
            bytes.extend(number.to_le_bytes());
        }
    }
    let digest = Digest::of(&bytes).to_string();
    let golden = ("hashed:1", "5852317d5acbbb0ca9963fc4dd94d218ba7e3f4799529b1c8c042c3be46a09b8");
    assert_eq!((Hashed::default().name(), digest.as_str()), golden);
}

/// Megabytes of one word, of many, of marks, and of a character that is folded into eighteen.
#[test]
fn long_texts_are_embedded() {
    for piece in ["x", "租", "word ", "a\u{301}\u{302}", "\u{fdfa}"] {
        let text = piece.repeat((16 << 20) / piece.len() / 8);
        assert!(is_unit_or_zero(&Hashed::default().embed(&text)), "{piece}");
    }
}

fn is_unit_or_zero(vector: &[f32]) -> bool {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    vector.len() == DIMENSION && (vector.iter().all(|number| *number == 0.0) || (length - 1.0).abs() < 1e-6)
}

proptest! {
    /// One character in forty is another one.
    #[test]
    fn a_few_wrong_characters_leave_a_text_close(
        at in 0..TEXTS.len(),
        places in prop::collection::vec((any::<prop::sample::Index>(), prop::char::range('a', 'z')), 2),
    ) {
        let (language, [text, _, _, unrelated]) = TEXTS[at];
        let mut chars: Vec<char> = text.chars().collect();
        let count = (chars.len() / 40).clamp(1, 2);
        for (place, char) in places.into_iter().take(count) {
            let place = place.index(chars.len());
            chars[place] = char;
        }
        let near = similarity(text, &chars.into_iter().collect::<String>());
        let unrelated = similarity(text, unrelated);
        prop_assert!(near > 0.6 && near > unrelated + 0.35, "{}: near {}, unrelated {}", language, near, unrelated);
    }

    #[test]
    fn every_text_has_a_vector(texts in prop::collection::vec("\\PC{0,80}|.{0,40}|[a-z ]{0,200}", 1..4)) {
        let forward: Vec<_> = texts.iter().map(|text| Hashed::default().embed(text)).collect();
        let one = Hashed::default();
        let mut backward: Vec<_> = texts.iter().rev().map(|text| one.embed(text)).collect();
        backward.reverse();
        prop_assert_eq!(&forward, &backward);
        for vector in forward {
            prop_assert!(is_unit_or_zero(&vector));
        }
    }
}
