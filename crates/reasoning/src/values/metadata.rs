//! Values as an item has them in its metadata.

use serde_json::Value;

use super::Values;

impl Values {
    /// The values of an item: an object with a number for each of the `legal` moves. The order is that of the moves' texts.
    ///
    /// # Errors
    ///
    /// It is no such object; those of [`Values::new`].
    pub(crate) fn of_json(values: &Value, legal: &[String]) -> Result<Values, String> {
        let values = values.as_object().ok_or("its `values` are no object of moves and win probabilities")?;
        let number = |(uci, win): (&String, &Value)| {
            let win = win.as_f64().ok_or_else(|| format!("the value {win} of {uci} is no number"))?;
            Ok((uci.clone(), win))
        };
        let values = Values::new(values.iter().map(number).collect::<Result<_, String>>()?)?;
        if let Some(missing) = legal.iter().find(|uci| values.place(uci).is_none()) {
            return Err(format!("its `values` lack the legal move {missing}"));
        }
        if let Some((illegal, _)) = values.iter().find(|(uci, _)| !legal.iter().any(|legal| legal == uci)) {
            return Err(format!("its `values` have {illegal}, which is not legal"));
        }
        Ok(values)
    }

    /// The values as an item has them.
    pub(crate) fn to_json(&self) -> Value {
        Value::Object(self.iter().map(|(uci, win)| (uci.to_owned(), win.into())).collect())
    }
}
