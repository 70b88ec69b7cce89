# SPDX-License-Identifier: MIT
# A program that has objects of many extensions, which refer to others in all ways that their classes know. It prints
# what ObjectSpace.dump says that they refer to, and dies. A type that this Ruby does not have is left out.
require "json"
require "objspace"

$kept = []
TIMES = 3

def try(*libraries)
  libraries.each { |library| require library }
  TIMES.times { $kept.concat([*yield]) }
rescue LoadError, NotImplementedError, StandardError => error
  $stderr.puts "#{libraries.join(" ")}: #{error.class}: #{error.message.lines.first}"
end

# Each of them is alone in the heap, and differs from all others.
def text(name)
  "text of #{name} #{"." * 40} #{$kept.size}".dup
end

try("stringio") { [StringIO.new(text("io")), StringIO.new, StringIO.new(text("frozen").freeze)] }
try("strscan") { [StringScanner.new(text("scanner")).tap { |scanner| scanner.scan(/(?<first>t)e/) }] }
try("zlib") do
  deflate = Zlib::Deflate.new.tap { |stream| stream << text("zlib") * 500 }
  inflate = Zlib::Inflate.new.tap { |stream| stream << Zlib.deflate(text("zlib"))[0, 20] }
  inflate.set_dictionary(text("dictionary")) rescue nil
  writer = Zlib::GzipWriter.new(StringIO.new(+"")).tap { |gzip| gzip.orig_name = text("name"); gzip.comment = text("comment"); gzip << text("gzip") }
  packed = StringIO.new.tap { |io| Zlib::GzipWriter.new(io).tap { |gzip| gzip << text("gzip") * 90 }.finish }
  packed.rewind
  [deflate, inflate, writer, Zlib::GzipReader.new(packed).tap { |gzip| gzip.read(10); gzip.ungetc("x") }]
end
try("psych") do
  parser = Psych::Parser.new(Psych::TreeBuilder.new).tap { |psych| psych.parse("{a: [1, 2]}") }
  emitter = Psych::Emitter.new(StringIO.new).tap { |psych| psych.start_stream(Psych::Nodes::Stream::UTF8) }
  [parser, emitter, Psych::Visitors::ToRuby.create, Psych::Visitors::YAMLTree.create]
end
try("date") { [Date.new(2001, 2, 3), DateTime.new(2001, 2, 3, 4, 5, 6 + Rational(1, 3)), Date.new(10**30, 1, 1)] }
try("bigdecimal") { [BigDecimal("1." + "3" * 60), BigDecimal("NaN")] }
try("digest") { [Digest::MD5.new, Digest::SHA1.new, Digest::SHA256.new, Digest::SHA512.new, Digest::RMD160.new].each { |digest| digest << "abc" } }
try("json") { [JSON::Ext::Generator::State.new(indent: text("indent"), space: text("space"), object_nl: text("nl"), array_nl: text("nl2"))] }
try("json") { [JSON::Ext::Parser.new(text("source").to_json, object_class: Class.new(Hash), array_class: Class.new(Array))] }
try("json") { [JSON::Coder.new { |object| object.to_s }] }
try("ripper") do
  [Ripper.new(text("ripper"), text("file")).tap(&:parse), Ripper::SexpBuilder.new("a = b + 'c'", text("file")).tap(&:parse),
   Ripper::Lexer.new("a = 1").tap(&:lex), Ripper::Filter.new("x").tap { |filter| filter.parse(nil) }]
end
try("socket") do
  [Addrinfo.tcp("127.0.0.1", 80), Addrinfo.unix("/tmp/#{"a" * 20}"), Socket::Option.int(:INET, :SOCKET, :KEEPALIVE, 1),
   *Socket.getifaddrs.first(2), Addrinfo.tcp("127.0.0.1", 80).tap { |info| info.canonname }]
