//! `cwm dag`: the graph of stages, as text, Mermaid or Graphviz.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::cli::{DagArguments, DagFormat};
use crate::locate::pipeline_file;
use crate::output::{is_json, print, print_json, reject_json_with};
use cwm_core::{Error, ExitCode};
use cwm_engine::sources;
use cwm_pipeline::plan::{self, Plan};

/// Nodes (name, kind, cells) and edges by name.
struct Graph {
    nodes: Vec<(String, String, usize)>,
    edges: BTreeSet<(usize, usize)>,
}

/// A node, as `--json` lists them.
#[derive(Serialize)]
struct Node<'g> {
    /// The stage, or with `--cells` the cell.
    name: &'g str,
    /// Its kind.
    kind: &'g str,
    /// How many cells it has.
    cells: usize,
    /// The names of what it reads.
    from: Vec<&'g str>,
}

/// Runs `cwm dag`.
///
/// # Errors
/// The pipeline cannot be read.
pub fn run(arguments: &DagArguments) -> Result<ExitCode, Error> {
    if arguments.format.is_some() {
        reject_json_with("--format")?;
    }
    let file = pipeline_file(arguments.pipeline.file.as_deref())?;
    let plan = plan::load(&file, &arguments.pipeline.sets, &crate::registry::built_in())?;
    let graph = graph(&plan, arguments.cells);
    if is_json() {
        let nodes = graph.nodes.iter().enumerate();
        let nodes =
            nodes.map(|(index, (name, kind, cells))| Node { name, kind, cells: *cells, from: graph.sources(index) });
        print_json(&nodes.collect::<Vec<_>>())?;
        return Ok(ExitCode::OK);
    }
    print(&match arguments.format.unwrap_or(DagFormat::Text) {
        DagFormat::Text => text(&graph),
        DagFormat::Mermaid => mermaid(&graph),
        DagFormat::Dot => dot(&graph),
    })?;
    Ok(ExitCode::OK)
}

impl Graph {
    /// The names of what a node reads.
    fn sources(&self, node: usize) -> Vec<&str> {
        let edges = self.edges.iter().filter(|(_, to)| *to == node);
        edges.map(|(from, _)| self.nodes[*from].0.as_str()).collect()
    }
}

fn graph(plan: &Plan, by_cell: bool) -> Graph {
    let mut nodes: Vec<(String, String, usize)> = Vec::new();
    let mut node_of = Vec::with_capacity(plan.cells.len());
    let mut edges = BTreeSet::new();
    let mut by_stage = std::collections::HashMap::new();
    for cell in &plan.cells {
        let name = if by_cell { cell.label.to_string() } else { cell.label.stage.clone() };
        let node = *by_stage.entry(name.clone()).or_insert_with(|| {
            nodes.push((name, cell.kind.clone(), 0));
            nodes.len() - 1
        });
        nodes[node].2 += 1;
        edges.extend(sources(cell).map(|source| (node_of[source], node)));
        node_of.push(node);
    }
    Graph { nodes, edges }
}

fn text(graph: &Graph) -> String {
    let width = graph.nodes.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (index, (name, kind, cells)) in graph.nodes.iter().enumerate() {
        let from = graph.sources(index);
        let cells = if *cells > 1 { format!(" x {cells}") } else { String::new() };
        let from = if from.is_empty() { String::new() } else { format!(" <- {}", from.join(", ")) };
        text += &format!("{name:<width$}  {kind}{cells}{from}\n");
    }
    text
}

fn mermaid(graph: &Graph) -> String {
    let mut text = String::from("flowchart TD\n");
    for (index, (name, kind, cells)) in graph.nodes.iter().enumerate() {
        let cells = if *cells > 1 { format!(" &times; {cells}") } else { String::new() };
        let name = name.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
        text += &format!("  n{index}[\"{name}<br/><i>{kind}{cells}</i>\"]\n");
    }
    for (from, to) in &graph.edges {
        text += &format!("  n{from} --> n{to}\n");
    }
    text
}

fn dot(graph: &Graph) -> String {
    let mut text = String::from("digraph pipeline {\n  node [shape=box];\n");
    for (index, (name, kind, cells)) in graph.nodes.iter().enumerate() {
        let cells = if *cells > 1 { format!(" x {cells}") } else { String::new() };
        let name = name.replace('\\', "\\\\").replace('"', "\\\"");
        text += &format!("  n{index} [label=\"{name}\\n{kind}{cells}\"];\n");
    }
    for (from, to) in &graph.edges {
        text += &format!("  n{from} -> n{to};\n");
    }
    text + "}\n"
}
