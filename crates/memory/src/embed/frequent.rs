//! Words that say nothing about a text's subject.
//! Owns: the table. Must not: hold a word that names a thing.
//!
//! The most frequent words of two dozen languages and of programs, as `words` folds them; for Chinese and Japanese the
//! frequent characters, which are all of hiragana: it writes particles and endings. The languages share one table,
//! because a text does not say which it is in.

/// Whether the word, folded, is in the table.
pub(super) fn is(word: &str) -> bool {
    FREQUENT.binary_search(&word).is_ok()
}

/// In the order of their bytes.
#[rustfmt::skip] // words in rows, not one to a line
const FREQUENT: &[&str] = &[
    "a", "aan", "aber", "about", "aby", "acaba", "ad", "ada", "adalah", "after", "ai", "akan", "al", "ale",
    "algo", "all", "alla", "alle", "allem", "allen", "aller", "alles", "allo", "allt", "als", "also",
    "altijd", "am", "ama", "an", "ancak", "anche", "ancora", "and", "ander", "andere", "anderen", "antes",
    "any", "ao", "aos", "aquela", "aquele", "are", "as", "aslında", "at", "atau", "att", "até", "au",
    "auch", "auf", "aus", "aussi", "autre", "aux", "av", "avait", "avant", "avec", "avere", "avoir", "az",
    "bagi", "bardzo", "bazı", "be", "because", "been", "before", "bei", "beim", "being", "belki", "ben",
    "beni", "benim", "between", "bez", "bij", "bile", "bin", "bir", "biraz", "bis", "bisa", "bist", "biz",
    "bize", "blev", "bli", "bo", "both", "bu", "bunu", "but", "by", "być", "był", "była", "było", "były",
    "böyle", "będzie", "bị", "c", "can", "catch", "ce", "ceci", "cela", "celle", "celui", "ces", "cet",
    "cette", "che", "chez", "chi", "cho", "ci", "class", "co", "coi", "col", "com", "come", "comme", "como",
    "con", "const", "contra", "contro", "could", "cual", "cuando", "cui", "czy", "các", "có", "của", "d",
    "da", "daar", "daha", "dal", "dalam", "dalla", "damit", "dan", "dann", "dans", "dapat", "dari", "das",
    "dass", "dat", "de", "def", "dei", "dein", "deine", "del", "dela", "dele", "dell", "della", "delle",
    "dello", "dem", "den", "dengan", "denn", "denna", "depois", "depuis", "der", "des", "desde", "det",
    "detta", "deux", "deze", "değil", "di", "dia", "did", "die", "dies", "diese", "diesem", "diesen",
    "dieser", "dieses", "dig", "din", "dit", "diye", "dla", "do", "doch", "doen", "does", "doing", "don",
    "donde", "dont", "door", "dort", "dos", "dove", "down", "du", "durante", "durch", "during", "dus",
    "där", "då", "e", "each", "ed", "een", "eens", "efter", "ein", "eine", "einem", "einen", "einer",
    "eines", "ej", "el", "ela", "elas", "ele", "eles", "ella", "ellas", "elle", "eller", "elles", "ellos",
    "else", "em", "en", "encore", "entre", "enum", "er", "era", "es", "esa", "ese", "eso", "essa", "esse",
    "essere", "est", "esta", "estaba", "estado", "estar", "este", "esto", "estos", "está", "et", "ett",
    "etwas", "eu", "euch", "euer", "except", "fa", "fait", "false", "faut", "few", "fn", "foi", "font",
    "for", "foram", "fra", "from", "från", "fue", "function", "further", "för", "für", "gdy", "ge", "geen",
    "gegen", "get", "gibi", "gli", "go", "got", "ha", "haar", "haben", "había", "had", "hade", "han",
    "hanno", "hans", "har", "has", "hasta", "hat", "hatte", "hatten", "have", "having", "hay", "he", "heb",
    "hebben", "heeft", "hem", "henne", "hennes", "hep", "her", "here", "hers", "het", "hier", "hij", "him",
    "hinter", "his", "hiç", "ho", "hoe", "hon", "honom", "how", "hun", "hur", "há", "här", "i", "ich",
    "icke", "iemand", "iets", "if", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer", "ik",
    "il", "ile", "ils", "im", "impl", "import", "in", "indem", "ini", "inom", "ins", "int", "inte", "into",
    "io", "is", "ise", "isn", "isso", "ist", "isto", "it", "its", "itu", "için", "j", "ja", "jag", "jak",
    "jako", "je", "jede", "jedem", "jeden", "jeder", "jedes", "jego", "jej", "jest", "jeszcze", "jetzt",
    "ju", "juga", "jusqu", "just", "już", "já", "kadar", "kami", "kan", "kann", "karena", "każdy", "ke",
    "kein", "keine", "keinem", "keinen", "keiner", "không", "ki", "kim", "kita", "kon", "która", "które",
    "który", "kunde", "kunnen", "können", "könnte", "l", "la", "las", "le", "lei", "les", "let", "leur",
    "leurs", "lhe", "li", "like", "ll", "lo", "loop", "loro", "los", "lui", "là", "làm", "m", "ma", "maar",
    "made", "mais", "make", "man", "mas", "match", "may", "me", "med", "meer", "mehr", "mein", "meine",
    "mellan", "men", "mereka", "mes", "mesmo", "met", "meu", "mi", "mia", "mich", "mig", "might", "mij",
    "mijn", "min", "minha", "mio", "mir", "mis", "mit", "mnie", "moet", "moi", "mon", "more", "most", "mot",
    "może", "mu", "much", "mucho", "muito", "muss", "must", "mut", "muy", "my", "mycket", "más", "même",
    "mü", "mı", "một", "n", "na", "naar", "nach", "nad", "nada", "nas", "nasıl", "ne", "neden", "negli",
    "nei", "nel", "nella", "nem", "new", "những", "ni", "nich", "nicht", "nichts", "nie", "niego", "niet",
    "niets", "no", "noch", "nog", "noi", "non", "none", "nor", "nos", "nosotros", "nossa", "nosso",
    "nostro", "not", "notre", "nous", "now", "nu", "null", "num", "numa", "nun", "nur", "này", "não", "när",
    "någon", "något", "några", "o", "ob", "och", "od", "oder", "of", "off", "ohne", "olan", "olarak",
    "oldu", "olduğu", "oleh", "olur", "om", "omdat", "on", "ona", "once", "onder", "one", "oni", "onlar",
    "only", "ons", "ont", "onu", "ook", "op", "or", "oraz", "os", "oss", "other", "otra", "otro", "ou",
    "our", "out", "over", "own", "où", "pada", "par", "para", "parce", "pas", "pela", "pelo", "pendant",
    "per", "perché", "pero", "peu", "peut", "più", "plus", "po", "poco", "pod", "por", "porque", "pour",
    "pourquoi", "private", "przed", "przez", "przy", "pub", "public", "pues", "può", "på", "qu", "qual",
    "quale", "quand", "quando", "quanto", "que", "quel", "quelle", "quello", "quem", "questa", "queste",
    "questi", "questo", "qui", "quien", "qué", "re", "return", "s", "sa", "said", "same", "samma", "sans",
    "saya", "se", "sea", "sebagai", "sedan", "sehr", "sei", "sein", "seine", "seinem", "seinen", "seiner",
    "selbst", "self", "selon", "sem", "sen", "ser", "sera", "ses", "seu", "seus", "shall", "she", "should",
    "si", "sia", "sich", "sido", "sie", "sig", "sin", "sind", "siz", "się", "ska", "skulle", "so", "sobre",
    "solche", "soll", "sollte", "som", "some", "son", "sondern", "sono", "sont", "sous", "static", "str",
    "string", "struct", "su", "sua", "suas", "such", "sudah", "sue", "sul", "sulla", "suo", "sur", "sus",
    "swoje", "são", "så", "sí", "só", "są", "t", "ta", "tak", "także", "tam", "también", "também", "tan",
    "tanto", "te", "tegen", "tego", "tej", "telah", "tem", "ten", "tes", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "through", "tidak", "tiene", "till", "tinha",
    "to", "toch", "todo", "todos", "toen", "toi", "ton", "too", "tot", "tous", "tout", "toute", "toutes",
    "tra", "trong", "true", "try", "très", "tu", "tus", "tutti", "tutto", "two", "ty", "tych", "tylko",
    "tym", "tôi", "tüm", "từ", "u", "uit", "um", "uma", "un", "una", "und", "under", "une", "uno", "unos",
    "uns", "unser", "unter", "until", "untuk", "up", "upon", "upp", "us", "use", "ut", "utan", "uw", "vad",
    "van", "var", "vara", "varit", "ve", "veel", "vers", "very", "veya", "vi", "vid", "viel", "vilken",
    "você", "voi", "void", "vom", "von", "voor", "vor", "vos", "votre", "vous", "và", "về", "với", "w",
    "want", "war", "waren", "was", "wasn", "wat", "we", "weil", "wenn", "wer", "werd", "werden", "were",
    "wezen", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "wie", "wieder",
    "wil", "will", "wir", "wird", "with", "within", "without", "więc", "wo", "worden", "wordt", "would",
    "wszystko", "wurde", "wurden", "y", "ya", "yang", "yani", "yes", "yet", "yo", "yok", "you", "your", "z",
    "za", "zal", "ze", "zelf", "zich", "zij", "zijn", "zo", "zonder", "zou", "zu", "zum", "zur", "zwischen",
    "à", "än", "är", "çok", "çünkü", "è", "él", "étaient", "était", "été", "être", "über", "đang", "đã",
    "được", "để", "şey", "şu", "że", "ή", "αν", "από", "για", "δεν", "είναι", "η", "θα", "και", "μας", "με",
    "να", "ο", "οι", "που", "σε", "στη", "στην", "στο", "τα", "τη", "την", "της", "το", "τον", "του", "των",
    "ως", "а", "але", "б", "без", "би", "более", "був", "була", "були", "було", "бути", "бы", "был", "была",
    "были", "было", "быть", "в", "вам", "вас", "весь", "ви", "во", "вона", "вони", "вот", "все", "всего",
    "всех", "всё", "всі", "вы", "від", "він", "где", "да", "даже", "де", "для", "до", "его", "ее", "если",
    "есть", "еще", "ещё", "её", "же", "з", "за", "здесь", "и", "из", "или", "им", "их", "й", "його", "к",
    "как", "ко", "когда", "коли", "кто", "ли", "либо", "ми", "мне", "может", "мы", "на", "над", "надо",
    "наш", "не", "него", "нее", "нет", "ни", "них", "но", "ну", "ні", "о", "об", "однако", "он", "она",
    "они", "оно", "от", "очень", "по", "под", "при", "про", "під", "с", "со", "та", "так", "также", "також",
    "такой", "там", "те", "тем", "ти", "то", "того", "тоже", "той", "только", "том", "тому", "ты", "у",
    "уже", "хотя", "це", "цей", "ця", "ці", "чего", "чем", "что", "чтобы", "чье", "чья", "що", "щоб", "эта",
    "эти", "это", "этого", "этой", "этом", "этот", "я", "як", "яка", "який", "які", "є", "і", "із", "їх",
    "її", "אבל", "או", "אך", "אם", "אנחנו", "אני", "את", "אתה", "בין", "גם", "הוא", "היא", "היה", "הם",
    "זאת", "זה", "יש", "כי", "כל", "לא", "מה", "מי", "עד", "על", "עם", "רק", "של", "שלא", "آن", "أن", "أنا",
    "أنت", "أو", "أي", "إذا", "إلى", "إن", "از", "است", "التي", "الذي", "الذين", "الى", "اما", "ان", "او",
    "اگر", "این", "با", "باید", "بر", "برای", "بعد", "بل", "به", "بها", "بود", "بين", "تا", "تلك", "ثم",
    "حتى", "حول", "خود", "دارد", "در", "ذلك", "را", "شد", "شده", "على", "علي", "عن", "عند", "غير", "في",
    "فيه", "فيها", "قال", "قبل", "قد", "كان", "كانت", "كل", "كما", "كيف", "لا", "لان", "لدى", "لقد", "لكن",
    "لم", "له", "لها", "ليس", "ما", "مع", "من", "منذ", "منه", "منها", "می", "نحن", "نحو", "نیز", "نیست",
    "ها", "هذا", "هذه", "هر", "هل", "هم", "هنا", "هناك", "هو", "هي", "و", "وقد", "ولا", "وهو", "وهي", "يا",
    "يكون", "چه", "کرد", "کرده", "که", "یا", "یک", "अपना", "अपनी", "अपने", "अब", "आप", "इन", "इस", "इसके",
    "उन", "उनके", "उस", "उसके", "एक", "ऐसा", "और", "कर", "करना", "करने", "कहा", "का", "कि", "किया", "किसी",
    "की", "कुछ", "के", "को", "कोई", "गई", "गए", "गया", "जब", "जा", "जाता", "जाती", "जैसे", "जो", "तक",
    "तथा", "तो", "था", "थी", "थे", "दिया", "द्वारा", "न", "नहीं", "ने", "पर", "फिर", "बहुत", "भी", "में",
    "मैं", "यदि", "यह", "यहाँ", "या", "ये", "रहा", "रही", "रहे", "लिए", "लेकिन", "वह", "वाले", "वे", "सकता",
    "सकते", "सभी", "साथ", "से", "हम", "ही", "हुआ", "हुई", "हुए", "है", "हैं", "हो", "होता", "होती", "होने",
    "ぁ", "あ", "ぃ", "い", "ぅ", "う", "ぇ", "え", "ぉ", "お", "か", "が", "き", "ぎ", "く", "ぐ", "け", "げ", "こ", "ご", "さ",
    "ざ", "し", "じ", "す", "ず", "せ", "ぜ", "そ", "ぞ", "た", "だ", "ち", "ぢ", "っ", "つ", "づ", "て", "で", "と", "ど", "な",
    "に", "ぬ", "ね", "の", "は", "ば", "ぱ", "ひ", "び", "ぴ", "ふ", "ぶ", "ぷ", "へ", "べ", "ぺ", "ほ", "ぼ", "ぽ", "ま", "み",
    "む", "め", "も", "ゃ", "や", "ゅ", "ゆ", "ょ", "よ", "ら", "り", "る", "れ", "ろ", "ゎ", "わ", "ゐ", "ゑ", "を", "ん", "ゔ",
    "ゕ", "ゖ", "ー", "一", "上", "下", "不", "与", "个", "中", "为", "之", "也", "了", "于", "从", "他", "以", "们", "会", "但",
    "你", "其", "则", "到", "及", "可", "向", "和", "在", "她", "它", "对", "将", "就", "并", "很", "我", "或", "所", "把", "是",
    "有", "的", "着", "等", "给", "而", "被", "要", "让", "说", "这", "那", "都", "것", "그", "그리고", "나는", "더", "등", "및",
    "수", "우리", "이", "있는", "있다", "저", "하는", "한",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::words;

    /// Otherwise a word would not be found.
    #[test]
    fn the_table_is_sorted_and_holds_whole_folded_words() {
        assert!(FREQUENT.is_sorted_by(|a, b| a < b));
        for word in FREQUENT {
            let mut runs = Vec::new();
            words::each(word, |run, _| runs.push(run.iter().collect::<String>()));
            assert_eq!(runs, [*word]);
        }
    }
}
