import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/**
 * DTLS certificate and key of the node in PEM. Peers verify the certificate by the fingerprint in the node's answer.
 */
export interface DtlsCertificate {
  certificate: string
  key: string
}

/** Tags of DER (ITU-T X.690, section 8). */
const tags = { integer: 0x02, bits: 0x03, text: 0x0c, sequence: 0x30, set: 0x31, utcTime: 0x17, time: 0x18 } as const
const version = 0xa0

/** Complete DER object identifiers: ecdsa-with-SHA256 (RFC 5758, section 3.2), commonName (RFC 5280, appendix A.1). */
const ecdsaWithSha256 = Buffer.from('06082a8648ce3d040302', 'hex')
const commonName = Buffer.from('0603550403', 'hex')
/**
 * Expiry time of a certificate that never expires (RFC 5280, section 4.1.2.5). The process uses one certificate for its
 * lifetime.
 */
const endless = '99991231235959Z'
/** Time from the start of validity to now, in milliseconds, for peers whose clock is behind. */
const earlierMs = 24 * 60 * 60_000

/**
 * Makes a self-signed certificate with a P-256 key (RFC 8827, section 6.5) for all connections of a process. The
 * library would make a certificate per connection on its handshake threads and block the event loop, for seconds with
 * hundreds of clients at once. The encoder is written here because a package for X.509 certificates takes longer to
 * load than the whole node.
 */
export function makeDtlsCertificate(now = Date.now()): DtlsCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(tags.sequence, ecdsaWithSha256)
  const name = der(
    tags.sequence,
    der(tags.set, der(tags.sequence, commonName, der(tags.text, Buffer.from('roomdesk')))),
  )
  const begin = new Date(now - earlierMs).toISOString().slice(2, 19).replace(/[-T:]/g, '')
  const validity = der(tags.sequence, der(tags.utcTime, Buffer.from(`${begin}Z`)), der(tags.time, Buffer.from(endless)))
  const serial = randomBytes(16)
  // The serial number must be positive, without leading zeros.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  const content = der(
    tags.sequence,
    der(version, der(tags.integer, Buffer.from([2]))),
    der(tags.integer, serial),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = der(tags.bits, Buffer.from([0]), sign('sha256', content, privateKey))
  return {
    certificate: pem(der(tags.sequence, content, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Encodes one DER element with at most 65,535 bytes of content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const head =
    length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(head), content])
}

function pem(content: Buffer): string {
  const lines = content.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}
