//! Pipelines at random: chains, cells of a matrix, joins, folders, equal bytes, failing stages, exports.
//!
//! Every command first writes to files below HOME that it begins, and whether another process works on the same key
//! at that time, or the key has a record already.

use crate::dice::Dice;

/// The beginning of every command. It writes to `log`: `begin KEY`, `twice KEY` if another process works on the key
/// (by a kernel lock that ends with its process), `again KEY` if it is recorded. `show` prints all files below a path.
const PRELUDE: [&str; 8] = [
    r#"k=${PWD%/tmp/cwd}; k=${k##*/}"#,
    r#"exec 9>>"$HOME/busy/$k""#,
    r#"flock -n -E 77 9 || [ $? != 77 ] || echo "twice $k" >> "$HOME/log""#,
    r#"set -- "$PWD"/../../../../actions/*/"$k"/*.json"#,
    r#"if [ -e "$1" ] && ! [ -e "$HOME/may-run-again" ]; then echo "again $k" >> "$HOME/log"; fi"#,
    r#"echo "begin $k" >> "$HOME/log""#,
    r#"lines() { while read -r l; do echo "$l"; done < "$1"; }"#,
    r#"show() { for f in "$1" "$1"/* "$1"/*/*; do if [ -f "$f" ]; then lines "$f" >> "$TMPDIR/t"; fi; done; }"#,
];

/// A stage, as those after it see it.
struct Made {
    name: String,
    /// True if it has a cell for each value of an axis.
    cells: bool,
    /// True if its output is a folder.
    folder: bool,
    /// True if it fails.
    fails: bool,
}

/// A pipeline whose texts differ by the value of `seed` alone.
pub struct Pipeline {
    stages: String,
    export: Vec<(String, &'static str)>,
    /// The names of its stages.
    pub names: Vec<String>,
}

impl Pipeline {
    /// Some stages; `pace` is how many hundredths of a second a command may sleep.
    pub fn random(dice: &mut Dice, pace: usize) -> Self {
        let mut made: Vec<Made> = Vec::new();
        let mut stages = String::new();
        for number in 0..3 + dice.below(5) {
            stages += &stage(dice, pace, number, &mut made);
        }
        let exported = |folder: bool| {
            let fit = |made: &&Made| !made.cells && !made.fails && made.folder == folder;
            made.iter().rev().find(fit).map(|made| made.name.clone())
        };
        let mut export = Vec::new();
        export.extend(exported(false).map(|name| (name, "file")));
        export.extend(exported(true).map(|name| (name, "folder")));
        Pipeline { stages, export, names: made.into_iter().map(|made| made.name).collect() }
    }

    /// The first at random that has all sorts of stages and no failing one, and does not sleep.
    pub fn small() -> Self {
        let all = (0..).map(|number| Pipeline::random(&mut Dice::new(7, number), 1));
        let has_all = |pipeline: &Pipeline| {
            let words = ["matrix:", "each:", "file: input.txt", "b: s", "echo same > \"$TMPDIR/t\""];
            words.iter().all(|word| pipeline.stages.contains(word))
                && !pipeline.stages.contains("exit 3")
                && pipeline.export.len() == 2
        };
        all.into_iter().find(has_all).unwrap_or_else(|| unreachable!("there are all pipelines"))
    }

    /// Its text, exporting below `place`.
    pub fn text(&self, seed: u64, place: &str) -> String {
        let exports: Vec<String> = self.export.iter().map(|(name, kind)| format!("{name}: {place}/{kind}")).collect();
        let export = if exports.is_empty() { String::new() } else { format!("export: {{ {} }}\n", exports.join(", ")) };
        format!("cwm: 1\nvars: {{ seed: {seed} }}\nstages:\n{}{export}", self.stages)
    }
}

fn stage(dice: &mut Dice, pace: usize, number: usize, made: &mut Vec<Made>) -> String {
    let name = format!("s{number}");
    let good: Vec<&Made> = made.iter().filter(|made| !made.fails).collect();
    let mut keys = Vec::new();
    let mut with = vec![format!("n: {number}")];
    let mut body: Vec<String> = PRELUDE.map(str::to_owned).to_vec();
    body.push(r#"echo "stage $n" > "$TMPDIR/t""#.into());
    let mut cells = dice.chance(25);
    if cells {
        keys.push("matrix: { x: [1, 2, 3] }".to_owned());
        with.push("x: $x".into());
        body.push(r#"echo "x is $x" >> "$TMPDIR/t""#.into());
    }
    if good.is_empty() || dice.chance(20) {
        if dice.chance(50) {
            keys.push("from: { a: { file: input.txt } }".into());
            body.push(r#"show "$in_a""#.into());
        }
        // What is the same for all seeds is shared by all pipelines of the store.
        if dice.chance(70) {
            with.push("seed: $seed".into());
            body.push(r#"echo "seed $seed" >> "$TMPDIR/t""#.into());
        }
    } else {
        let (first, second) = (*dice.one_of(&good), *dice.one_of(&good));
        // Cells of one axis join by its values; without it, they are a group.
        if first.cells && !cells && dice.chance(40) {
            keys.push(format!("each: {}", first.name));
            cells = true;
        }
        body.push(r#"show "$in_a""#.into());
        if second.name == first.name {
            keys.push(format!("from: {{ a: {} }}", first.name));
        } else {
            keys.push(format!("from: {{ a: {}, b: {} }}", first.name, second.name));
            body.push(r#"show "$in_b""#.into());
        }
    }
    let (folder, fails) = (dice.chance(30), number > 1 && dice.chance(8));
    if dice.chance(20) {
        body.push(r#"echo same > "$TMPDIR/t""#.into());
    }
    body.push(format!("sleep 0.{:02}", dice.below(pace)));
    if folder {
        keys.push("outputs: { d: folder }".into());
        body.push(r#"mkdir -p "$out/sub"; cp "$TMPDIR/t" "$out/t""#.into());
        body.push(r#"echo same > "$out/sub/same"; echo "$n" > "$out/n""#.into());
    } else {
        body.push(r#"cp "$TMPDIR/t" "$out""#.into());
    }
    body.push(if fails { "exit 3".into() } else { r#"echo "end $k" >> "$HOME/log""#.into() });
    made.push(Made { name: name.clone(), cells, folder, fails });
    with.push(format!("run: |\n        {}", body.join("\n        ")));
    keys.insert(0, "stage: command".into());
    keys.push(format!("with:\n      {}", with.join("\n      ")));
    format!("  {name}:\n    {}\n", keys.join("\n    "))
}
