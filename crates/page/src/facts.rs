//! The numbers that a paper printed, kept as data with the table and the place that each stands in.

use std::collections::BTreeMap;

/// A number as a paper printed it.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedValue {
    /// The table it stands in, or `text`.
    pub table: String,
    /// Its digits as printed, powers of ten as `7.65e-5`.
    pub text: String,
    /// Its value, in the paper's unit.
    pub value: f64,
}

/// All numbers of a paper, each found by its keys.
#[derive(Debug)]
pub struct Facts(BTreeMap<Vec<String>, PrintedValue>);

impl Facts {
    /// Reads a CSV file without quotes. Its columns are `table` and `place`, then any number of keys, then the number
    /// as `printed`.
    ///
    /// # Errors
    /// A line does not fit the header, or has the keys of another one: its number and text.
    pub fn parse(csv: &str) -> Result<Self, String> {
        let columns = csv.lines().next().map_or(0, |header| header.split(',').count());
        let mut facts = BTreeMap::new();
        for (index, line) in csv.lines().enumerate().skip(1) {
            let wrong = || format!("line {}: {line}", index + 1);
            let fields: Vec<&str> = line.split(',').collect();
            let [table, _place, keys @ .., text] = &fields[..] else { return Err(wrong()) };
            let printed = PrintedValue {
                table: (*table).to_owned(),
                text: (*text).to_owned(),
                value: text.parse().map_err(|_| wrong())?,
            };
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            if fields.len() != columns || facts.insert(keys, printed).is_some() {
                return Err(wrong());
            }
        }
        Ok(Facts(facts))
    }

    /// The number with these keys, in the order of the file's columns.
    pub fn get(&self, keys: &[&str]) -> Option<&PrintedValue> {
        self.0.get(&keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>())
    }

    /// Returns the number of facts.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_whatever_keys_the_header_names() {
        let facts = Facts::parse("table,place,run,metric,printed\n2,Section 3,a,loss,7.65e-5\ntext,A,b,,−\n");
        assert_eq!(facts.unwrap_err(), "line 3: text,A,b,,−");
        let facts = Facts::parse("table,place,run,metric,printed\n2,Section 3,a,loss,7.65e-5\ntext,A,b,,3").unwrap();
        assert_eq!(facts.get(&["a", "loss"]).unwrap().text, "7.65e-5");
        assert_eq!(facts.get(&["b", ""]).map(|fact| (fact.table.as_str(), fact.value)), Some(("text", 3.0)));
        assert!(facts.get(&["b"]).is_none() && facts.len() == 2 && !facts.is_empty());
        for twice_or_short in ["t,p,k,v\n1,A,x,1\n2,B,x,1", "t,p,k,v\n1,A,1", "t,p,k,v\n\n"] {
            assert!(Facts::parse(twice_or_short).is_err(), "{twice_or_short}");
        }
    }
}
