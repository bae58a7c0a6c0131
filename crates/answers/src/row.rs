//! Declares a type of rows once: its fields are its columns, in their order.

/// `row! { NAME, "a format", "cwm.key", DESCRIPTION { field: type, … } }`: a struct of public fields that is a [`cwm_table::Row`].
macro_rules! row {
    (
        $(#[$about:meta])*
        $name:ident, $format:literal, $key:literal, $description:ty {
            $($(#[$doc:meta])* $field:ident: $kind:ty,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)+
        }

        impl cwm_table::Row for $name {
            type Description = $description;

            const FORMAT: &'static str = $format;
            const KEY: &'static str = $key;

            fn schema() -> arrow_schema::SchemaRef {
                let fields = vec![$(<$kind as $crate::cell::Cell>::field(stringify!($field)),)+];
                std::sync::Arc::new(arrow_schema::Schema::new(fields))
            }

            fn text_bytes(&self) -> usize {
                [$(<$kind as $crate::cell::Cell>::text_bytes(&self.$field),)+].iter().sum()
            }

            fn columns(rows: &[Self]) -> Vec<arrow_array::ArrayRef> {
                vec![$(<$kind as $crate::cell::Cell>::column(rows.iter().map(|row| &row.$field)),)+]
            }

            fn rows(batch: &arrow_array::RecordBatch, _before: u64) -> Result<Vec<Self>, String> {
                let column = |name| batch.column_by_name(name).ok_or_else(|| format!("it has no column `{name}`"));
                $(let $field = column(stringify!($field))?;)+
                let row = |row| $name { $($field: <$kind as $crate::cell::Cell>::value($field, row),)+ };
                Ok((0..batch.num_rows()).map(row).collect())
            }
        }
    };
}

pub(crate) use row;
