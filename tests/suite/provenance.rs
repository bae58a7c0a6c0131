//! The provenance of an exported report: everything upstream, in the copy alone, and nothing that must not be
//! published.

use std::fs;

use cwm_contract::provenance::PLACEHOLDER;
use serde_json::Value;

use crate::context::Context;

const PIPELINE: &str = r#"
cwm: 1
stages:
  data:
    stage: command
    matrix: { which: ["</script><b>", plain] }
    from: { text: { file: secret-folder/in.txt } }
    with:
      run: 'cat "$in_text" > "$out"'
      which: $which
      place: /srv/ada/private.txt
      mirror: "https://ada:open-sesame@host/my games.pgn?token=open-sesame"
      n: 1
    env: [TOKEN]
    needs: { cpu: 1 }
  report:
    stage: command
    from: { data: data }
    with: { run: 'sh make.sh' }
    deps: [make.sh]
    outputs: { page: { format: report, folder: true } }
export: { report: exported }
"#;

/// A context with the pipeline, whose report's page is `page` and a line of its input.
fn context(page: &str) -> Context {
    let context = Context::with(PIPELINE);
    context.write("secret-folder/in.txt", "text\n");
    context.write("make.sh", &format!("mkdir -p \"$out_page\"\ncat > \"$out_page/index.html\" <<'END'\n{page}\nEND\n"));
    context
}

