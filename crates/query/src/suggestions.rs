//! Suggestions for a query that the engine cannot answer: the tables and columns that it may have meant.

use cwm_contract::TableSchema;
use datafusion::common::SchemaError;
use datafusion::common::utils::datafusion_strsim::normalized_levenshtein;
use datafusion::common::utils::quote_identifier;
use datafusion::error::DataFusionError;

/// Columns of a table, and tables, that a hint names.
const MAX_LISTED: usize = 24;
/// Similarity of a name from which on it is suggested: 1 is the same.
const MIN_SIMILARITY: f64 = 0.4;

/// A hint: of the column or table that is not there the near misses, and what there is in its place.
pub fn hint(error: &DataFusionError, tables: &[TableSchema]) -> String {
    let all: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    match error.find_root() {
        DataFusionError::SchemaError(schema, _) => match &**schema {
            SchemaError::FieldNotFound { field, valid_fields } => {
                let named = |table: &&TableSchema| {
                    let of = |relation: &Option<datafusion::common::TableReference>| {
                        relation.as_ref().is_some_and(|relation| relation.table() == table.name)
                    };
                    if field.relation.is_some() {
                        of(&field.relation)
                    } else {
                        valid_fields.iter().any(|one| of(&one.relation))
                    }
                };
                let named: Vec<&TableSchema> = tables.iter().filter(named).collect();
                let columns = |table: &TableSchema| -> Vec<String> {
                    table.columns.iter().map(|column| column.name.clone()).collect()
                };
                let mut known: Vec<String> = named.iter().flat_map(|table| columns(table)).collect();
                known.extend(valid_fields.iter().map(|field| field.name.clone()));
                let meant = similar(&field.name, known.iter().map(String::as_str));
                let has = named.iter().map(|table| {
                    let columns = columns(table);
                    format!("`{}` has {}", table.name, list_some(columns.iter().map(String::as_str)))
                });
                let found: Vec<String> = meant.into_iter().chain(has).collect();
                if found.is_empty() { listed(&all) } else { found.join("; ") }
            }
            _ => listed(&all),
        },
        DataFusionError::Plan(message) => match missing_table(message) {
            Some(name) => {
                similar(name, all.iter().copied()).into_iter().chain([listed(&all)]).collect::<Vec<_>>().join("; ")
            }
            None => listed(&all),
        },
        _ => listed(&all),
    }
}

/// Returns the name in `table 'datafusion.public.scroes' not found`, as it was written.
pub fn missing_table(message: &str) -> Option<&str> {
    let name = message.strip_prefix("table '")?.strip_suffix("' not found")?;
    name.rsplit('.').next()
}

fn listed(tables: &[&str]) -> String {
    let are = if tables.len() == 1 { "is" } else { "are" };
    format!("there {are} {}; `--tables` lists them with their columns", list_some(tables.iter().copied()))
}

/// `a, b and 3 more`.
fn list_some<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MAX_LISTED);
    let named = names.take(MAX_LISTED).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// `did you mean right_squares?`, the nearest first, each in double quotes if SQL needs them.
fn similar<'a>(named: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut alike: Vec<(f64, &str)> = known
        .map(|name| (normalized_levenshtein(named, name), name))
        .filter(|(alike, _)| *alike >= MIN_SIMILARITY)
        .collect();
    alike.sort_by(|(one, name), (other, another)| other.total_cmp(one).then(name.cmp(another)));
    alike.dedup();
    alike.truncate(3);
    let names: Vec<_> = alike.into_iter().map(|(_, name)| quote_identifier(name)).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}
