//! The page: tables and plots in one file that needs no other.

use super::Figure;
use super::plot::escape;
use super::run::Run;
use super::tally::{Disagreement, Group, Tally, disagreements, groups};
use crate::suite::{Word, size};
use std::fmt::Write;

const FRAME: &str = include_str!("page.html");

pub fn page(runs: &[Run], figures: &[Figure]) -> String {
    let mut body = String::new();
    body += &section("Runs", &overview(runs));
    for Figure { caption, svg, .. } in figures {
        let _ = writeln!(body, "<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>", escape(caption));
    }
    body += &section("By network", &by_network(runs));
    body += &section("Disagreements", &contradictions(runs));
    body += &section("Trouble", &troubles(runs));
    FRAME.replace("{{body}}", body.trim_end())
}

fn section(title: &str, content: &str) -> String {
    format!("<h2>{title}</h2>\n{content}\n")
}

fn overview(runs: &[Run]) -> String {
    let mut table = Table::new();
    let certified = if runs.iter().any(is_certified) { &CERTIFICATES[..] } else { &[] };
    let mut head = vec![
        ("name", "run"),
        ("", "instances"),
        ("", "unsat"),
        ("", "sat"),
        ("", "timeout"),
        ("", "unknown"),
        ("", "error"),
        ("", "mean s"),
        ("", "LP calls"),
    ];
    head.extend(certified.iter().map(|(column, _)| ("", *column)));
    head.push(("why", "settings"));
    table.head(&head);
    for run in runs {
        let tally = Tally::of(run.outcomes.iter());
        let count = |word: Word| run.outcomes.iter().filter(|outcome| outcome.verdict == word).count().to_string();
        let words = [Word::Unsat, Word::Sat, Word::Timeout, Word::Unknown, Word::Error].map(count);
        let mut cells = vec![("name", run.name.clone()), ("", tally.instances.to_string())];
        cells.extend(words.map(|count| ("", count)));
        cells.extend([("", seconds(tally.mean_seconds)), ("", calls(tally.mean_lp_calls))]);
        cells.extend(certified.iter().map(|(_, text)| ("", text(&tally))));
        cells.push(("why", settings(run)));
        table.row("", &cells);
    }
    let mut note = String::from("Means are over the instances that the run decided.");
    if !certified.is_empty() {
        note += " Certificates are those that pg-check accepted, of those that were written, with their mean size and the mean \
                 time to judge one.";
    }
    table.finish() + &format!("\n<p>{note}</p>")
}

/// Those of the search; the list's hash is of no use to a reader.
fn settings(run: &Run) -> String {
    let known = run.settings.iter().filter_map(|settings| settings.as_object()).flatten();
    let shown = known.filter(|(name, value)| !value.is_null() && *name != "list_sha256");
    let texts = shown.map(|(name, value)| format!("{name} {}", value.to_string().trim_matches('"')));
    texts.collect::<Vec<_>>().join(", ")
}

/// A row for each network and radius, and for each run its columns.
fn by_network(runs: &[Run]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let groups = groups(first);
    let has_eps = groups.iter().any(|group| group.eps.is_some());
    let mut table = Table::new();
    let above = runs
        .iter()
        .map(|run| format!("<th class=\"run\" colspan=\"{}\">{}</th>", columns(run).len(), escape(&run.name)));
    let above: String = above.collect();
    let _ = writeln!(table.text, "<tr><th colspan=\"{}\"></th>{above}</tr>", 1 + usize::from(has_eps));
    let mut head = vec![("name", "network")];
    head.extend(has_eps.then_some(("", "eps")));
    for run in runs {
        head.extend(columns(run).into_iter().enumerate().map(|(k, (column, _))| (edge(k), column)));
    }
    table.head(&head);
    let cells = |start: Vec<(&'static str, String)>, tally: &dyn Fn(&Run) -> Tally| {
        let of_run = |run| {
            let tally = tally(run);
            columns(run).into_iter().enumerate().map(move |(k, (_, text))| (edge(k), text(&tally)))
        };
        start.into_iter().chain(runs.iter().flat_map(of_run)).collect::<Vec<_>>()
    };
    let folder = shared_folder(&groups);
    for group in &groups {
        let Group { network, eps } = group;
        let mut start = vec![("name", network[folder..].to_string())];
        start.extend(has_eps.then(|| ("", eps.clone().unwrap_or_default())));
        table.row("", &cells(start, &|run| group.tally(run, first)));
    }
    let mut start = vec![("name", "all".to_string())];
    start.extend(has_eps.then(|| ("", String::new())));
    table.row("total", &cells(start, &|run| Tally::of(run.outcomes.iter())));
    table.finish()
}

