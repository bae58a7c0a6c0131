//! `cwm status --graph`: prints the graph of stages as text, Mermaid, Graphviz or JSON.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use crate::cli::{GraphNotation, StatusArguments};
use crate::locate::pipeline_file;
use crate::output::{columns, print, print_result, reject_json_with};
use cwm_core::{Error, ExitCode};
use cwm_engine::sources;
use cwm_pipeline::plan::{self, Plan};

/// A node of the graph.
#[derive(Serialize)]
struct Node {
    /// The stage, or with `-v` the cell.
    name: String,
    /// Its kind.
    kind: String,
    /// The number of its cells.
    cells: usize,
    /// The names of the nodes that it reads.
    from: Vec<String>,
    /// The indices of the nodes that it reads.
    #[serde(skip)]
    sources: BTreeSet<usize>,
}

/// Runs `cwm status --graph`.
///
/// # Errors
/// The pipeline cannot be read.
pub fn run(arguments: &StatusArguments, notation: GraphNotation) -> Result<ExitCode, Error> {
    if !arguments.stages.is_empty() {
        return Err(
            Error::usage("`--graph` draws the whole pipeline").hint("`cwm status --graph=text` (or `mermaid`, `dot`)")
        );
    }
    match notation {
        GraphNotation::Text => {}
        GraphNotation::Mermaid => reject_json_with("--graph=mermaid")?,
        GraphNotation::Dot => reject_json_with("--graph=dot")?,
    }
    let file = pipeline_file(arguments.pipeline.file.as_deref())?;
    let plan = plan::load(&file, &arguments.pipeline.sets, &crate::registry::built_in())?;
    let nodes = nodes(&plan, arguments.verbose);
    match notation {
        GraphNotation::Text => print_result(&nodes, || text(&nodes))?,
        GraphNotation::Mermaid => print(&mermaid(&nodes))?,
        GraphNotation::Dot => print(&dot(&nodes))?,
    }
    Ok(ExitCode::OK)
}

fn nodes(plan: &Plan, by_cell: bool) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut node_of_name = HashMap::new();
    let mut node_of_cell = Vec::with_capacity(plan.cells.len());
    for cell in &plan.cells {
        let name = if by_cell { cell.label.to_string() } else { cell.label.stage.clone() };
        let node = *node_of_name.entry(name.clone()).or_insert(nodes.len());
        if node == nodes.len() {
            let (kind, sources) = (cell.kind.clone(), BTreeSet::new());
            nodes.push(Node { name, kind, cells: 0, from: Vec::new(), sources });
        }
        nodes[node].cells += 1;
        nodes[node].sources.extend(sources(cell).map(|source| node_of_cell[source]));
        node_of_cell.push(node);
    }
    for node in 0..nodes.len() {
        nodes[node].from = nodes[node].sources.iter().map(|source| nodes[*source].name.clone()).collect();
    }
    nodes
}

impl Node {
    /// Returns the kind, and the number of cells of a matrix after `times`.
    fn kind(&self, times: &str) -> String {
        let Node { kind, cells, .. } = self;
        if *cells > 1 { format!("{kind} {times} {cells}") } else { kind.clone() }
    }
}

fn text(nodes: &[Node]) -> String {
    columns(nodes.iter().map(|node| {
        let from = if node.from.is_empty() { String::new() } else { format!(" <- {}", node.from.join(", ")) };
        [node.name.clone(), node.kind("x") + &from]
    }))
}

fn mermaid(nodes: &[Node]) -> String {
    let escape = |name: &str| name.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let boxes = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| format!("  n{index}[\"{}<br/><i>{}</i>\"]\n", escape(&node.name), node.kind("&times;")));
    format!("flowchart TD\n{}{}", boxes.collect::<String>(), edges(nodes, "-->", ""))
}

fn dot(nodes: &[Node]) -> String {
    let escape = |name: &str| name.replace('\\', "\\\\").replace('"', "\\\"");
    let boxes = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| format!("  n{index} [label=\"{}\\n{}\"];\n", escape(&node.name), node.kind("x")));
    format!("digraph pipeline {{\n  node [shape=box];\n{}{}}}\n", boxes.collect::<String>(), edges(nodes, "->", ";"))
}

/// Returns a line for each edge.
fn edges(nodes: &[Node], arrow: &str, end: &str) -> String {
    let edges = nodes.iter().enumerate().flat_map(|(to, node)| node.sources.iter().map(move |from| (from, to)));
    edges.map(|(from, to)| format!("  n{from} {arrow} n{to}{end}\n")).collect()
}
