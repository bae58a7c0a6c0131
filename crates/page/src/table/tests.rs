//! One table with everything, in every format.

use super::*;
use crate::mean_std::MeanStd;
use crate::number;

fn paper(cells: Vec<TableCell>) -> Row {
    Row { kind: RowKind::Paper, cells }
}

fn loss(over_runs: MeanStd) -> TableCell {
    TableCell::mean_std(over_runs, |value| number::decimals(value, 6), 1.0)
}

fn accuracy(over_runs: MeanStd) -> TableCell {
    TableCell::mean_std(over_runs, number::percent, 100.0)
}

/// A table with every feature, and hostile text in every place where text from data can stand.
fn table() -> Table {
    let hostile = "<b>|\"x\",'y'`&\\%_";
    let label = |name: &str| vec![format!("e[x=</script>,seed={name}]")];
    let several = MeanStd { mean: 0.25, deviation: Some(0.015), interval: None };
    let one = MeanStd { mean: 0.5, deviation: None, interval: Some((0.25, 0.75)) };
    let both: Vec<String> = [label("1"), label("0")].concat();
    Table {
        id: "table-08".into(),
        title: "Title <i>".into(),
        paper: Some("Table 8, Appendix D"),
        caption: "Caption & more.".into(),
        columns: vec![
            Column::text("Model"),
            Column::text("Source"),
            Column::number("Loss").under("Held-out"),
            Column::number("ExactState (%)").with_key("exact_percent").under("Held-out"),
        ],
        groups: vec![
            vec![
                Row::ours(vec![
                    TableCell::text(hostile),
                    TableCell::text("2 runs"),
                    loss(several).with_sources(&both),
                    accuracy(several).with_sources(&both),
                ]),
                paper(vec![
                    TableCell::text(hostile),
                    TableCell::text("paper"),
                    TableCell::number(0.3, "0.300000"),
                    TableCell::none(),
                ]),
            ],
            vec![Row::ours(vec![
                TableCell::text("=b"),
                TableCell::text("this run"),
                loss(MeanStd { mean: f64::INFINITY, deviation: None, interval: None }).with_sources(&label("2")),
                accuracy(one).with_sources(&label("2")),
            ])],
            vec![Row::ours(vec![
                TableCell::text("[c"),
                TableCell::text("this run"),
                TableCell::not_run(),
                TableCell::none(),
            ])],
        ],
        not_run: vec![vec![paper(vec![
            TableCell::text("d"),
            TableCell::text("paper"),
            TableCell::number(0.5, "0.500000"),
            TableCell::none(),
        ])]],
        noun: "models",
        shared_columns: 1,
        ..Table::default()
    }
}