/// What is shown of a run in the table by network: a name, and the text for a tally. What it did not count has no column.
type Column = (&'static str, fn(&Tally) -> String);

/// Of certificates, where there are any.
const CERTIFICATES: [Column; 3] = [
    ("certificates", |tally| match tally.certificates {
        0 => "–".into(),
        all => format!("{} of {all}", tally.accepted),
    }),
    ("size", |tally| tally.mean_bytes.map_or("–".into(), size)),
    ("judge s", |tally| seconds(tally.mean_judging)),
];

fn is_certified(run: &Run) -> bool {
    run.outcomes.iter().any(|outcome| outcome.certificate.is_some())
}

fn columns(run: &Run) -> Vec<Column> {
    let all = Tally::of(run.outcomes.iter());
    let mut columns: Vec<Column> = vec![
        ("unsat", |tally| tally.unsat.to_string()),
        ("sat", |tally| tally.sat.to_string()),
        ("undecided", |tally| tally.undecided().to_string()),
    ];
    if all.mean_seconds.is_some() {
        columns.push(("mean s", |tally| seconds(tally.mean_seconds)));
    }
    if all.mean_lp_calls.is_some() {
        columns.push(("LP calls", |tally| calls(tally.mean_lp_calls)));
    }
    if is_certified(run) {
        columns.extend(CERTIFICATES);
    }
    columns
}

/// The length of the folder that all networks are in: it would only make the table wide.
fn shared_folder(groups: &[Group]) -> usize {
    let Some(first) = groups.first().map(|group| &group.network) else { return 0 };
    let is_shared = |length: &usize| groups.iter().all(|group| group.network.starts_with(&first[..*length]));
    first.match_indices('/').map(|(slash, _)| slash + 1).filter(is_shared).max().unwrap_or(0)
}

fn edge(column: usize) -> &'static str {
    if column == 0 { "edge" } else { "" }
}

fn contradictions(runs: &[Run]) -> String {
    let found = disagreements(runs);
    if found.is_empty() {
        return "<p>None: no two runs decided an instance differently.</p>".into();
    }
    let mut table = Table::new();
    let mut head = vec![("name", "network"), ("name", "property")];
    head.extend(runs.iter().map(|run| ("", run.name.as_str())));
    table.head(&head);
    for Disagreement { network, property, verdicts } in found {
        let words = verdicts.iter().map(|word| ("", word.map_or("–".into(), |word| word.to_string())));
        let cells = [("name", network.to_string()), ("name", property.to_string())].into_iter().chain(words);
        table.row("", &cells.collect::<Vec<_>>());
    }
    table.finish()
}

/// Instances that ended otherwise than by their verifier, or whose certificate was not accepted.
fn troubles(runs: &[Run]) -> String {
    let mut table = Table::new();
    table.head(&[("name", "run"), ("name", "network"), ("name", "property"), ("name", "verdict"), ("name", "why")]);
    let mut count = 0;
    for run in runs {
        for outcome in &run.outcomes {
            let Some(trouble) = &outcome.trouble else { continue };
            let texts =
                [&run.name, &outcome.network, &outcome.property, &outcome.verdict.to_string()].map(String::clone);
            let mut cells: Vec<_> = texts.into_iter().map(|text| ("name", text)).collect();
            cells.push(("why", trouble.clone()));
            table.row("", &cells);
            count += 1;
        }
    }
    if count == 0 {
        "<p>None: no verifier crashed, was killed or refused an instance, and no certificate was rejected.</p>".into()
    } else {
        table.finish()
    }
}

fn seconds(mean: Option<f64>) -> String {
    mean.map_or("–".into(), |mean| if mean < 10.0 { format!("{mean:.2}") } else { format!("{mean:.1}") })
}

