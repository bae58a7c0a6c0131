//! The difference between the columns of a file and those of its format.

use arrow_schema::{DataType, FieldRef};

/// The first difference, as text; none if there is none. `within` is the column that these are part of, with a dot
/// after it, or empty.
pub fn difference(found: &[FieldRef], expected: &[FieldRef], within: &str) -> Option<String> {
    for (place, field) in expected.iter().enumerate() {
        let name = format!("{within}{}", field.name());
        let Some(other) = found.get(place) else { return Some(format!("it has no column `{name}`")) };
        if other.name() != field.name() {
            return Some(format!("it has a column `{within}{}` where `{name}` is expected", other.name()));
        }
        let (kind, wanted) = (other.data_type(), field.data_type());
        let is_nested = kind.is_nested() && std::mem::discriminant(kind) == std::mem::discriminant(wanted);
        let inner = is_nested.then(|| difference(parts(kind), parts(wanted), &format!("{name}.")));
        if let Some(inner) = inner.flatten() {
            return Some(inner);
        }
        if kind != wanted {
            return Some(format!("its column `{name}` has {}, not {}", values(kind), values(wanted)));
        }
        if other.is_nullable() != field.is_nullable() {
            let may = if other.is_nullable() { "may" } else { "may not" };
            return Some(format!("its column `{name}` {may} lack values"));
        }
        if other != field {
            return Some(format!("its column `{name}` has other metadata"));
        }
    }
    found.get(expected.len()).map(|other| format!("it has a column `{within}{}` too many", other.name()))
}

/// The columns within a column of lists or records.
fn parts(kind: &DataType) -> &[FieldRef] {
    match kind {
        DataType::List(item) => std::slice::from_ref(item),
        DataType::Struct(fields) => fields,
        _ => &[],
    }
}

fn values(kind: &DataType) -> String {
    match kind {
        DataType::List(_) => "lists".to_owned(),
        DataType::Struct(_) => "records".to_owned(),
        kind if kind.is_nested() => "nested values".to_owned(),
        kind => format!("values of type {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, Fields};

    use super::*;

    #[test]
    fn the_first_difference_has_short_words() {
        let number = |name: &str| Field::new(name, DataType::UInt32, false);
        let lines = |part: &str| {
            let record = DataType::Struct(Fields::from(vec![number("depth"), number(part)]));
            Field::new("lines", DataType::List(Arc::new(Field::new_list_field(record, false))), false)
        };
        let of = |fields: Vec<Field>| {
            let expected = Fields::from(vec![number("record"), lines("mate")]);
            difference(&Fields::from(fields), &expected, "")
        };
        assert_eq!(of(vec![number("record"), lines("mate")]), None);
        for (fields, words) in [
            (
                vec![number("record"), lines("score")],
                "it has a column `lines.item.score` where `lines.item.mate` is expected",
            ),
            (vec![number("record")], "it has no column `lines`"),
            (vec![number("record"), lines("mate"), number("more")], "it has a column `more` too many"),
            (vec![number("record"), number("lines")], "its column `lines` has values of type UInt32, not lists"),
            (vec![number("record").with_nullable(true), lines("mate")], "its column `record` may lack values"),
            (
                vec![Field::new("record", DataType::Utf8, false), lines("mate")],
                "its column `record` has values of type Utf8, not values of type UInt32",
            ),
        ] {
            assert_eq!(of(fields).unwrap(), words);
        }
    }
}
