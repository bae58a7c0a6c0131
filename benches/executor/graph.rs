//! The same graph for four programs: input -> a chain with parameters and a script in its middle -> a fan -> a join.
//!
//! Each command writes what no other does, so that nothing is done once for two, and adds its name to a file outside: that
//! is how what was executed is counted.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// What can be changed in it.
#[derive(Clone, Copy)]
pub struct Graph {
    /// How many stages it has.
    pub stages: usize,
    /// A parameter of the stage in the middle, which writes it.
    pub shown: u32,
    /// Another one, which it does not write.
    pub hidden: u32,
    /// How many comments stand in the script of that stage.
    pub comments: u32,
}

/// One command.
struct Stage {
    name: String,
    from: Vec<String>,
    is_middle: bool,
}

impl Graph {
    /// As it is at first.
    pub fn new(stages: usize) -> Self {
        Graph { stages, shown: 1, hidden: 1, comments: 0 }
    }

    /// A third of the stages is a chain; the others fan out from its end and are joined.
    fn stages(&self) -> Vec<Stage> {
        let chain = self.stages / 3;
        let mut stages: Vec<Stage> = (0..chain)
            .map(|index| Stage {
                name: format!("c{index}"),
                from: vec![index.checked_sub(1).map_or("input".into(), |before| format!("c{before}"))],
                is_middle: index == chain / 2,
            })
            .collect();
        let end = vec![format!("c{}", chain - 1)];
        let fan = (0..self.stages - chain - 1).map(|index| format!("f{index}"));
        stages.extend(fan.clone().map(|name| Stage { name, from: end.clone(), is_middle: false }));
        stages.push(Stage { name: "join".into(), from: fan.collect(), is_middle: false });
        stages
    }

    /// Writes the graph, as all four want it, into `folder`; commands add their names to `executed` there.
    pub fn write(&self, folder: &Path) {
        let put = |name: &str, text: String| {
            // What does not change is not touched.
            if fs::read_to_string(folder.join(name)).ok().as_ref() != Some(&text) {
                fs::write(folder.join(name), text).expect("a file of the graph");
            }
        };
        let executed = folder.join("executed").display().to_string();
        put("input", "1\n".into());
        put("work.sh", "cat; echo \"$1\"\n".to_owned() + &"# a comment\n".repeat(self.comments as usize));
        put("pipeline.yaml", self.cwm(&executed));
        put("build.ninja", self.ninja(&executed));
        put("Snakefile", self.snakemake(&executed));
        put("config.yaml", format!("shown: {}\nhidden: {}\n", self.shown, self.hidden));
        put("dvc.yaml", self.dvc(&executed));
        put("params.yaml", format!("shown: {}\nhidden: {}\n", self.shown, self.hidden));
    }

    fn cwm(&self, executed: &str) -> String {
        let mut text = String::from("cwm: 1\nstages:\n");
        for Stage { name, from, is_middle } in self.stages() {
            let (given, read) = match from.as_slice() {
                [one] if one == "input" => ("{ in: { file: input } }".to_owned(), "\"$in\""),
                [one] => (one.clone(), "\"$in\""),
                many => (format!("{{ parts: [{}] }}", many.join(", ")), "\"$in_parts\"/*"),
            };
            let (how, more, with) = if is_middle {
                let with = format!(", shown: {}, hidden: {}", self.shown, self.hidden);
                (format!("sh work.sh \"$shown\" < {read} > \"$out\""), "deps: [work.sh], ", with)
            } else {
                (format!("cat {read} > \"$out\""), "", String::new())
            };
            let run = format!("{how}; echo {name} >> \"$out\"; echo {name} >> {executed}");
            let _ =
                writeln!(text, "  {name}: {{ stage: command, from: {given}, {more}with: {{ run: '{run}'{with} }} }}");
        }
        text
    }

    fn ninja(&self, executed: &str) -> String {
        let keep = "(cmp -s $out.new $out && rm $out.new || mv $out.new $out)";
        let mut text =
            format!("rule sh\n  command = ($cmd; echo $out) > $out.new && {keep} && echo $out >> {executed}\n");
        text += "  restat = 1\n";
        for Stage { name, from, is_middle } in self.stages() {
            let from = from.join(" ");
            let (more, command) = if is_middle {
                (" work.sh", format!("hidden={} sh work.sh {} < {from}", self.hidden, self.shown))
            } else {
                ("", format!("cat {from}"))
            };
            let _ = writeln!(text, "build {name}: sh {from}{more}\n  cmd = {command}");
        }
        text
    }

    fn snakemake(&self, executed: &str) -> String {
        let mut text = String::from("configfile: \"config.yaml\"\nrule all:\n    input: \"join\"\n");
        for Stage { name, from, is_middle } in self.stages() {
            let mut inputs: Vec<String> = from.iter().map(|from| format!("\"{from}\"")).collect();
            let (params, command) = if is_middle {
                inputs.push("\"work.sh\"".into());
                let params = "    params: shown=config[\"shown\"], hidden=config[\"hidden\"]\n";
                (params, format!("sh work.sh {{params.shown}} < {}", from[0]))
            } else {
                ("", "cat {input}".to_owned())
            };
            let (input, run) =
                (inputs.join(", "), format!("({command}; echo {name}) > {{output}}; echo {name} >> {executed}"));
            let _ = write!(
                text,
                "rule {name}:\n    input: {input}\n    output: \"{name}\"\n{params}    shell: \"{run}\"\n"
            );
        }
        text
    }

    fn dvc(&self, executed: &str) -> String {
        let mut text = String::from("stages:\n");
        for Stage { name, from, is_middle } in self.stages() {
            let (more, params, command) = if is_middle {
                let command = format!("sh work.sh ${{shown}} < {}", from[0]);
                (", work.sh", "    params: [hidden]\n", command)
            } else {
                ("", "", format!("cat {}", from.join(" ")))
            };
            let _ = write!(
                text,
                "  {name}:\n    cmd: ({command}; echo {name}) > {name}; echo {name} >> {executed}\n    deps: [{}{more}]\n\
                 {params}    outs: [{name}]\n",
                from.join(", ")
            );
        }
        text
    }
}
