//! Google Cloud Storage: `gs://bucket/prefix`.

use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};

use super::{Backend, Location, bucket, connect, environment};
use crate::error::Result;
use cwm_project::config::Remote;

/// Buckets of Google Cloud Storage.
pub static GCS: Backend = Backend {
    schemes: &["gs"],
    url_form: "gs://BUCKET/PREFIX",
    option_keys: &[],
    is_read_only: false,
    credentials_advice: Some(
        "run `gcloud auth application-default login`, or let GOOGLE_APPLICATION_CREDENTIALS name a key file",
    ),
    check: |_, rest| bucket::check(rest),
    open,
};

/// The file below the home folder in which `gcloud` keeps credentials.
const GCLOUD_CREDENTIALS: &str = ".config/gcloud/application_default_credentials.json";

fn open(remote: &Remote, rest: &str) -> Result<Location> {
    let (bucket, prefix) = bucket::split(rest);
    let is_ours = |name: &str| name.starts_with("GOOGLE_") || name == "SERVICE_ACCOUNT";
    let settings = environment::settings::<GoogleConfigKey>(is_ours)?;
    let mut sources = environment::sources(&settings);
    if settings.is_empty() {
        sources += &format!(", ~/{GCLOUD_CREDENTIALS}");
    }
    let builder = GoogleCloudStorageBuilder::new().with_bucket_name(bucket);
    // A name with Google's prefix comes before the one without.
    let builder = settings.into_iter().rev().fold(builder, |builder, set| builder.with_config(set.key, set.value));
    Ok(Location::bucket(connect!(builder, remote, GCS, sources), prefix))
}
