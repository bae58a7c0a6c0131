//! S3, and servers with its protocol: `s3://bucket/prefix`.

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use super::{Backend, Location, OptionKey, aws_profile, bucket, connect, environment, http};
use crate::error::Result;
use cwm_project::config::{InvalidRemote, Remote};

/// Buckets of S3.
pub static S3: Backend = Backend {
    schemes: &["s3"],
    url_form: "s3://BUCKET/PREFIX",
    option_keys: &[
        OptionKey { name: "endpoint", value_name: "URL", help: "The server of an s3:// remote that is not Amazon's" },
        OptionKey { name: "region", value_name: "NAME", help: "The region of an s3:// remote" },
    ],
    is_read_only: false,
    credentials_advice: Some(
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into ~/.aws/credentials \
         (AWS_SKIP_SIGNATURE=true reads a public bucket without any)",
    ),
    check,
    open,
};

fn check(remote: &Remote, rest: &str) -> Result<(), InvalidRemote> {
    bucket::check(rest)?;
    let Some(endpoint) = remote.options.get("endpoint") else { return Ok(()) };
    let server = endpoint.strip_prefix("https://").or_else(|| endpoint.strip_prefix("http://"));
    match server.is_some_and(|server| http::check(remote, server).is_ok()) {
        true => Ok(()),
        false => Err(InvalidRemote {
            key: "endpoint",
            message: "`endpoint` must be an http:// or https:// URL".to_owned(),
            hint: Some("such as \"https://minio.example.org\", without credentials".to_owned()),
        }),
    }
}

/// The environment comes first, then cwm.toml, then the files of the profile.
fn open(remote: &Remote, rest: &str) -> Result<Location> {
    let (bucket, prefix) = bucket::split(rest);
    let settings = environment::settings::<AmazonS3ConfigKey>(|name| name.starts_with("AWS_"))?;
    let sources = environment::sources(&settings);
    let mut values = aws_profile::read()?;
    // Credentials of the environment and of the profile are not mixed.
    let credentials = ["AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_"];
    if settings.iter().any(|set| credentials.iter().any(|name| set.variable.starts_with(name))) {
        values.retain(|name, _| !name.starts_with("aws_"));
    }
    values.extend(remote.options.clone());
    let mut builder = AmazonS3Builder::new().with_bucket_name(bucket);
    for name in
        ["aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region", "endpoint_url", "endpoint"]
    {
        if let (Some(value), Ok(key)) = (values.get(name).filter(|value| !value.is_empty()), name.parse()) {
            let value = environment::check_value(&format!("`{name}` of cwm.toml or the profile"), value)?;
            builder = builder.with_config(key, value);
        }
    }
    let builder = settings.into_iter().fold(builder, |builder, set| builder.with_config(set.key, set.value));
    Ok(Location::bucket(connect!(builder, remote, S3, sources), prefix))
}
