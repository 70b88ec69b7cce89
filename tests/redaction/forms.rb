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
    "Content-Disposition: form-data; name=\"password\"\r\n\r\n%s\r\n--x", "CREATE USER bob IDENTIFIED BY '%s'", "ALTER ROLE bob PASSWORD '%s'"
  ].freeze

  # By themselves: what is before the secret, and how many characters it has.
  VENDORS = {
    "ASIA" => 16, "gho_" => 36, "ghs_" => 36, "github_pat_" => 60, "glpat-" => 20, "glrt-" => 20, "xoxp-" => 30, "xapp-" => 30, "rk_live_" => 24,
    "whsec_" => 32, "sk-ant-" => 40, "npm_" => 36, "rubygems_" => 48, "dop_v1_" => 64, "hvs." => 24, "hvb." => 40, "shpat_" => 32, "shpss_" => 32,
    "sq0atp-" => 22, "pypi-" => 60, "dapi" => 32, "hf_" => 34, "gsk_" => 40, "ya29." => 40, "GOCSPX-" => 28, "ATATT3" => 40, "NRAK-" => 27, "PMAK-" => 40,
    "lin_api_" => 40, "figd_" => 40, "glsa_" => 40, "tskey-" => 24, "dckr_pat_" => 27, "bkua_" => 40, "sbp_" => 40, "xkeysib-" => 64, "key-" => 32,
    "SK" => 32, "AGE-SECRET-KEY-1" => 58, "$2a$12$" => 53, "$argon2id$v=19$" => 60, "AIza" => 35, "SG." => 60
  }.freeze

  # No secrets, though they look alike.
  HARMLESS = ["cache_key=views/1", "primary_key: id", "token_count: 12", "tokenizer: words", "unexpected token 'end'", "passenger=bob", "author: bob", "keyword: rest",
              "lesson: 12", "footprint=12", "password_field: visible", "certificate_path=/etc/ssl", "#<Token:0x1>"].freeze

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
