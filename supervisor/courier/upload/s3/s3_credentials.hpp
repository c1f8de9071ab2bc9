// The keys of an S3 server.
//
// A file as AWS's tools have it ("[default]", aws_access_key_id = …, aws_secret_access_key = …,
// aws_session_token = …), or the two keys alone, a line each or on one line.
#pragma once

#include <string>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/s3/s3_signature.hpp"

namespace trainward::upload::s3 {

// `file` empty: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Kind permanent,
// with what to do.
Result<Keys> read_keys(const std::string& file);

}  // namespace trainward::upload::s3