fn calls(mean: Option<f64>) -> String {
    mean.map_or("–".into(), |mean| if mean < 10.0 { format!("{mean:.1}") } else { format!("{mean:.0}") })
}

/// Rows of cells, each with its class.
struct Table {
    text: String,
}

impl Table {
    fn new() -> Table {
        Table { text: String::from("<table>\n") }
    }

    fn head(&mut self, cells: &[(&str, &str)]) {
        self.line("", "th", cells.iter().copied());
    }

    fn row(&mut self, class: &str, cells: &[(&str, String)]) {
        self.line(class, "td", cells.iter().map(|(class, text)| (*class, text.as_str())));
    }

    fn line<'a>(&mut self, class: &str, tag: &str, cells: impl Iterator<Item = (&'a str, &'a str)>) {
        let attribute = |class: &str| if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let cells: String =
            cells.map(|(class, text)| format!("<{tag}{}>{}</{tag}>", attribute(class), escape(text))).collect();
        let _ = writeln!(self.text, "<tr{}>{cells}</tr>", attribute(class));
    }

    fn finish(self) -> String {
        self.text + "</table>"
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::sample;
    use super::*;
    use crate::suite::{Certificate, Judgement};

    #[test]
    fn a_page_tells_all_and_needs_no_other_file() {
        let mut first = sample("ours <1>", &[(Word::Unsat, 1.0), (Word::Sat, 2.0), (Word::Error, 0.0)]);
        first.outcomes[2].trouble = Some("ended by signal 9".into());
        let second = sample("theirs", &[(Word::Unsat, 1.0), (Word::Unsat, 20.0)]);
        let figure = Figure { file: "cactus.svg".into(), caption: "Solved".into(), svg: "<svg></svg>\n".into() };
        let page = page(&[first, second], &[figure]);
        assert!(page.contains("ours &lt;1&gt;") && page.contains("<svg></svg>") && page.contains("ended by signal 9"));
        assert!(
            page.contains("<td class=\"name\">n1</td><td class=\"name\">p</td><td>sat</td><td>unsat</td>"),
            "{page}"
        );
        assert!(!page.contains("href=") && !page.contains("src=") && !page.contains("{{"), "{page}");
    }

    #[test]
    fn certificates_have_columns_where_there_are_any() {
        let judged = |bytes, judgement| Some(Certificate { bytes, seconds: 0.25, judgement, arithmetic: None });
        let mut run = sample("ours", &[(Word::Unsat, 1.0), (Word::Unsat, 1.0)]);
        let plain = page(&[sample("theirs", &[(Word::Unsat, 1.0)])], &[]);
        assert!(!plain.contains("certificates</th>") && !plain.contains("judge s"));
        run.outcomes[0].certificate = judged(27_000, Judgement::Accepted);
        run.outcomes[1].certificate = judged(29_000, Judgement::Rejected("record 7".into()));
        let page = page(&[run, sample("theirs", &[(Word::Unsat, 1.0)])], &[]);
        assert!(page.contains("<td>1 of 2</td><td>28 kB</td><td>0.25</td>"), "{page}");
        assert!(page.contains("<td>1 of 1</td><td>27 kB</td><td>0.25</td>"), "by network: {page}");
        assert!(page.contains("<td>–</td><td>–</td><td>–</td>"), "of the others nothing is known: {page}");
    }

    #[test]
    fn a_shared_folder_is_left_out() {
        let length = |networks: &[&str]| {
            let group = |network: &&str| Group { network: network.to_string(), eps: None };
            shared_folder(&networks.iter().map(group).collect::<Vec<_>>())
        };
        assert_eq!(length(&["onnx/a.onnx", "onnx/b.onnx"]), 5);
        assert_eq!(length(&["x/onnx/a.onnx", "x/other/a.onnx"]), 2);
        assert_eq!((length(&["a.onnx"]), length(&["onnx/a.onnx", "b.onnx"]), length(&[])), (0, 0, 0));
    }

    #[test]
    fn radii_have_a_column_of_their_own() {
        let mut run = sample("a", &[(Word::Unsat, 1.0)]);
        assert!(!by_network(std::slice::from_ref(&run)).contains("eps"));
        run.outcomes[0].eps = Some("0.02".into());
        assert!(by_network(&[run]).contains("<td>0.02</td>"));
    }
}