end
try("fiddle", "fiddle/import") do
  library = Fiddle::Handle::DEFAULT
  pointer = Fiddle::Pointer.malloc(64, Fiddle::RUBY_FREE)
  closure = Class.new(Fiddle::Closure) { def call(number) number end }.new(Fiddle::TYPE_INT, [Fiddle::TYPE_INT])
  [pointer, Fiddle::Pointer[text("fiddle")], Fiddle::Function.new(library["abs"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT), closure,
   Fiddle::Handle.new(nil), pointer + 8]
end
try("fiddle") { [Fiddle::Pinned.new(text("pinned"))] }
try("monitor") { [Monitor.new.tap(&:enter)] }
try("weakref") { [ObjectSpace::WeakMap.new.tap { |map| map[$kept] = $kept }] }
try { [ObjectSpace::WeakKeyMap.new.tap { |map| map[$kept] = $kept }] }
try("racc/parser", "racc/cparse") { [Racc::Parser.new.tap { |parser| parser.do_parse rescue nil }] }
try("sdbm") { [SDBM.new("sdbm")] }
try("enumerator") { [[1].lazy.map { |x| x }, (1..3).each_slice(2), Enumerator::Chain.new([1], [2]), [3].each.tap(&:next)] }
try("thread") { [Thread::Queue.new.tap { |queue| queue << text("queue") }, Thread::SizedQueue.new(2), Thread::Mutex.new, Thread::ConditionVariable.new] }
try { [Random.new(3), IO::Buffer.for(text("buffer")), IO::Buffer.for(text("slice")).slice(2, 3)] }
try { [proc { $kept }, method(:puts), binding, TracePoint.new(:call) { }, Fiber.new { }, Thread.new { sleep }, String.instance_method(:to_s)] }
try("objspace") { [ObjectSpace.reachable_objects_from(Class.new).grep(ObjectSpace::InternalObjectWrapper)].flatten.first(2) }
try("openssl") do
  key = OpenSSL::PKey::RSA.new(2048)
  group = OpenSSL::PKey::EC::Group.new("prime256v1")
  ec = OpenSSL::PKey::EC.generate("prime256v1")
  name = OpenSSL::X509::Name.parse("/CN=a/O=b")
  certificate = OpenSSL::X509::Certificate.new
  certificate.version, certificate.serial, certificate.subject, certificate.issuer = 2, 1, name, name
  certificate.not_before, certificate.not_after, certificate.public_key = Time.now, Time.now + 100, key.public_key
  extension = OpenSSL::X509::ExtensionFactory.new(certificate, certificate)
  certificate.add_extension(extension.create_extension("basicConstraints", "CA:TRUE", true))
  certificate.sign(key, OpenSSL::Digest.new("SHA256"))
  store = OpenSSL::X509::Store.new.tap { |made| made.add_cert(certificate); made.verify_callback = proc { true } }
  request = OpenSSL::X509::Request.new.tap { |made| made.subject = name; made.public_key = key.public_key }
  revoked = OpenSSL::X509::Revoked.new.tap { |made| made.serial = 3; made.time = Time.now }
  crl = OpenSSL::X509::CRL.new.tap { |made| made.issuer = name; made.add_revoked(revoked) }
  context = OpenSSL::SSL::SSLContext.new
  context.cert, context.key, context.cert_store = certificate, key, store
  context.verify_callback = proc { true }
  context.servername_cb = proc { nil }
  pair = Socket.pair(:UNIX, :STREAM)
  ssl = OpenSSL::SSL::SSLSocket.new(pair[0], context).tap { |made| made.hostname = text("host"); made.sync_close = true }
  id = OpenSSL::OCSP::CertificateId.new(certificate, certificate)
  ocsp = OpenSSL::OCSP::Request.new.tap { |made| made.add_certid(id) }
  basic = OpenSSL::OCSP::BasicResponse.new
  request.add_attribute(OpenSSL::X509::Attribute.new("extReq", OpenSSL::ASN1::Set([OpenSSL::ASN1::Sequence([])])))
  [key, group, ec, group.generator, ec.public_key, name, certificate, extension, *certificate.extensions, store,
   OpenSSL::X509::StoreContext.new(store, certificate, [certificate]), request, revoked, crl, context, ssl, id, ocsp, basic,
   OpenSSL::OCSP::Response.create(1, nil), OpenSSL::BN.new(7), OpenSSL::Cipher.new("aes-128-cbc"), OpenSSL::Digest.new("SHA256"),
   OpenSSL::HMAC.new("key", OpenSSL::Digest.new("SHA1")), OpenSSL::PKCS7.new, *request.attributes,
   OpenSSL::PKCS12.create("a", "b", key, certificate), OpenSSL::Netscape::SPKI.new, OpenSSL::PKey::DH.new, OpenSSL::PKey::DSA.new].tap { $pair = pair }
end
try("openssl") { [OpenSSL::Timestamp::Request.new, OpenSSL::Timestamp::Factory.new] }

GC.start
GC.disable
trap("QUIT", "SYSTEM_DEFAULT")
# All T_DATA of the heap, not just those above. to_a comes first, because 2.7 would also yield what the block creates.
facts = ObjectSpace.each_object.to_a.map { |object| ObjectSpace.dump(object) }.grep(/"type":"DATA"/).map do |line|
  JSON.parse(line).values_at("address", "struct", "references")
end
puts JSON.generate("objects" => facts)
$stdout.flush
Process.kill(:QUIT, $$)
sleep
