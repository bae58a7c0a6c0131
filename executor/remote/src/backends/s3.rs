//! S3, and servers that speak its protocol: `s3://bucket/prefix`.

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use super::aws_profile::Profile;
use super::bucket::Bucket;
use super::{
    Backend, OpenedRemote, client_options, connector, environment, http, is_http, machine_has_no_credentials,
    misconfigured, retries,
};
use crate::error::RemoteError;
use cwm_project::site::{InvalidRemote, Remote};

/// A bucket of S3.
pub struct S3;

impl Backend for S3 {
    fn schemes(&self) -> &'static [&'static str] {
        &["s3"]
    }

    fn option_keys(&self) -> &'static [&'static str] {
        &["endpoint", "region"]
    }

    fn check(&self, remote: &Remote, rest: &str) -> Result<(), InvalidRemote> {
        Bucket::parse(rest)?;
        let Some(endpoint) = remote.options.get("endpoint") else { return Ok(()) };
        let server = endpoint.strip_prefix("https://").or_else(|| endpoint.strip_prefix("http://"));
        match server.is_some_and(|server| http::Http.check(remote, server).is_ok()) {
            true => Ok(()),
            false => Err(InvalidRemote {
                key: "endpoint",
                message: "`endpoint` must be an http:// or https:// URL".to_owned(),
                hint: Some("such as \"https://minio.example.org\", without credentials".to_owned()),
            }),
        }
    }

    /// The environment comes first, then cwm.toml, then the files of the profile.
    fn open(&self, remote: &Remote, rest: &str) -> Result<OpenedRemote, RemoteError> {
        use AmazonS3ConfigKey::{AccessKeyId, Endpoint, Region, SkipSignature};
        let bucket = Bucket::checked(rest);
        let mut builder = AmazonS3Builder::new();
        for variable in environment::variables("AWS_", |key| key.parse::<AmazonS3ConfigKey>().is_ok())? {
            if let Ok(key) = variable.name.to_ascii_lowercase().parse() {
                builder = builder.with_config(key, variable.value);
            }
        }
        builder =
            builder.with_bucket_name(bucket.name).with_http_connector(connector(remote)).with_retry(retries(remote));
        let profile = Profile::read()?;
        let lacks =
            |builder: &AmazonS3Builder, key| builder.get_config_value(&key).is_none_or(|value| value.is_empty());
        let by_token = [
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        ];
        let by_profile = lacks(&builder, AccessKeyId) && !by_token.iter().any(|name| std::env::var_os(name).is_some());
        if by_profile
            && let (Some(id), Some(secret)) = (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key"))
        {
            builder = builder.with_access_key_id(id).with_secret_access_key(secret);
            if let Some(token) = profile.get("aws_session_token") {
                builder = builder.with_token(token);
            }
        }
        let option = |key: &str| remote.options.get(key).map(String::as_str);
        if lacks(&builder, Region)
            && let Some(region) = option("region").or(profile.get("region"))
        {
            builder = builder.with_region(environment::checked("the region of cwm.toml or the profile", region)?);
        }
        if lacks(&builder, Endpoint)
            && let Some(endpoint) = option("endpoint").or(profile.get("endpoint_url"))
        {
            builder = builder.with_endpoint(environment::checked("the endpoint of cwm.toml or the profile", endpoint)?);
        }
        let is_unsigned = builder.get_config_value(&SkipSignature).is_some_and(|value| value == "true" || value == "1");
        if by_profile && lacks(&builder, AccessKeyId) && !is_unsigned {
            profile.require_found()?;
        }
        let allow_http = is_http(builder.get_config_value(&Endpoint));
        let store = builder.with_client_options(client_options(remote, allow_http)).build().map_err(misconfigured)?;
        Ok(OpenedRemote::bucket(store, bucket.prefix))
    }

    fn classify_error(&self, error: &object_store::Error) -> Option<RemoteError> {
        let object_store::Error::Generic { .. } = error else { return None };
        let advice = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into ~/.aws/credentials \
                      (AWS_SKIP_SIGNATURE=true asks a public bucket without any)";
        machine_has_no_credentials(error).then_some(RemoteError::NoCredentials(advice))
    }
}