fn cwm(context: &Context, arguments: &[&str]) -> String {
    let output = context.command(arguments).env("TOKEN", "open-sesame").output().expect("cwm starts");
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{reported}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn provenance(context: &Context, folder: &str) -> Value {
    serde_json::from_str(&context.read(&format!("{folder}/provenance.json"))).expect("JSON")
}

#[test]
fn provenance_lists_how_every_upstream_cell_was_computed() {
    let context = context(&format!("<p>before</p>{PLACEHOLDER}<p>after</p>"));
    cwm(&context, &["run"]);
    let reported = provenance(&context, "exported");
    assert_eq!((&reported["format"], &reported["report"]), (&Value::from(1), &Value::from("report.page")));
    let cells = reported["cells"].as_object().expect("cells");
    assert_eq!(cells.keys().collect::<Vec<_>>(), ["data[which=</script><b>]", "data[which=plain]", "report"]);
    let (data, report) = (&cells["data[which=plain]"], &cells["report"]);
    let read = report["inputs"]["data"].as_array().expect("what the report reads");
    let one = read.iter().find(|one| one["cell"] == "data[which=plain]").expect("one of them");
    assert_eq!((&one["output"], &one["digest"]), (&Value::from("out"), &data["outputs"]["out"]["digest"]));
    assert_eq!(report["inputs"]["deps"][0]["file"], "make.sh");
    assert_eq!((&data["stage"], &data["parameters"]["n"]), (&Value::from("command"), &Value::from(1)));
    assert!(data["explicit"].as_array().expect("names").contains(&Value::from("n")), "{data}");
    assert_eq!(data["run_info"]["cores"], 1);
    assert_eq!(
        reported["machines"].as_array().map(Vec::len),
        Some(1),
        "one, whatever of it was used: {}",
        reported["machines"]
    );
    for field in ["seconds", "cpu_seconds", "peak_memory_bytes"] {
        assert!(data["run_info"][field].is_number(), "{data}");
    }
    assert_eq!(
        (&reported["stages"][0]["name"], &reported["stages"][0]["cells"]),
        (&Value::from("data"), &Value::from(2))
    );
    let shown = cwm(&context, &["show", "data[which=plain]", "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(
        (&shown[0]["key"], &shown[0]["outputs"]["out"]["size"]),
        (&data["key"], &data["outputs"]["out"]["size"])
    );

    // The same stands in the page, where no label can end the element, and in no object of the store.
    let page = context.read("exported/index.html");
    assert_eq!(page.matches("</script>").count(), 1, "{page}");
    let (_, rest) =
        page.split_once("<p>before</p><script type=\"application/json\" id=\"cwm-provenance\">").expect("it");
    let (json, rest) = rest.split_once("</script>").expect("its end");
    // There in fewer words: what all cells of a stage share stands with the stage, and digests are cut.
    let small: Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(small["cells"].as_object().expect("cells").keys().collect::<Vec<_>>(), cells.keys().collect::<Vec<_>>());
    assert_eq!((&small["report"], &small["machines"]), (&reported["report"], &reported["machines"]));
    assert_eq!(small["stages"][0]["parameters"]["n"], 1);
    let (key, whole) = (&small["cells"]["data[which=plain]"]["key"], &data["key"]);
    assert_eq!(key.as_str(), whole.as_str().and_then(|key| key.get(..12)));
    assert_eq!(rest, "<p>after</p>\n");
    let stored = cwm(&context, &["show", "--path", "report"]);
    let stored = fs::read_to_string(format!("{stored}/index.html")).expect("the page in the store");
    assert!(stored.contains(PLACEHOLDER), "{stored}");
    cwm(&context, &["store", "verify"]);
}

#[test]
fn private_fields_are_left_out_on_request_and_secrets_always() {
    let context = context(PLACEHOLDER);
    cwm(&context, &["run"]);
    let root = context.path(".");
    let root = root.canonicalize().expect("a folder");
    let public = context.read("exported/provenance.json") + &context.read("exported/index.html");
    for hidden in ["secret-folder", "/srv/ada", "open-sesame", "$secret", root.to_str().expect("UTF-8")] {
        assert!(!public.contains(hidden), "{hidden} is reported:\n{public}");
    }
    let reported = provenance(&context, "exported");
    let data = &reported["cells"]["data[which=plain]"];
    assert_eq!(data["run_info"].get("by"), None);
    assert_eq!(
        (&reported["machines"][0]["name"], &data["run_info"]["on"]),
        (&Value::from("machine 1"), &Value::from("machine 1"))
    );
    assert_eq!(data["inputs"]["text"][0]["file"], "in.txt");
    assert_eq!(data["parameters"]["place"], "private.txt");
    assert_eq!(data["parameters"]["mirror"], "https://host/my games.pgn");
    assert_eq!(data["parameters"]["env TOKEN"], "(secret)");

    cwm(&context, &["export", "report", "full", "--names"]);
    assert!(!context.read("full/provenance.json").contains("open-sesame"));
    let reported = provenance(&context, "full");
    let data = &reported["cells"]["data[which=plain]"];
    assert!(data["run_info"]["by"].is_string() && reported["machines"][0]["name"] != "machine 1", "{reported}");
    assert_eq!(
        (&data["parameters"]["place"], &data["parameters"]["env TOKEN"]),
        (&Value::from("/srv/ada/private.txt"), &Value::from("(secret)"))
    );
    assert!(data["inputs"]["text"][0]["file"].as_str().expect("a path").ends_with("secret-folder/in.txt"));
}

#[test]
fn an_export_is_written_again_only_when_the_report_or_where_it_comes_from_changed() {
    let context = context(PLACEHOLDER);
    cwm(&context, &["run"]);
    let before = context.inventory("exported");
    cwm(&context, &["run"]);
    cwm(&context, &["export", "report", "exported"]);
    assert_eq!(context.inventory("exported"), before, "nothing changed, nothing is written");
    // Another parameter, the same bytes: the report is cached, and rests on another result.
    context.edit("pipeline.yaml", "n: 1", "n: 2");
    let ran = cwm(&context, &["run", "--json"]);
    assert!(ran.contains(r#""ran":2,"cached":1,"#), "{ran}");
    assert_eq!(provenance(&context, "exported")["cells"]["data[which=plain]"]["parameters"]["n"], 2);
}

#[test]
fn a_page_without_the_place_stays_as_it_is_and_the_files_name_is_ours() {
    let context = context("<p>a page of an earlier version</p>");
    cwm(&context, &["run"]);
    assert_eq!(context.read("exported/index.html"), "<p>a page of an earlier version</p>\n");
    assert!(provenance(&context, "exported")["cells"]["report"].is_object());
    context.write("make.sh", "mkdir -p \"$out_page\"; echo mine > \"$out_page/provenance.json\"\n");
    let refused = context.cwm(&["run"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("the report of report holds a `provenance.json` of its own"), "{}", refused.stderr);
}