#[test]
fn as_csv() {
    let expected = "\
kind,model,source,held_out_loss,held_out_loss_sd,held_out_exact_percent,held_out_exact_percent_sd,held_out_exact_percent_low,\
held_out_exact_percent_high
ours,\"<b>|\"\"x\"\",'y'`&\\%_\",2 runs,0.25,0.015,25,1.5,,
paper,\"<b>|\"\"x\"\",'y'`&\\%_\",paper,0.3,,,,,
ours,'=b,this run,inf,,50,,25,75
ours,[c,this run,not run,,,,,
paper,d,paper,0.5,,,,,
";
    assert_eq!(table().csv(), expected);
}

#[test]
fn as_latex() {
    let expected = r"% needs \usepackage{booktabs,graphicx}
\begin{table}[tbp]
\centering
\footnotesize
\setlength{\tabcolsep}{3pt}%
\def\cwminterval{\scriptsize}%
\def\cwmwords{1}%
\caption{Title $<$i$>$. Caption \& more. In the paper: Table 8{,} Appendix D.}\label{tab:table-08}
% No wider than the text.
\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
\begin{tabular}{llrr}
\toprule
\multicolumn{2}{c}{} & \multicolumn{2}{c}{Held{-}out} \\
\cmidrule(lr){3-4}
Model & Source & Loss & \shortstack[r]{ExactState\\(\%)} \\
\midrule
$<$b$>$$|${\char34}x{\char34}{,}{'}y{'}{\char96}\&\textbackslash{}\%\_ & 2 runs & 0.250000 $\pm$ 0.015000 & 25.00 $\pm$ 1.50 \\*
 & \textit{paper} & \textit{0.300000} & \textit{--} \\
\addlinespace
=b & this run & inf & 50.00 \\*
 &  &  & {\cwminterval {[}25.00{,} 75.00{]}} \\
\addlinespace
{[}c & this run & not run & -- \\
\addlinespace
\multicolumn{4}{l}{Not run here; the paper's numbers:} \\*
\addlinespace
\textit{d} & \textit{paper} & \textit{0.500000} & \textit{--} \\
\bottomrule
\end{tabular}}
\end{table}
";
    assert_eq!(table().latex(), expected);
}

#[test]
fn what_is_longer_than_a_page_is_a_longtable() {
    let long = Table { groups: vec![table().groups.remove(1); 30], ..table() }.latex();
    assert!(
        long.starts_with("% needs \\usepackage{booktabs,longtable} and text in one column\n\\begingroup"),
        "{long}"
    );
    assert_eq!(long.matches("\\begin{longtable}{llrr}\n\\caption{Title").count(), 1, "{long}");
    assert_eq!((long.matches("(continued)").count(), long.matches("\\addtocounter").count()), (1, 0), "{long}");
    assert_eq!(long.matches("Loss & \\shortstack[r]{ExactState").count(), 2, "on the first page and on each other");
    // Every row has a line of intervals, on the same page.
    assert_eq!(long.matches("=b & this run & inf & 50.00 \\\\*\n &  &  & {\\cwminterval").count(), 30);
    assert!(long.contains("Not run here") && long.contains("\\textit{d}"), "{long}");
}

#[test]
fn parts_of_a_longtable_have_one_number() {
    let mut wide = Table { groups: vec![table().groups.remove(1); 30], ..table() };
    for over in ["A", "B"] {
        wide.columns.extend((0..2).map(|_| Column::number("A heading as wide as this").under(over)));
        for row in wide.groups.iter_mut().chain(&mut wide.not_run).flatten() {
            row.cells.extend([TableCell::number(0.5, "0.500000"), TableCell::none()]);
        }
    }
    let long = wide.latex();
    assert_eq!((long.matches("\\begin{longtable}").count(), long.matches("\\addtocounter{table}{-1}").count()), (2, 1));
    assert_eq!(
        (long.matches("\\caption{").count(), long.matches("\\caption[]{(continued)}").count()),
        (1, 3),
        "{long}"
    );
}

#[test]
fn a_group_of_many_rows_may_be_broken_and_names_each() {
    let rows = vec![table().groups[1][0].clone(); 90];
    let long = Table { groups: vec![rows], not_run: Vec::new(), ..table() }.latex();
    assert_eq!((long.matches("=b & this run &").count(), long.matches("& this run &").count()), (90, 90));
    let breaks = long.lines().filter(|line| line.contains("cwminterval {") && line.ends_with("\\\\")).count();
    assert_eq!(breaks, 90, "{long}");
}

#[test]
fn a_long_table_that_few_look_at_is_folded() {
    let folded = |rows: usize, folds| {
        let html = Table { groups: vec![table().groups.remove(1); rows], folds, ..table() }.html(&[]).unwrap();
        html.contains("<summary>Table 8 — Title &#60;i&#62;: 25 rows</summary>")
    };
    assert!(folded(25, true) && !folded(24, true) && !folded(25, false));
}

#[test]
fn as_json() {
    let json = table().json().unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        keys(&value),
        ["caption", "columns", "format", "id", "paper", "rows", "shared_columns", "sources", "title"]
    );
    assert_eq!((value["format"].as_u64(), value["shared_columns"].as_u64()), (Some(2), Some(1)));
    assert_eq!(
        value["sources"],
        serde_json::json!(["e[x=</script>,seed=0]", "e[x=</script>,seed=1]", "e[x=</script>,seed=2]"])
    );
    let column = serde_json::json!({"over": "Held-out", "name": "ExactState (%)", "key": "held_out_exact_percent"});
    assert_eq!(value["columns"][3], column);
    let rows: Vec<_> = json.lines().filter(|line| line.starts_with("{\"group\"")).collect();
    assert_eq!(
        rows[2..4],
        [
            r#"{"group":1,"kind":"ours","run":true,"cells":[{"text":"=b"},{"text":"this run"},{"text":"inf","value":"inf","from":[2]},{"text":"50.00","value":50.0,"low":25.0,"high":75.0,"from":[2]}]},"#,
            r#"{"group":2,"kind":"ours","run":true,"cells":[{"text":"[c"},{"text":"this run"},{"text":"not run"},{"text":"–"}]},"#,
        ]
    );
    let row = &value["rows"];
    assert_eq!(row[0]["cells"][2]["from"], serde_json::json!([0, 1]));
    assert_eq!((row[0]["cells"][3]["deviation"].as_f64(), row[4]["run"].as_bool()), (Some(1.5), Some(false)));
}

#[test]
fn as_html() {
    let table = table();
    let sources = sources([&table]);
    let html = table.html(&sources).unwrap();
    for part in [
        "<caption id=\"table-08-caption\">",
        "<strong>Table 8 — Title &#60;i&#62;.</strong>",
        "<th scope=\"colgroup\" colspan=\"2\">Held-out</th>",
        "<th scope=\"col\" class=\"number\"",
        "<th scope=\"rowgroup\" rowspan=\"2\" class=\" pin\">&#60;b&#62;|&#34;x&#34;,&#39;y&#39;`&#38;\\%_</th>",
        "<tr class=\"paper\">",
        "<td class=\"number\" data-value=\"0.25\" data-from=\"0 1\">0.250000 <span>± 0.015000</span></td>",
        "<td class=\"number\" data-value=\"50\" data-from=\"2\">50.00 <span class=\"interval\">[25.00, 75.00]</span></td>",
        "<td class=\"number absent\">not run</td>",
    ] {
        assert!(html.contains(part), "{part} is not in\n{html}");
    }
    assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
    let (ours, papers) = html.split_once("<details>").unwrap();
    assert_eq!(ours.matches("<tbody>").count(), 3);
    assert_eq!(papers.matches("<tbody>").count(), 1);
    assert!(papers.contains("<summary>Not run here: 1 of the paper&#39;s models</summary>"), "{papers}");
    let sets = Table { noun: "", ..table };
    let html = sets.html(&sources).unwrap();
    assert!(html.contains("<summary>Not run here: 1 of the paper&#39;s rows</summary>"), "{html}");
    assert_eq!(sources, ["0", "1", "2"].map(|seed| format!("e[x=</script>,seed={seed}]")));
}

#[test]
fn what_only_the_paper_has_is_not_hidden_where_it_is_all() {
    let html = Table { groups: Vec::new(), ..table() }.html(&[]).unwrap();
    assert!(!html.contains("<details>") && html.contains("Title &#60;i&#62;") && html.contains("0.500000"), "{html}");
    assert!(Table::default().is_empty() && !Table { groups: Vec::new(), ..table() }.is_empty());
}

#[test]
fn a_caption_begins_with_the_papers_number() {
    assert_eq!(numbered("Test results", Some("Table 8, Appendix D")), "Table 8 — Test results");
    assert_eq!(numbered("Size", Some("Figure 3, Section 4")), "Figure 3 — Size");
    assert_eq!(numbered("Winners", Some("text of Appendix C")), "Winners");
    assert_eq!(numbered("Drops", None), "Drops");
}

#[test]
fn a_name_for_programs_stands_once() {
    let columns = ["Rank", "lr", "rank", "β", "…", "="].map(Column::number).into();
    assert_eq!(Table { columns, ..Table::default() }.keys(), ["rank", "lr", "rank_2", "β", "column", "column_2"]);
}

#[test]
fn names_for_programs_are_plain_words() {
    for (heading, name) in
        [("Labelwise (%)", "labelwise_percent"), ("Val. loss", "val_loss"), ("Mean plies", "mean_plies")]
    {
        assert_eq!(Column::number(heading).full_key(), name);
    }
    assert_eq!(Column::number("LR").with_key("lr").under("Held-out games").full_key(), "held_out_games_lr");
    assert_eq!(
        Column::number("p").under("ExactState (%)").with_over_key("exact_percent").full_key(),
        "exact_percent_p"
    );
}
