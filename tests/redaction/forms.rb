# SPDX-License-Identifier: MIT

# A hundred ways in which a secret is written. In a text, %s stands for the secret.
module Forms
  # Under a key.
  KEYED = [
    "password=%s", "password: %s", "PASSWORD = %s", "db.password=%s", "spring.datasource.password: %s", "passwd=%s;", "DB_PASS=%s",
    "userPassword: '%s'", "password1=%s", "encrypted_password=%s", "bcrypt: %s", "salt: %s", "certificate: %s", "otp=%s", "totp: %s",
    "ssn: %s", "cvv: %s", "cvc2=%s", "license_key=%s", "hostKey: %s", "AccountKey=%s;EndpointSuffix=core", "authtoken=%s", "refreshToken=%s",
    "client_secret=%s", "mysecretvalue: %s", "auth: %s", "jwt=%s", "hmac: %s", "JSESSIONID=%s; Path=/", "PHPSESSID=%s", "sid=%s",
    "mnemonic: %s", "security_answer=%s", "credentials: %s", "csrf-token: %s", "X-Auth-Token: %s", "X-Api-Key: %s", "x-amz-security-token: %s",
    "api_keys: [%s]", "{\"token\":\"%s\"}", "{\"a\":{\"b\":{\"secret\":\"%s\"}}}", "{'pin': '%s'}", "{:password=>\"%s\"}", "{password: :\"%s\"}", "secret => %s",
    "\"{\\\"apiKey\\\":\\\"%s\\\"}\"", "login?password=%s&x=1", "user[password]=%s&user[name]=bob", "user%%5Bpassword%%5D=%s", "user%%5Bpin%%5D=%s&x=1",
    "/login?access_token=%s", "#/callback&id_token=%s", "Server=db;Uid=bob;Pwd=%s;", "jdbc:postgresql://db/x?user=bob&password=%s",
    "--password %s", "--password=%s", "mysqldump --user bob --password %s shop", "run --api-key '%s' now", "--client-secret \"%s\"",
    "<password>%s</password>", "<db:Password>%s</db:Password>", "<Token kind=\"a\">%s</Token>", "<add key='x' password='%s'/>",
    "[\"Authorization\", \"Token %s\"]", "[[\"Accept\", \"*/*\"], [\"X-Api-Key\", \"%s\"]]", "[:password, \"%s\"]", "['api_key', '%s']", "[\"HTTP_AUTHORIZATION\", \"%s\"]",
    "Authorization: Basic %s", "Authorization: ApiKey id %s", "Proxy-Authorization: Digest username=\"bob\", response=\"%s\"", "Authorization: Token token=\"%s\", id=1",
    "Authorization: AWS4-HMAC-SHA256 Credential=x, Signature=%s", "Cookie: a=1; b=%s", "Set-Cookie: s=%s; HttpOnly", "X-Forwarded-Authorization: %s",
    "{\"name\":\"DB_PASSWORD\",\"value\":\"%s\"}", "{\"name\": \"API_KEY\", \"value\": \"%s\"}",
    "Content-Disposition: form-data; name=\"password\"\r\n\r\n%s\r\n--x", "CREATE USER bob IDENTIFIED BY '%s'", "ALTER ROLE bob PASSWORD '%s'",
    "create user bob identified by '%s'", "alter role bob encrypted password '%s'", "CREATE USER bob IDENTIFIED BY \"%s\"",
    "UPDATE users SET api_token = '%s' WHERE id = 1", "SELECT 1 FROM users WHERE \"users\".\"reset_token\" = '%s' LIMIT 1", "SELECT 1 FROM `users` WHERE `users`.`otp` = '%s'",
    "WHERE token = $1 [[\"token\", \"%s\"], [\"LIMIT\", 1]]",
    "curl -H 'Authorization: Basic %s' x", "PGPASSWORD=%s psql shop", "export MYSQL_PWD=%s",
    "machine db.example.com login bob password %s", "dbpass=%s", "userpwd: %s", "storepass=%s", "pw=%s", "creds: '%s'", "userinfo: bob:%s", "recovery_code: %s",
    "verificationCode=%s", "backup_codes: [\"%s\"]", "card_no: %s", "privkey=%s", "seed_phrase: %s", "https://example.com/x?sv=1&sig=%s&se=2",
    "/x?X-Amz-Date=20261125&X-Amz-Signature=%s", "/x?Expires=1&Signature=%s&Key-Pair-Id=b", "{\"authorization\"=>[\"Token %s\"]}", "\"HTTP_COOKIE\"=>\"a=1; _shop_session=%s\"",
    "#<OpenStruct user=\"bob\", password=\"%s\">", "#<struct Login user=\"bob\", password=\"%s\">", "#<data Login user=\"bob\", secret=\"%s\">", "@password=\"%s\", @host=\"db\"",
    "[:user, \"bob\", :password, \"%s\"]", "WWW-Authenticate: Digest realm=\"x\", token=\"%s\"",
    "redis-cli --pass %s ping", "docker login --password=%s -u bob", "-Dspring.datasource.password=%s", "//registry.npmjs.org/:_authToken=%s", "client-key-data: %s",
    "password: |\n  %s", "PASSWORD := %s", "password:\t%s", "password=%%22%s%%22", "&amp;password=%s", "password&#61;%s",
    "kennwort=%s", "senha=%s", "passwort=%s", "mot_de_passe: %s", "psk=%s",
    "CREATE USER bob IDENTIFIED BY 'a b; %s'", "ALTER ROLE bob PASSWORD 'a\\b %s'", "ALTER ROLE bob PASSWORD 'Zürich %s'", "ALTER ROLE bob PASSWORD 'it''s %s'",
    "alter user bob identified with mysql_native_password by 'a b %s'", "IDENTIFIED WITH caching_sha2_password AS '%s'", "SET PASSWORD = PASSWORD('a b %s')",
    "Alter Role bob Password 'a %s'", "\"ALTER ROLE bob PASSWORD \\\"a b %s\\\"\"", "INSERT INTO x (password) VALUES (1) -- password=E'%s'", "password = N'%s'", "password = b'%s'",
    "auth is [\"Basic\", \"%s\"]", "auth is basic %s", "[\"Bearer\", \"%s\"]", "AUTH PLAIN %s", "password[]=%s", "password[0]=%s", "user%%5Bpassword%%5D%%3D%s",
    "%%7B%%22pin%%22%%3A%%22%s%%22%%7D", "password%%253D%s", "user%%255Bpin%%255D%%253D%s", "params[:password] = \"%s\"", "params['password'] => '%s'", "password ||= \"%s\"", "password == \"%s\"",
    "password != \"%s\"", "password -> %s", "password → %s", "\"password\"\t:\t\"%s\"", "password=\"\"\"%s\"\"\"", "password: !ruby/string %s", "password: !!str \"%s\"",
    "- name: DB_PASSWORD\n  value: %s", "<input type=\"password\" name=\"pw\" value=\"%s\">", "<meta name='csrf-token' content='%s'>", "SetEnv DB_PASSWORD %s", "ENV API_KEY %s", "export API_TOKEN %s",
    "machine x\nlogin bob\npassword %s", "requirepass %s", "('password', '%s')",
    "clave=%s", "wachtwoord: %s", "pass phrase: %s", "master.key: %s", "API key: %s", "[[\"Secret key\", \"%s\"]]", "Security code: %s", "seed phrase=%s"
  ].freeze

  # By themselves: what is before the secret, and how many characters it has.
  VENDORS = {
    "ASIA" => 16, "gho_" => 36, "ghs_" => 36, "github_pat_" => 60, "glpat-" => 20, "glrt-" => 20, "xoxp-" => 30, "xapp-" => 30, "rk_live_" => 24,
    "whsec_" => 32, "sk-ant-" => 40, "npm_" => 36, "rubygems_" => 48, "dop_v1_" => 64, "hvs." => 24, "hvb." => 40, "shpat_" => 32, "shpss_" => 32,
    "sq0atp-" => 22, "pypi-" => 60, "dapi" => 32, "hf_" => 34, "gsk_" => 40, "ya29." => 40, "GOCSPX-" => 28, "ATATT3" => 40, "NRAK-" => 27, "PMAK-" => 40,
    "lin_api_" => 40, "figd_" => 40, "glsa_" => 40, "tskey-" => 24, "dckr_pat_" => 27, "bkua_" => 40, "sbp_" => 40, "xkeysib-" => 64, "key-" => 32,
    "SK" => 32, "AGE-SECRET-KEY-1" => 58, "$2a$12$" => 53, "$argon2id$v=19$" => 60, "AIza" => 35, "SG." => 60,
    "ABIA" => 16, "ghu_" => 36, "ghr_" => 36, "glptt-" => 40, "glft-" => 20, "glcbt-" => 20, "glagent-" => 50, "glimt-" => 25, "GR1348941" => 20, "xoxa-" => 30, "xoxr-" => 30,
    "xoxs-" => 30, "xoxe-" => 30, "sk_test_" => 24, "rk_test_" => 24, "sk_prod_" => 24, "sk-proj-" => 60, "doo_v1_" => 64, "dor_v1_" => 64, "hvr." => 40, "shpca_" => 32, "shppa_" => 32,
    "sq0csp-" => 43, "EAAA" => 60, "r8_" => 37, "xai-" => 60, "pplx-" => 48, "nvapi-" => 60, "tvly-" => 32, "lsv2_pt_" => 40, "sgp_" => 40, "phx_" => 43, "rnd_" => 32, "re_" => 33,
    "CFPAT-" => 43, "ops_eyJ" => 60, "dp.pt." => 43, "dt0c01." => 60, "EZAK" => 54, "EZTK" => 54, "FLWSECK_TEST-" => 32, "FLWSECK-" => 32, "fio-u-" => 60, "AKCp" => 60, "LTAI" => 20,
    "aio_" => 28, "CLOJARS_" => 60, "duffel_test_" => 43, "duffel_live_" => 43, "ico-" => 32, "ntn_" => 46, "oy2" => 43, "sha256~" => 43, "access-sandbox-" => 36, "pscale_oauth_" => 43,
    "pscale_tkn_" => 43, "pnu_" => 36, "pul-" => 40, "rdme_" => 70, "tk-us-" => 48, "sm_pat_" => 40, "shippo_live_" => 40, "sntrys_" => 60, "sntryu_" => 64, "tfp_" => 59, "AQVN" => 38,
    "dckr_oat_" => 32, "vercel_blob_rw_" => 40, "NRII-" => 32, "NRAA-" => 27, "patA" => 80, "1//0g" => 40, "fo1_" => 43, "fm2_" => 60, "glc_" => 60, "nfp_" => 36, "HRKU-" => 36,
    "$apr1$" => 31, "$1$" => 31, "$5$" => 52, "$6$" => 95, "$y$" => 65, "$scrypt$" => 60, "$pbkdf2-sha256$" => 60, "pbkdf2_sha256$" => 60, "{SSHA}" => 32, "{SHA}" => 28, "$A$005$" => 63, "discord.com/api/webhooks/1/" => 68, "api.telegram.org/bot1:" => 35, "{PBKDF2}" => 40,
    "$2b$12$" => 22
  }.freeze

  # Texts that look like secrets, but are not.
  HARMLESS = ["cache_key=views/1", "primary_key: id", "token_count: 12", "tokenizer: words", "unexpected token 'end'", "passenger=bob", "author: bob", "keyword: rest",
              "lesson: 12", "footprint=12", "password_field: visible", "certificate_path=/etc/ssl", "#<Token:0x1>",
              "monkey=george", "turnkey: solution", "compass=north", "bypassed=caches", "passing: tests", "wrong key: bob", "sort.key: name", "exit code: 12", "sig=SIGSEGV", "clavel: rojo", "sidebar=left", "pinned: first", "sided: double", "authored=bob",
              "Basic authentication is not enough", "Basic Auth", "Basic Authentication", "a bearer certificate for bob", "invalid password for bob", "the token is expired", "Passwords do not match",
              "FATAL: password authentication failed for user bob", "Started GET users/12?page=2&sort=name for 192.0.2.1 at 2026-11-25 10:00:00 +0000",
              "Completed 200 OK in 12ms (Views: 8.1ms | ActiveRecord: 1.2ms | Allocations: 1234)", "SELECT users.* FROM users WHERE users.id = 12 LIMIT 1",
              "undefined method name for nil:NilClass", "app/models/user.rb:12:in full_name", "assets/application-1a2b3c4d.js", "2001:db8::1", "tel +49 30 1234567",
              "http://example.com:8080/shop/items?q=shoes", "order 20261125-0001 shipped", "SKU-12345-XL", "key not found: name", "Content-Type: text/html; charset=utf-8",
              "ActionController::InvalidAuthenticityToken", "class=btn-primary", "risk-assessment-of-the-quarterly-report-for-users", "skip-navigation-and-continue-to-content",
              "re_render_the_page_with_all_partials", "task-us-east-1-production", "oy2 is short", "data-turbo-track=reload", "$1 and $5 a month", "sha256~", "pulsar", "ico-small",
              "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"].freeze

  # Name => [text, secret].
  def self.planted
    keyed = KEYED.map { |form| [form, [format(form, secret = word), secret]] }
    vendors = VENDORS.map { |prefix, size| [prefix, ["id #{secret = prefix + random(size)}.", secret]] }
    (keyed + vendors).to_h
  end

  def self.word
    "#{random(4, ("a".."z").to_a)}-#{random(5)}#{rand(1000..9999)}"
  end

  def self.random(size, letters = [*"a".."z", *"A".."Z", *"0".."9"])
    Array.new(size) { letters.sample }.join
  end
end
